"""Who may read what: the allow-listed roots, and the only way from a caller's path to an opened file.

In: a path from a caller.  Out: a `Place` below a root, or a descriptor of a regular file below one.
Always: what is opened lies inside a root at the moment it is opened, and nothing outside the roots is ever touched, so
that neither answer nor timing tells whether something exists there.

A path is matched to a root by whole components, then walked from the root's own descriptor, one component at a time,
without following links. A link is read and its target walked in turn by the same rules; one that leaves the roots ends the
walk. Swapping a folder for a link in between changes nothing, because each step starts from a descriptor already checked.
Of nested roots the innermost one owns a file. Hard links are equal names of a file: one inside a root is inside.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from typing import Literal

from smart_context import later
from smart_context.access import confined
from smart_context.data import dataclass
from smart_context.errors import BadRequest, Forbidden, NotFound, SearchFailed

State = Literal["available", "unavailable"]

_MAX_LINKS = 40  # as the kernel
_BINARY = getattr(os, "O_BINARY", 0)
_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd


@dataclass(frozen=True, slots=True)
class Place:
    """A path below a root, both absolute, links inside the root resolved."""

    root: str
    path: str


class Roots:
    """The folders that may be read. Each is known by its configured name and by what that resolved to at the start."""

    def __init__(self, folders: Iterable[str | os.PathLike[str]]) -> None:
        names = dict.fromkeys(os.path.abspath(os.fspath(folder)) for folder in folders)
        self._real: dict[str, str] = {}
        self._take({name: os.path.realpath(name) for name in names})

    @classmethod
    def as_resolved(cls, resolved: dict[str, str]) -> Roots:
        """Give the roots as another process resolved them."""
        roots = cls(())
        roots._take(resolved)
        return roots

    @property
    def resolved(self) -> dict[str, str]:
        """What each name resolved to at the start."""
        return dict(self._resolved)

    def within(self, folders: Iterable[str]) -> Roots:
        """These roots, restricted to some folders. Nothing is read; other folders are treated as if they were not roots."""
        held: dict[tuple[str, ...], str] = {}
        for folder in folders:
            parts = _parts(os.path.normpath(folder))
            # A folder that holds roots stands for those.
            held |= {_parts(name): name for spelling, name in self._spellings if spelling[: len(parts)] == parts}
            try:
                name, rest = self._match(parts)
            except Forbidden:
                continue
            held[(*_parts(name), *rest)] = os.path.join(name, *rest)
        part = Roots.as_resolved(self._resolved)
        part.names = tuple(held.values())
        part._bounds = tuple(held)
        return part

    def add(self, folder: str) -> None:
        """Add a root, for every holder of this object."""
        self._take({**self._resolved, folder: os.path.realpath(folder)})

    def become(self, resolved: dict[str, str]) -> None:
        """Replace the roots with those that another process resolved, for every holder of this object."""
        self._take(resolved)

    def _take(self, resolved: dict[str, str]) -> None:
        self._bounds: tuple[tuple[str, ...], ...] | None = None
        # Another thread may be on its way through a root that goes now: it finds what that resolved to.
        self._real = {**self._real, **resolved}
        spellings = {_parts(real): name for name, real in resolved.items()}
        spellings.update({_parts(name): name for name in resolved})
        # The innermost first, so that the first match is the one that counts.
        self._spellings = sorted(spellings.items(), key=lambda item: -len(item[0]))
        self._resolved = resolved
        self.names = tuple(resolved)

    def check_any(self) -> None:
        """Refuse everything where nothing is allowed.

        Raises: Forbidden.
        """
        if not self.names:
            raise Forbidden(
                "no folder may be read yet", hint="name one with --root DIR, or for good: context roots add DIR"
            )

    def state(self, root: str) -> State:
        """Say whether a configured root is there now; an unmounted share is not, and stays configured."""
        return "available" if os.path.isdir(self._real[root]) else "unavailable"

    def inside(self, path: str) -> Place:
        """Place a path below a root; it need not exist any more.

        Raises: Forbidden for everything that is not below a root.
        """
        return self._walk(path, None)

    def steps(self, path: str) -> tuple[str, tuple[str, ...]]:
        """The folder to start from, and the names to walk, of a path as it is spelt. Nothing is read.

        Raises: Forbidden for everything that is not below a root.
        """
        if not _can_name_a_file(path):
            raise _forbidden()
        name, rest = self._match(_parts(path))
        return self._real[name], rest

    def open_file(self, path: str) -> int:
        """Open a regular file below a root for reading; the descriptor is the caller's to close.

        Raises: Forbidden outside the roots; NotFound for what is absent; BadRequest for a folder, FIFO or device;
            SearchFailed when the system refuses.
        """
        opened: list[int] = []
        self._walk(path, opened)
        return opened[0]

    def _walk(self, path: str, opened: list[int] | None) -> Place:
        asked = path
        self.check_any()
        if not _can_name_a_file(path):
            raise _forbidden()
        self._match(_parts(os.path.normpath(path)))
        if self._bounds is not None:
            path = os.path.normpath(path)  # no step leads outside, not even on the way back in
        for _ in range(_MAX_LINKS):
            name, rest = self._match(_parts(path))
            found = _Step(self._real[name], rest) if _BY_DESCRIPTOR else _StepByPath(self._real[name], rest)
            onward = found.walk(opened)
            if onward is None:
                if opened is not None and not opened:
                    raise NotFound(
                        f"no such file: {shown(asked)}",
                        hint="find it with `searchFiles`, or index its folder anew with `indexFolder`",
                    )
                return self._place(found.real)
            path = onward if self._bounds is None else os.path.normpath(onward)
        raise _forbidden()

    def _match(self, parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        for spelling, name in self._spellings:
            if parts[: len(spelling)] == spelling and self._is_in_bounds(name, parts[len(spelling) :]):
                return name, parts[len(spelling) :]
        raise _forbidden()

    def _is_in_bounds(self, name: str, rest: tuple[str, ...]) -> bool:
        if self._bounds is None:
            return True
        parts = (*_parts(name), *rest)
        return any(parts[: len(bound)] == bound for bound in self._bounds)

    def _place(self, real: str) -> Place:
        name, rest = self._match(_parts(real))
        return Place(name, os.path.join(name, *rest))


class _Step:
    """A walk from one root's descriptor, until the end or the first link or `..`."""

    def __init__(self, real_root: str, rest: tuple[str, ...]) -> None:
        self.real = real_root
        self._todo = rest

    def walk(self, opened: list[int] | None) -> str | None:
        """Return None at the end (a requested file is then in `opened`), else the path to continue with."""
        try:
            here = confined.top(self.real, confined.PASS)
        except OSError:
            return self._end(self._todo)
        try:
            for at, name in enumerate(self._todo):
                rest = self._todo[at + 1 :]
                if name == "..":
                    return os.path.join(os.path.dirname(self.real), *rest)
                if rest and (deeper := _passed(name, here)) is not None:
                    self.real = _below(self.real, name)
                    os.close(here)
                    here = deeper
                    continue
                mode = self._mode(here, name)
                if mode is None:
                    return self._end(self._todo[at:])
                if stat.S_ISLNK(mode):
                    return self._through(here, name, rest)
                if not rest and opened is not None:
                    return self._open(here, name, mode, opened)
                self.real = _below(self.real, name)
                if not stat.S_ISDIR(mode):
                    return self._end(rest)
                try:
                    deeper = confined.folder(name, here, confined.PASS)
                except OSError as error:
                    if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENOENT}:  # swapped since: look again
                        return os.path.join(self.real, *rest)
                    raise _refused(self.real, error) from error
                os.close(here)
                here = deeper
        finally:
            os.close(here)
        if opened is not None:
            raise BadRequest(f"{shown(self.real)} is a folder", hint="give the path of a file")
        return None

    def _mode(self, here: int, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
                return None
            raise _refused(os.path.join(self.real, name), error) from error

    def _end(self, rest: tuple[str, ...]) -> str | None:
        # What is not there has no links in it, so the rest means what it says.
        self.real = os.path.normpath(os.path.join(self.real, *rest))
        return None

    def _through(self, here: int, name: str, rest: tuple[str, ...]) -> str:
        try:
            target = os.readlink(name, dir_fd=here)
        except OSError:  # swapped since: look again
            target = name
        return os.path.join(self.real, target, *rest)

    def _open(self, here: int, name: str, mode: int, opened: list[int]) -> str | None:
        path = _below(self.real, name)
        if not stat.S_ISREG(mode):
            raise _not_a_file(path)
        try:
            fd = confined.file(name, here)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.EMLINK, errno.ENOENT}:  # swapped since: look again
                return path
            raise _refused(path, error) from error
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise _not_a_file(path)
        self.real = path
        opened.append(fd)
        return None


