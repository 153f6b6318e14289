"""Find the files below a folder.

In: a folder.  Out: `Found` for every regular file that is to be read, in the order of their path components.
Always: nothing but folders and ignore files is opened; no link is followed, so the walk cannot leave the folder or go in circles
(a linked file inside the folder is found under its own name); what cannot be read is reported and the rest goes on.

Folders are opened from their parent's descriptor: paths longer than the system's limit work, and a folder that is swapped
for a link meanwhile is not entered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from smart_context.access import confined
from smart_context.data import dataclass
from smart_context.model import changed_at
from smart_context.sources import ignore, known
from smart_context.sources.ignore import Filter, Rules

JUNK_FOLDERS = frozenset({
    ".git", ".hg", ".svn", ".bzr", "CVS", "_darcs",
    "node_modules", "bower_components", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".ruff_cache",
    ".pytest_cache", ".gradle", ".terraform", ".direnv",
    "$RECYCLE.BIN", "System Volume Information", "lost+found", ".Trash", ".Trashes", ".fseventsd", ".Spotlight-V100",
    ".TemporaryItems", "@eaDir", "#recycle", "__MACOSX",
})  # fmt: skip
JUNK_FILES = frozenset({"Thumbs.db", "ehthumbs.db", "desktop.ini", ".DS_Store", "CACHEDIR.TAG"})
JUNK = JUNK_FOLDERS | JUNK_FILES
_IGNORING = frozenset({".git", ".gitignore", ".ignore"})
TELLING = JUNK | _IGNORING | {"pyvenv.cfg"}
"""Names that mark their folder (as junk, or with ignore rules) or are left out themselves: `known.of` looks for them in every listing."""
_JUNK_STARTS = ("~$", ".~lock.")  # lock files that office programs leave beside an open file

OnProblem = Callable[[str, str], None]
OnMount = Callable[[str, int], None]
OnMet = Callable[[str, int], None]
OnView = Callable[[str, str], None]
Entry = tuple[str, bool]  # the name of a file or folder, and whether it is a folder

_OPEN_FOLDERS = 64  # open descriptors; in a deeper tree the outer ones are closed and opened again through `..`
_KERNEL_VIEWS = frozenset({
    "proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "configfs", "bpf",
    "pstore", "efivarfs", "mqueue", "hugetlbfs", "fusectl", "binfmt_misc", "rpc_pipefs", "nsfs", "autofs",
})  # fmt: skip
_CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"


class Found(NamedTuple):
    """A regular file. Its path carries bytes that are not UTF-8 as `os.fsdecode` does."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """What to leave out. `exclude` is in gitignore's syntax, below the top; `never_enter` names folders by absolute path."""

    honour_ignore_files: bool = True
    include_hidden: bool = False
    include_junk: bool = False
    exclude: tuple[str, ...] = ()
    never_enter: frozenset[str] = frozenset()


def files(
    folder: str,
    options: WalkOptions,
    on_problem: OnProblem,
    *,
    top: str | None = None,
    on_mount: OnMount = lambda _path, _device: None,
    recorded: known.Known | None = None,
    on_met: OnMet = lambda _path, _files: None,
    on_view: OnView = lambda _path, _type: None,
) -> Iterator[Found]:
    """Yield the files below a folder; `top` is the root it lies in, whose ignore files count too.

    on_mount: called with each folder below `top` that is on another device than its parent, and that device. recorded: files that are unchanged
    since they were recorded are taken out of it and not yielded. on_met: called with each folder that has unchanged files, and their number.
    on_view: called with each folder that is left out because the kernel shows its state there, and the type of its file system.
    """
    walk = _Walk(options, on_problem, on_mount, recorded or known.of((), TELLING), on_met, on_view)
    try:
        walk.start(folder, top or folder)
        yield from walk.run()
    finally:
        walk.close()


class _Frame:
    """One folder on the path from the top to the current one. todo: its entries still to visit, the last one first."""

    __slots__ = ("fd", "identity", "keep", "path", "todo")

    def __init__(self, fd: int, path: str, identity: tuple[int, int], keep: Filter, todo: list[Entry]) -> None:
        self.fd, self.path, self.identity, self.keep, self.todo = fd, path, identity, keep, todo


