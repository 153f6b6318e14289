"""Tokens: who has which name, which folders each may see, and until when.

In: a token as it came with a request.  Out: the `Caller` it stands for.
Always: only hashes are kept, in a file for its owner alone; a change to that file counts from the next request on.

The server's own token is in a file of its own: anybody who can read that file is the owner.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from smart_context import flock, regular
from smart_context.errors import ConfigError, ContextError, IoError, NotFound, UsageError
from smart_context.model import OWNER, Caller

OWN_FILE = "http-token"
FILE = "tokens.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_PREFIX = "sct_"  # lets scanners for leaked secrets know one
_LEAST = 16  # characters of a token that somebody chose
_MOST_BYTES = 16 * 1024 * 1024
_FRESH = 1.0  # seconds between two looks at shared tokens

Now = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token. roots: None for all. made, ends: UTC, RFC 3339; ends "" for never."""

    name: str
    sha256: str
    roots: tuple[str, ...] | None
    is_admin: bool
    made: str
    ends: str = ""

    def has_ended(self, now: datetime) -> bool:
        """Whether its time is over."""
        return bool(self.ends) and now >= datetime.fromisoformat(self.ends)


class ClaimRule(NamedTuple):
    """A claim of an issuer's token (`groups=sales`), and the folder that it grants; "" for every root."""

    claim: str
    folder: str


class TokenStore(Protocol):
    """A token store that several machines share."""

    def all(self) -> list[Token]:
        """Every token, by name."""

    def add(self, token: Token) -> bool:
        """Keep a token; False where its name is taken."""

    def remove(self, name: str) -> bool:
        """End a token; False where there is none of that name."""

    def rules(self) -> list[ClaimRule]:
        """The claim rules, in order."""

    def keep_rules(self, rules: Iterable[ClaimRule]) -> bool:
        """Keep these in place of those that are there; whether anything changed."""

    def ticket(self, claims: Iterable[str], ends: float) -> str | None:
        """A ticket by which a shared record knows the caller of an issuer's token until a time; "" where none is needed, None where no rule names the caller."""


def add(
    data_dir: Path,
    name: str,
    roots: tuple[str, ...] | None,
    *,
    is_admin: bool,
    made: str,
    ends: str,
    shared: TokenStore | None = None,
) -> str:
    """Store a new token under a name, in the data directory or the shared store; return the token, which is not stored itself.

    Raises: UsageError for a name that cannot be or is taken; IoError, ConfigError when the file cannot be used.
    """
    if not _NAME.fullmatch(name) or name == OWNER.name:
        raise UsageError(f"{name!r} cannot be the name of a token", hint="take letters, digits, and any of . _ @ -")
    given = _PREFIX + secrets.token_urlsafe(32)
    made_token = Token(name, _digest(given.encode()), roots, is_admin, made, ends)
    taken = UsageError(f"there is a token named {name}", hint=f"end it first: context token revoke {name}")
    if shared is not None:
        if not shared.add(made_token):
            raise taken
        return given
    with _Changing(data_dir) as kept:
        if any(token.name == name for token in kept.tokens):
            raise taken
        kept.tokens.append(made_token)
    return given


def revoke(data_dir: Path, name: str, shared: TokenStore | None = None) -> None:
    """End a token.

    Raises: NotFound if there is none of that name.
    """
    unknown = NotFound(f"there is no token named {name}", hint="list them with: context token list")
    if shared is not None:
        if not shared.remove(name):
            raise unknown
        return
    with _Changing(data_dir) as kept:
        left = [token for token in kept.tokens if token.name != name]
        if len(left) == len(kept.tokens):
            raise unknown
        kept.tokens = left


def kept(data_dir: Path, shared: TokenStore | None = None) -> list[Token]:
    """Every token, by name.

    Raises: IoError, ConfigError when the file cannot be used.
    """
    if shared is not None:
        return shared.all()
    try:
        text = _private(data_dir / FILE)
    except FileNotFoundError:
        return []
    try:
        rows = json.loads(text)["tokens"]
        found = [Token(**{**row, "roots": None if row["roots"] is None else tuple(row["roots"])}) for row in rows]
        for token in found:
            token.has_ended(_now())
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{data_dir / FILE} is not a list of tokens", hint="remove it, and add them anew") from error
    return sorted(found, key=lambda token: token.name)


def own(data_dir: Path, token_file: str | None) -> str:
    """Read the server's own token, from the configured file or from one that is made on first use.

    Raises: IoError, ConfigError when the file cannot be used.
    """
    path = Path(token_file) if token_file else data_dir / OWN_FILE
    if token_file is None:
        _make(path)
    try:
        found = _private(path).decode("ascii").strip()
    except OSError as error:
        hint = f"write one of at least {_LEAST} characters there, with mode 600; without `http.token_file` the server makes one"
        raise IoError(f"cannot read the token in {path}", reason=error.strerror, hint=hint) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"the token in {path} is not ASCII text", hint="write letters, digits and signs there"
        ) from error
    if len(found) < _LEAST:
        hint = f"give it at least {_LEAST} characters, or remove the file"
        raise ConfigError(f"the token in {path} is too short", hint=hint)
    return found