def _passed(name: str, holder: int) -> int | None:
    """A folder on the way, opened without a look at what it is: nearly always it is one. None for everything else."""
    try:
        return confined.folder(name, holder, confined.PASS)
    except OSError:
        return None


def _below(folder: str, name: str) -> str:
    """`os.path.join` for one name that is no path, in half of the time."""
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


class _StepByPath:
    """The same where the system has no descriptors of folders: resolve, open, and compare what was opened.

    Weaker: a folder swapped at the right moment is noticed after the open, not prevented; nothing is read from it.
    """

    def __init__(self, real_root: str, rest: tuple[str, ...]) -> None:
        self.real = os.path.normpath(os.path.join(real_root, *rest))

    def walk(self, opened: list[int] | None) -> str | None:
        """As `_Step.walk`."""
        resolved = os.path.realpath(self.real)
        if resolved != self.real:
            return resolved
        if opened is None or not os.path.lexists(resolved):
            return None
        if not stat.S_ISREG(os.lstat(resolved).st_mode):
            raise _not_a_file(resolved)
        try:
            fd = os.open(resolved, confined.FILE | _BINARY)
        except OSError as error:
            raise _refused(resolved, error) from error
        try:
            same = os.path.samestat(os.fstat(fd), os.lstat(resolved)) and os.path.realpath(resolved) == resolved
        except OSError:
            same = False
        if not same:
            os.close(fd)
            raise _forbidden()
        opened.append(fd)
        return None