class _Walk:
    def __init__(
        self,
        options: WalkOptions,
        on_problem: OnProblem,
        on_mount: OnMount,
        recorded: known.Known,
        on_met: OnMet,
        on_view: OnView,
    ) -> None:
        self._options = options
        self._report = on_problem
        self._on_mount = on_mount
        self._known = recorded
        self._on_met = on_met
        self._on_view = on_view
        self._frames: list[_Frame] = []
        self._views = _views_of_the_system()
        self._rules: dict[str, Rules] = {}
        self._weight = 0

    def start(self, folder: str, top: str) -> None:
        """Open the top and go down to the folder, reading ignore files on the way."""
        below = os.path.relpath(folder, top)
        keep = Filter()
        if self._options.exclude:
            keep = keep.with_rules(ignore.parse("\n".join(self._options.exclude), is_trusted=True))
        try:
            fd = confined.top(top)
        except OSError as error:
            self._report(folder, _why(error))
            return
        self._enter(fd, top, keep)
        for name in () if below == "." else below.split(os.sep):
            if not self._frames:
                return
            self._frames[-1].todo.clear()
            self._descend(name)

    def run(self) -> Iterator[Found]:
        """Visit everything below the frame that `start` ended in."""
        depth = len(self._frames)
        while len(self._frames) >= depth > 0:
            frame = self._frames[-1]
            if not frame.todo:
                self._leave()
                continue
            name, is_folder = frame.todo.pop()
            if is_folder:
                self._descend(name)
                continue
            path = f"{frame.path}/{name}"
            try:
                info = os.stat(name, dir_fd=frame.fd, follow_symlinks=False)
            except OSError as error:
                self._report(path, _why(error))
                continue
            if not stat.S_ISREG(info.st_mode):  # swapped since it was listed
                continue
            if known.CAN_BE_ELSEWHERE and known.is_placeholder(info):
                self._report(path, "only in the cloud")
                continue
            yield Found(path, info.st_size, changed_at(info))

    def close(self) -> None:
        """Close every descriptor."""
        while self._frames:
            frame = self._frames.pop()
            if frame.fd >= 0:
                os.close(frame.fd)

    def _descend(self, name: str) -> None:
        frame = self._frames[-1]
        path = f"{frame.path}/{name}"
        if path in self._options.never_enter:
            return
        try:
            fd = confined.folder(name, frame.fd)
        except OSError as error:
            self._report(path, _why(error))
            return
        self._enter(fd, path, frame.keep.below(name))

    def _enter(self, fd: int, path: str, keep: Filter) -> None:
        identity = known.identity(fd)
        device = identity[0]
        if device in self._views:
            self._on_view(path, self._views[device])
            os.close(fd)
            return
        if self._frames and device != self._frames[-1].identity[0]:
            self._on_mount(path, device)
        path = path.rstrip("/")
        try:
            met, entries, telling, is_odd = self._known.listed(fd, path)
        except OSError as error:
            self._report(path or "/", _why(error))
            os.close(fd)
            return
        if telling and self._frames and not self._options.include_junk and _is_marked_junk(fd, telling):
            self._known.put_back()
            os.close(fd)
            return
        if telling and self._options.honour_ignore_files:
            keep = self._with_ignore_files(keep, fd, path, telling)
        if telling or is_odd or keep.has_rules:  # else no rule can leave a name out
            entries, met = self._sorted_out(entries, telling, keep)
        if met:
            self._on_met(path, met)
        if not entries:
            os.close(fd)
            return
        entries.sort(reverse=True)
        self._frames.append(_Frame(fd, path, identity, keep, entries))
        outer = len(self._frames) - _OPEN_FOLDERS
        if outer >= 0 and self._frames[outer].fd >= 0:
            os.close(self._frames[outer].fd)
            self._frames[outer].fd = -1

    def _sorted_out(self, entries: list[Entry], telling: set[str], keep: Filter) -> tuple[list[Entry], int]:
        """Of the folder listed last: the entries to visit, and how many unchanged files no rule leaves out."""
        met = self._known.met()
        suspects = self._suspects([*met, *[name for name, _ in entries]], telling, keep)
        if not suspects:
            return entries, len(met)
        left_out = {name for name in suspects.intersection(met) if not self._takes(name, False, keep)}
        taken = [entry for entry in entries if entry[0] not in suspects or self._takes(entry[0], entry[1], keep)]
        return taken, self._known.put_back(left_out)

    def _suspects(self, names: list[str], telling: set[str], keep: Filter) -> set[str]:
        """Names that a rule may leave out. Almost none is, so all names are tested in one string before any is tested alone."""
        suspects = keep.suspects(names)
        together = "/" + "/".join(names)
        if not self._options.include_hidden and "/." in together:
            suspects.update([name for name in names if name[0] == "."])
        if not self._options.include_junk:
            if telling:
                suspects |= JUNK & telling
            if "/~$" in together or "/.~lock." in together:
                suspects.update([name for name in names if name.startswith(_JUNK_STARTS)])
        return suspects

    def _takes(self, name: str, is_folder: bool, keep: Filter) -> bool:
        if name[0] == "." and not self._options.include_hidden:
            return False
        is_junk = name in JUNK_FOLDERS if is_folder else name in JUNK_FILES or name.startswith(_JUNK_STARTS)
        return not (is_junk and not self._options.include_junk) and not keep.leaves_out(name, is_folder)

    def _with_ignore_files(self, keep: Filter, fd: int, path: str, names: Container[str]) -> Filter:
        for name, marker in ((".git/info/exclude", ".git"), (".gitignore", ".gitignore"), (".ignore", ".ignore")):
            if marker not in names:
                continue
            text = _read(fd, name, ignore.MAX_BYTES + 1)
            if not text:
                continue
            if len(text) > ignore.MAX_BYTES:
                self._report(f"{path}/{name}", "ignore file too large: the rest of it is not read")
                text = text[: text.rfind(b"\n", 0, ignore.MAX_BYTES) + 1]
            rules = self._parsed(text.decode("utf-8", "surrogateescape"))
            if rules is None or keep.weight + rules.weight > ignore.MAX_WEIGHT_HERE:
                self._report(f"{path}/{name}", "too many patterns in ignore files: this one is not read")
                continue
            if rules.dropped:
                self._report(f"{path}/{name}", f"ignore file: lines too long or too many, left out: {rules.dropped:,}")
            keep = keep.with_rules(rules)
        return keep

    def _parsed(self, text: str) -> Rules | None:
        """The rules of an ignore file, cached because many files are identical; None when there have been too many rules."""
        if text not in self._rules:
            if self._weight > ignore.MAX_WEIGHT:
                return None
            self._rules[text] = ignore.parse(text)
            self._weight += self._rules[text].weight + len(text)
        return self._rules[text]

    def _leave(self) -> None:
        left = self._frames.pop()
        if self._frames and self._frames[-1].fd < 0:
            self._take_back(self._frames[-1], left.fd)
        if left.fd >= 0:
            os.close(left.fd)

    def _take_back(self, frame: _Frame, below: int) -> None:
        """Open a folder again through `..` of one inside it. If that was moved meanwhile, `..` is another folder: report it."""
        try:
            frame.fd = confined.folder("..", below)
            problem = "" if known.identity(frame.fd) == frame.identity else "moved while it was read"
        except OSError as error:
            problem = _why(error)
        if problem:
            if frame.todo:
                self._report(frame.path, problem)
            frame.todo.clear()


