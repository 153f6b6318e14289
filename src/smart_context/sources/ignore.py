"""Match names against `.gitignore`, `.ignore` and our own exclude patterns, in gitignore's syntax.

In: the lines of ignore files, from the outside in.  Out: for each folder a `Filter` that says what to leave out.
Always: the last pattern that matches decides, as in git. These files come with the folder and are as hostile as the rest of it: their
lines are bounded in number and length, no pattern takes more than linear time on a name, all unanchored patterns of a file are tested together,
and an anchored pattern is followed down from its folder, one step per folder. Lines beyond a bound are counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from smart_context.data import dataclass
from smart_context.sources import globs
from smart_context.sources.globs import Ending, Glob, Name

MAX_BYTES = 256 * 1024
MAX_WEIGHT_HERE = 1_000_000
"""All patterns that hold in one folder: what each of its names costs."""
MAX_WEIGHT = 16_000_000
"""All different ignore files of one walk: what reading them costs."""
_MAX_FILE_WEIGHT = 400_000
_ANCHORED_WEIGHT = 64  # cost of an anchored pattern, in letters of unanchored names
_GLOB_WEIGHT = 16  # cost of a letter in a pattern with wildcards,
_LEAST_GLOB_WEIGHT = 400  # and the least for such a pattern
_LONGEST_LINE = 1000
_MOST_STEPS = 64


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line: its path components (`**` as None), whether it is negated (takes_back), whether it is for folders only."""

    names: tuple[Name | None, ...]
    is_anchored: bool
    takes_back: bool
    for_folders: bool
    weight: int


class Rules:
    """The patterns of one ignore file, in order; `dropped` lines were beyond the bounds."""

    def __init__(self, patterns: Sequence[Pattern], dropped: int = 0) -> None:
        self.patterns = tuple(patterns)
        self.dropped = dropped
        self.weight = sum(pattern.weight for pattern in patterns)
        self.anchored = tuple(
            _Live(at, pattern, _reachable(pattern, 1)) for at, pattern in enumerate(patterns) if pattern.is_anchored
        )

    @cached_property
    def for_folders(self) -> _Anywhere:
        """The unanchored patterns that apply to folders: all of them."""
        return _Anywhere(self.patterns)

    @cached_property
    def for_files(self) -> _Anywhere:
        """The unanchored patterns that apply to files."""
        return _Anywhere([None if pattern.for_folders else pattern for pattern in self.patterns])


def parse(text: str, *, is_trusted: bool = False) -> Rules:
    """Read an ignore file; a trusted one has no bounds."""
    patterns: list[Pattern] = []
    weight = dropped = 0
    for line in text.removeprefix("\ufeff").split("\n"):
        if not is_trusted and (len(line) > _LONGEST_LINE or weight > _MAX_FILE_WEIGHT):
            dropped += bool(line.strip()) and not line.startswith("#")
            continue
        pattern = _pattern(line.removesuffix("\r"))
        if pattern is None:
            continue
        if not is_trusted and len(pattern.names) > _MOST_STEPS:
            dropped += 1
            continue
        weight += pattern.weight
        patterns.append(pattern)
    return Rules(patterns, dropped)


class Filter:
    """All rules that apply in one folder. Made for the top, then with `below` for each folder on the way down."""

    def __init__(self, layers: tuple[_Layer, ...] = ()) -> None:
        self._layers = layers
        self.weight = sum(layer.rules.weight for layer in layers)
        self.has_rules = bool(layers)
        self._is_same_below = not any(layer.live for layer in layers)

    def with_rules(self, rules: Rules) -> Filter:
        """The filter with rules added that apply from this folder on."""
        return Filter((*self._layers, _Layer(rules, rules.anchored)))

    def below(self, folder: str) -> Filter:
        """The filter for a subfolder. Mostly the same one, because few patterns are anchored."""
        if self._is_same_below:
            return self
        return Filter(tuple(layer.below(folder) for layer in self._layers))

    def suspects(self, names: Sequence[str]) -> set[str]:
        """The names of a folder that some pattern matches; only they need `leaves_out`. Much faster than testing each alone."""
        found: set[str] = set()
        for layer in self._layers:
            found.update(layer.suspects(names))
        return found

    def leaves_out(self, name: str, is_folder: bool) -> bool:
        """Say whether the name is to be left out."""
        for layer in reversed(self._layers):
            pattern = layer.last_match(name, is_folder)
            if pattern is not None:
                return not pattern.takes_back
        return False


def leaves_out(rules: Rules, parts: Sequence[str]) -> bool:
    """Say whether a file, given by its components below the rules' folder, or a folder above it, is left out."""
    here = Filter().with_rules(rules)
    for name in parts[:-1]:
        if here.leaves_out(name, True):
            return True
        here = here.below(name)
    return here.leaves_out(parts[-1], False)


def hider(patterns: Sequence[str]) -> Callable[[str, str], bool]:
    """A test whether patterns that apply from a root on leave out the file at a path below it."""
    rules = parse("\n".join(patterns), is_trusted=True)

    def hides(path: str, root: str) -> bool:
        return leaves_out(rules, tuple(os.path.relpath(path, root).split(os.sep)))

    return hides