class Tokens:
    """Whose a token is. Both files are looked at for each request, and read again when they changed; shared tokens are read again every
    second, asked for or not, by a thread: no request waits for another machine, and a revoked token is refused even if nobody called for a long time."""

    def __init__(
        self,
        data_dir: Path,
        token_file: str | None,
        warn: Callable[[str], None] = lambda _line: None,
        now: Now = _now,
        shared: TokenStore | None = None,
    ) -> None:
        self._data_dir = data_dir
        self._token_file = token_file
        self._files = (data_dir / FILE, Path(token_file) if token_file else data_dir / OWN_FILE)
        self._warn = warn
        self._now = now
        self._stamps: object = None
        self._by_digest: dict[str, Token] = {}
        self._own = ""
        self.shared = shared
        self._follows = False
        self._told = ""  # why the shared tokens could not be read again
        own(data_dir, token_file)  # what is wrong with it is said at the start

    def caller(self, given: bytes) -> Caller | str:
        """The caller with this token, or why it is refused."""
        stamps = [_stamp(path) for path in self._files]
        if stamps != self._stamps:
            self._stamps = stamps
            self._read()
        if self.shared is not None and not self._follows:
            self._follows = True
            threading.Thread(target=_follow, args=(weakref.ref(self),), name="tokens", daemon=True).start()
        digest = _digest(given)  # so that timing does not tell how much of a guess is right
        if digest == self._own:
            return OWNER
        token = self._by_digest.get(digest)
        if token is None:
            return "a valid bearer token is needed"
        if token.has_ended(self._now()):
            return f"this token ended at {token.ends}; ask for a new one"
        return Caller(token.name, token.roots, token.is_admin, given.decode("utf-8", "replace"))

    def read_again(self) -> None:
        """Read the files at the next request, changed or not."""
        self._stamps = None

    def look_again(self) -> None:
        """Read the shared tokens; while the store does not answer, the known ones stay, and that is reported once."""
        assert self.shared is not None
        try:
            self._by_digest = {token.sha256: token for token in self.shared.all()}
            self._told = ""
        except ContextError as error:
            self._tell_once(error)

    def _tell_once(self, error: ContextError) -> None:
        if error.in_one_line != self._told:
            self._told = error.in_one_line
            self._warn(self._told)

    def _read(self) -> None:
        """Read the file; if it cannot be read, no token is valid."""
        self._by_digest, self._own = {}, ""
        try:
            self._by_digest = {token.sha256: token for token in kept(self._data_dir, self.shared)}
            self._told = ""
        except ContextError as error:
            self._tell_once(error)
        try:
            self._own = _digest(own(self._data_dir, self._token_file).encode())
        except ContextError as error:
            self._warn(error.in_one_line)


def _follow(found: weakref.ref[Tokens]) -> None:
    """Poll the shared tokens while they are in use."""
    while tokens := found():
        tokens.look_again()
        del tokens
        time.sleep(_FRESH)


def _digest(token: bytes) -> str:
    return hashlib.sha256(token).hexdigest()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _private(path: Path) -> bytes:
    """Read a file that is for its owner alone.

    Raises: FileNotFoundError; IoError; ConfigError if others can read or replace it.
    """
    try:
        return regular.read_secret(path, _MOST_BYTES)
    except FileNotFoundError:
        raise
    except regular.Refused as error:
        owner = regular.other_owner(path)
        hint = f"run the command as that user: runuser -u {owner} -- context …" if owner else None
        raise ConfigError(f"{path} cannot be trusted", reason=error.strerror, hint=hint) from error
    except OSError as error:
        raise IoError(f"cannot read {path}", reason=error.strerror) from error


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    except OSError as error:
        raise IoError(
            f"cannot write the token to {path}", reason=error.strerror, hint="choose another place with --data-dir"
        ) from error
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(_PREFIX + secrets.token_urlsafe(32) + "\n")


class _Changing:
    """The tokens, held against other writers, and written whole when the block ends well."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._lock: int
        self.tokens: list[Token] = []

    def __enter__(self) -> _Changing:
        try:
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self._data_dir / f"{FILE}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise IoError(f"cannot write {self._data_dir / FILE}", reason=error.strerror) from error
        flock.lock(self._lock)
        try:
            self.tokens = kept(self._data_dir)
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._write()
        finally:
            os.close(self._lock)

    def _write(self) -> None:
        path = self._data_dir / FILE
        new = path.with_suffix(".new")
        text = json.dumps({"version": 1, "tokens": [asdict(token) for token in self.tokens]}, indent=1) + "\n"
        try:
            new.unlink(missing_ok=True)
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            os.replace(new, path)
        except OSError as error:
            raise IoError(f"cannot write {path}", reason=error.strerror) from error