def _views_of_the_system() -> dict[int, str]:
    """The kernel's virtual filesystems (/proc and the like), by device, with their types: they look like files, but are endless."""
    found = {}
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                major, _, minor = line.split()[2].partition(":")
                kind = line.partition(" - ")[2].split()[0]
                if kind in _KERNEL_VIEWS:
                    found[os.makedev(int(major), int(minor))] = kind
    except (OSError, ValueError, IndexError):  # another system, which has none of these
        pass
    return found


def _is_marked_junk(fd: int, names: Container[str]) -> bool:
    # Tools mark folders that can be rebuilt: a cache by CACHEDIR.TAG (cargo's `target` has one), a virtual environment by pyvenv.cfg.
    if "pyvenv.cfg" in names:
        return True
    return "CACHEDIR.TAG" in names and _read(fd, "CACHEDIR.TAG", len(_CACHE_TAG)) == _CACHE_TAG


def _read(folder: int, name: str, most: int) -> bytes | None:
    """Read a small regular file of a folder; None for anything else."""
    try:
        holder = confined.below(folder, os.path.dirname(name))
    except OSError:
        return None
    try:
        fd = confined.file(os.path.basename(name), holder)
    except OSError:
        return None
    finally:
        os.close(holder)
    try:
        return os.read(fd, most) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    finally:
        os.close(fd)


def _why(error: OSError) -> str:
    return (error.strerror or "cannot be read").lower()