class _Anywhere:
    """Unanchored patterns, each tested in the fastest way: literal names, endings, and one regular expression for the rest."""

    def __init__(self, patterns: Sequence[Pattern | None]) -> None:
        self._literals: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        globs: list[tuple[str, int]] = []
        for at, pattern in enumerate(patterns):
            if pattern is None or pattern.is_anchored:
                continue
            match pattern.names[-1]:
                case str(text):
                    self._literals[text] = at
                case Ending(text):
                    self._endings[text] = at
                case Glob(regex):
                    globs.append((regex, at))
        self._ends = tuple(self._endings)
        # The last pattern first: the first alternative that matches is the one that decides.
        self._positions = [at for _, at in reversed(globs)]
        joined = "|".join(f"({regex})" for regex, _ in reversed(globs))
        self._any = re.compile(joined, re.DOTALL).fullmatch if joined else None

    def suspects(self, names: Sequence[str]) -> set[str]:
        found = set(self._literals.keys() & names)
        if self._ends:
            found.update([name for name in names if name.endswith(self._ends)])
        if self._any:
            found.update(filter(self._any, names))
        return found

    def last(self, name: str) -> int:
        """The number of the last pattern that matches, or -1."""
        last = self._literals.get(name, -1)
        if self._ends and name.endswith(self._ends):
            last = max(last, *(self._endings.get(name[at:], -1) for at in range(len(name) + 1)))
        if self._any and (match := self._any(name)):
            last = max(last, self._positions[(match.lastindex or 1) - 1])
        return last


@dataclass(frozen=True, slots=True)
class _Live:
    """The state of an anchored pattern in a folder: bit i of `reached` says that the path so far matches its first i components."""

    at: int
    pattern: Pattern
    reached: int

    @property
    def is_here(self) -> bool:
        """Whether its last component applies to the names of this folder; a `**` at the end applies here and in all folders below."""
        return bool(self.reached >> (len(self.pattern.names) - 1) & 1)

    def fits(self, name: str) -> bool:
        last = self.pattern.names[-1]
        return last is None or globs.fits(last, name)

    def below(self, folder: str) -> _Live | None:
        reached = 0
        for step, name in enumerate(self.pattern.names):
            if self.reached >> step & 1:
                if name is None:
                    reached |= 1 << step
                elif globs.fits(name, folder):
                    reached |= 2 << step
        reached = _reachable(self.pattern, reached)
        return _Live(self.at, self.pattern, reached) if reached else None


def _reachable(pattern: Pattern, reached: int) -> int:
    """`reached` with the components after a `**` added, because that may match no folder at all."""
    for step, name in enumerate(pattern.names):
        if name is None and reached >> step & 1:
            reached |= 2 << step
    return reached & ((1 << len(pattern.names)) - 1)


class _Layer:
    """The rules of one file in one folder. live: the anchored patterns that can still match here or below, in order."""

    def __init__(self, rules: Rules, live: tuple[_Live, ...]) -> None:
        self.rules = rules
        self.live = live
        here = [each for each in live if each.is_here]
        self._literals: dict[str, list[_Live]] = {}
        self._others: list[_Live] = []
        for each in here:
            last = each.pattern.names[-1]
            (self._literals.setdefault(last, []) if isinstance(last, str) else self._others).append(each)

    def below(self, folder: str) -> _Layer:
        if not self.live:
            return self
        return _Layer(self.rules, tuple(found for live in self.live if (found := live.below(folder))))

    def suspects(self, names: Sequence[str]) -> set[str]:
        found = self.rules.for_folders.suspects(names)
        found.update(self._literals.keys() & names)
        for live in self._others:
            found.update([name for name in names if live.fits(name)])
        return found

    def last_match(self, name: str, is_folder: bool) -> Pattern | None:
        last = (self.rules.for_folders if is_folder else self.rules.for_files).last(name)
        for group in (self._literals.get(name, ()), self._others):
            for live in reversed(group):
                if live.at < last:
                    break
                if (is_folder or not live.pattern.for_folders) and live.fits(name):
                    last = live.at
                    break
        return self.rules.patterns[last] if last >= 0 else None


@lru_cache(maxsize=4096)
def _pattern(line: str) -> Pattern | None:
    line = _without_trailing_spaces(line)
    if not line or line.startswith("#"):
        return None
    takes_back = line.startswith("!")
    body = line[takes_back:]
    for_folders = body.endswith("/")
    body = body.removesuffix("/")
    is_anchored = "/" in body
    words = body.removeprefix("/").split("/")
    if not any(words):
        return None
    names = tuple(None if word == "**" and is_anchored else globs.parse(word) for word in words)
    if names[0] is None and len(names) == 2 and names[1] is not None:  # `**/x` is `x`
        names, is_anchored = names[1:], False
    weight = _ANCHORED_WEIGHT if is_anchored else len(line)
    if any(isinstance(name, Glob) for name in names) or (is_anchored and None in names):
        weight = max(_LEAST_GLOB_WEIGHT, _GLOB_WEIGHT * len(line))
    return Pattern(names, is_anchored, takes_back, for_folders, weight)


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    return bare + " " if escaped and len(line) > len(bare) else bare