def is_within(path: str, folder: str) -> bool:
    """Say whether an absolute path is a folder or lies below it, as both are spelt."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _can_name_a_file(path: str) -> bool:
    """Say whether the path is absolute text that can name a file at all."""
    try:
        return os.path.isabs(path) and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _parts(path: str) -> tuple[str, ...]:
    drive, tail = os.path.splitdrive(path)
    names = tail.replace(os.altsep, os.sep).split(os.sep) if os.altsep else tail.split(os.sep)
    return (drive, *[name for name in names if name and name != "."])


def _forbidden() -> Forbidden:
    # One wording for everything outside, so that the answer says nothing about what is there.
    return Forbidden(
        "the path is outside the allowed folders", hint="`listRoots` names them; give an absolute path below one"
    )


def _not_a_file(path: str) -> BadRequest:
    return BadRequest(f"{shown(path)} is not a regular file", hint="give the path of a file")


def _refused(path: str, error: OSError) -> SearchFailed:
    return SearchFailed(
        f"cannot read {shown(path)}: {os.strerror(error.errno or errno.EIO)}",
        hint="check the permissions of the user that runs the server",
    )


# A byte that is not UTF-8 is shown as \xNN; a backslash that would read as such an escape, as \x5c. Nothing else changes.
_LOOKS_ESCAPED = later.pattern(r"\\(?=x(?:5c|[89a-f][0-9a-f]))")
_ESCAPE = later.pattern(r"\\x(5c|[89a-f][0-9a-f])")
_LONE = later.pattern("[\ud800-\udfff]")


def shown(path: str) -> str:
    """Write a path as valid Unicode text, for JSON and people; `parsed` reads it back."""
    if path.isascii() and "\\x" not in path:
        return path
    return _LONE.sub(_shown_byte, _LOOKS_ESCAPED.sub(r"\\x5c", path))


def _shown_byte(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else "\ufffd"


def parsed(text: str) -> str:
    """Read a path that `shown` wrote."""
    if "\\x" not in text:
        return text
    path = _ESCAPE.sub(lambda m: "\\" if m[1] == "5c" else chr(0xDC00 + int(m[1], 16)), text)
    # Escaped bytes that together are UTF-8 name the same file as the character: one spelling for both.
    try:
        return os.fsdecode(os.fsencode(path)) if _LONE.search(path) else path
    except UnicodeEncodeError:
        return path
