"""Sign a cache, and tell whether a signature fits it: over a list of the SHA-256 of every file, beside the manifest.

In: a cache directory and a key.  Out: `SHA256SUMS` as `sha256sum` writes it and `SHA256SUMS.minisig`, or what is wrong with them.
Always: a cache is verified before it is signed. A signature that fits means that every file of the cache is as it was signed and that no
file was added or lost.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from smart_context.access import confined
from smart_context.cache import folder, names, verify
from smart_context.cache.exact_json import string
from smart_context.errors import CacheInvalid, IoError, KeyInvalid
from smart_context.frozen import minisign

if TYPE_CHECKING:
    from smart_context.cache.folder import Folder
    from smart_context.cache.verify import Verified
    from smart_context.frozen.minisign import PublicKey, SecretKey, Signature
    from smart_context.model import OnProgress

SUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.minisig"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Signed(NamedTuple):
    """A cache whose signature fits."""

    verified: Verified
    signature: Signature


def cache(
    path: str | os.PathLike[str],
    key: SecretKey,
    *,
    now: str,
    timestamp: int,
    force: bool = False,
    on_progress: OnProgress | None = None,
) -> Verified:
    """Sign a cache; `force` replaces an old signature. `now` is an RFC 3339 time in UTC, and `timestamp` the same in seconds.

    Raises: CacheMissing, CacheInvalid, KeyInvalid, IoError.
    """
    _refuse_expired(key.public.expires, now, key.public.name)
    verified = verify.cache(path, on_progress=on_progress)

    def sign(opened: Folder) -> None:
        if not force and any(os.path.lexists(os.path.join(opened.cache, name)) for name in (SUMS, SIGNATURE)):
            raise IoError(f"cache {opened.cache} is signed already", hint="--force signs it anew")
        listed = sums(opened)
        expires = f"\texpires:{key.public.expires}" if key.public.expires else ""
        comment = f"timestamp:{timestamp}\tfile:{SUMS}\thashed\tcache:{verified.cache_version}{expires}"
        _put(opened, SUMS, listed)
        _put(opened, SIGNATURE, minisign.sign(key, listed, comment).encode())

    folder.read(path, sign)
    return verified


def check(
    path: str | os.PathLike[str], keys: list[PublicKey], *, now: str, on_progress: OnProgress | None = None
) -> Signed:
    """Verify a cache and its signature by one of the keys. Raises: CacheMissing, CacheInvalid, IoError."""
    verified = verify.cache(path, on_progress=on_progress)
    return folder.read(path, lambda opened: Signed(verified, _checked(opened, keys, now)))


def to_json(signed: Signed) -> bytes:
    """Return what `context verify --key` prints."""
    verified, signature = signed
    return (
        f'{{"cache_version":{string(verified.cache_version)},"document_count":{verified.document_count},"valid":true'
        f',"key":{string(signature.key.name)},"comment":{string(signature.comment)}}}\n'
    ).encode()


def sums(opened: Folder) -> bytes:
    """Return the list of all files of a cache but its signature, sorted by path. Raises: CacheInvalid, IoError."""
    lines = []
    for path, digest in sorted(_digests(opened)):
        escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        lines.append(f"{'' if escaped == path else chr(92)}{digest}  {escaped}\n")
    return "".join(lines).encode()


def signature_of(opened: Folder) -> bytes:
    """Return the text of a cache's signature. Raises: CacheInvalid where there is none, IoError."""
    return _member(opened, SIGNATURE)


def _checked(opened: Folder, keys: list[PublicKey], now: str) -> Signature:
    listed, text = _member(opened, SUMS), _member(opened, SIGNATURE)
    try:
        found = minisign.check(text.decode(), listed, keys)
        for expires in (found.key.expires, minisign.expiry_in(found.comment)):
            _refuse_expired(expires, now, found.key.name)
    except UnicodeDecodeError as error:
        raise CacheInvalid(opened.cache, SIGNATURE, "it is not text") from error
    except KeyInvalid as error:
        raise CacheInvalid(opened.cache, SIGNATURE, error.in_one_line) from error
    actual = sums(opened)
    if listed != actual:
        raise CacheInvalid(opened.cache, *_first_difference(listed, actual))
    return found


def _refuse_expired(expires: str, now: str, name: str) -> None:
    if expires and expires <= now:
        raise KeyInvalid(f"the key {name} expired at {expires}")


def _first_difference(listed: bytes, actual: bytes) -> tuple[str, str]:
    was, found = _by_name(listed), _by_name(actual)
    for name in sorted(was.keys() | found.keys()):
        if name not in found:
            return name, "is signed, but missing"
        if name not in was:
            return name, "is not among the files that were signed"
        if was[name] != found[name]:
            return name, "is not as it was signed"
    return SUMS, "is not written as it was signed"


def _by_name(listed: bytes) -> dict[str, str]:
    lines = [line.partition("  ") for line in listed.decode(errors="replace").split("\n") if line]
    return {name: digest for digest, _, name in lines}


def _digests(opened: Folder) -> Iterator[tuple[str, str]]:
    try:
        for at, folders, files, holder in os.fwalk(".", dir_fd=opened.descriptor, follow_symlinks=False):
            for name in folders:
                if stat.S_ISLNK(os.lstat(name, dir_fd=holder).st_mode):
                    raise CacheInvalid(opened.cache, name, "is a link, and cannot be signed")
            for name in files:
                path = names.as_text(os.path.normpath(os.path.join(at, name)))
                if path in {SUMS, SIGNATURE}:
                    continue
                if not names.is_text(path):
                    raise CacheInvalid(opened.cache, ascii(path), "has a name that is not UTF-8, and cannot be signed")
                yield path, sha256(_bytes(opened, holder, name, path)).hexdigest()
    except OSError as error:
        raise IoError(f"cannot read cache {opened.cache}", reason=error.strerror) from error


def _member(opened: Folder, name: str) -> bytes:
    try:
        return _bytes(opened, opened.descriptor, name, name)
    except FileNotFoundError:
        raise CacheInvalid(opened.cache, name, "is missing: the cache is not signed") from None
    except OSError as error:
        raise IoError(f"cannot read {os.path.join(opened.cache, name)}", reason=error.strerror) from error


def _bytes(opened: Folder, holder: int, name: str, path: str) -> bytes:
    try:
        descriptor = confined.file(name, holder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise CacheInvalid(opened.cache, path, "is no regular file, and cannot be signed") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CacheInvalid(opened.cache, path, "is no regular file, and cannot be signed")
        return file.read()


def _put(opened: Folder, name: str, data: bytes) -> None:
    """Write a file beside the manifest in one step."""
    working = f".{name}.{os.getpid()}"
    try:
        with os.fdopen(os.open(working, _NEW, 0o644, dir_fd=opened.descriptor), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(working, name, src_dir_fd=opened.descriptor, dst_dir_fd=opened.descriptor)
        os.fsync(opened.descriptor)
    except OSError as error:
        with suppress(OSError):
            os.unlink(working, dir_fd=opened.descriptor)
        raise IoError(f"cannot write {os.path.join(opened.cache, name)}", reason=error.strerror) from error
