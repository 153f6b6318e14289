"""Key files: made so that nobody else can read them, and read again.

In: paths, passphrases.  Out: keys.
Always: a secret key is written with mode 600 into a file that was not there before.
"""

from __future__ import annotations

import os
import stat

from smart_context.errors import IoError, KeyInvalid
from smart_context.frozen import minisign
from smart_context.frozen.minisign import PublicKey, SecretKey

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LARGEST = 64 * 1024
Path = str | os.PathLike[str]


def make(secret: Path, public: Path, *, passphrase: str = "", expires: str = "") -> PublicKey:
    """Make a key and write its two files; neither may exist. Raises: IoError."""
    key = minisign.new_secret_key(os.urandom(32), os.urandom(8), expires)
    text = minisign.secret_text(key, passphrase, os.urandom(32))
    _write(secret, text, 0o600)
    try:
        _write(public, minisign.public_text(key.public), 0o644)
    except IoError:
        os.unlink(secret)  # a secret key without its public half is useless
        raise
    return key.public


def public(path: Path) -> list[PublicKey]:
    """Read a public key, or every `*.pub` of a folder, sorted by name. Raises: IoError, KeyInvalid."""
    if os.path.isdir(path):
        try:
            names = sorted(name for name in os.listdir(path) if name.endswith(".pub"))
        except OSError as error:
            raise IoError(f"cannot list {os.fspath(path)}", reason=error.strerror) from error
        if not names:
            raise KeyInvalid(f"no key in {os.fspath(path)}", reason="none of its files ends in .pub")
        return [key for name in names for key in public(os.path.join(path, name))]
    with_name = _named(path)
    try:
        return [minisign.read_public(_read(path))]
    except KeyInvalid as error:
        raise KeyInvalid(f"cannot use the key {with_name}", reason=error.in_one_line) from error


def needs_passphrase(path: Path) -> bool:
    """Whether a secret key is encrypted. Raises: IoError, KeyInvalid."""
    try:
        return minisign.is_encrypted(_read(path))
    except KeyInvalid as error:
        raise KeyInvalid(f"cannot use the key {_named(path)}", reason=error.in_one_line) from error


def secret(path: Path, passphrase: str) -> SecretKey:
    """Read a secret key. Raises: IoError, KeyInvalid."""
    try:
        return minisign.read_secret(_read(path), passphrase)
    except KeyInvalid as error:
        raise KeyInvalid(f"cannot use the key {_named(path)}", reason=error.reason or error.message) from error


def is_open_to_others(path: Path) -> bool:
    """Whether others than its owner may read a file."""
    try:
        return bool(stat.S_IMODE(os.stat(path).st_mode) & 0o077)
    except OSError:
        return False


def _named(path: Path) -> str:
    return os.fspath(path)


def _write(path: Path, text: str, mode: int) -> None:
    try:
        with open(os.open(path, _NEW, mode), "wb") as file:
            try:
                os.fchmod(file.fileno(), mode)
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.unlink(path)  # half a key is useless, and would block the next attempt
                raise
    except OSError as error:
        raise IoError(f"cannot write the key {os.fspath(path)}", reason=error.strerror) from error


def _read(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise KeyInvalid("it is not a regular file")
            data = os.read(descriptor, _LARGEST)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise IoError(f"cannot read the key {os.fspath(path)}", reason=error.strerror) from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise KeyInvalid("it is not text") from error
