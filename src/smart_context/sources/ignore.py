"""What `.gitignore`, `.ignore` and our own exclude patterns say about a name, in gitignore's syntax.

In: the lines of ignore files, from the outside in.  Out: for each folder a `Filter` that says what to leave out.
Always: the last pattern that matches decides, as in git; and no pattern, however made, takes more than linear time on a
name: these files come with the folder and are as hostile as the rest of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_BYTES = 1_000_000
_CLASSES = {
    "alnum": r"\w", "alpha": r"^\W\d_", "digit": r"\d", "space": r"\s", "blank": r" \t", "lower": "a-z", "upper": "A-Z",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "cntrl": r"\x00-\x1f\x7f", "graph": "!-~", "print": " -~",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ending:
    """What `*.pyc` means: by far the most common kind of pattern, and much faster without a regular expression."""

    text: str


Name = str | Ending | re.Pattern[str]
"""One component of a pattern."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line: its path components (`**` as None), whether it takes back, whether it is for folders only."""

    names: tuple[Name | None, ...]
    is_anchored: bool
    takes_back: bool
    for_folders: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file, which stand for everything below the folder `base` (components below the root)."""

    base: tuple[str, ...]
    patterns: tuple[Pattern, ...]


def parse(text: str, base: Sequence[str] = ()) -> Rules:
    """Read an ignore file."""
    patterns = (_pattern(line.removesuffix("\r")) for line in text.removeprefix("\ufeff").split("\n"))
    return Rules(tuple(base), tuple(pattern for pattern in patterns if pattern))


class Filter:
    """What the rules say in one folder."""

    def __init__(self, rules: Sequence[Rules], folder: tuple[str, ...] | None = None) -> None:
        """Without a folder: what the patterns that hold in any folder say."""
        self._tests = [test for each in rules for test in _tests_in(each, folder)]
        self._literals = frozenset(t.name for t in self._tests if isinstance(t.name, str))
        self._endings = tuple({t.name.text for t in self._tests if isinstance(t.name, Ending)})
        joined = "|".join(f"(?:{t.name.pattern})" for t in self._tests if isinstance(t.name, re.Pattern))
        self._any = re.compile(joined, re.DOTALL).fullmatch if joined else None

    def suspects(self, names: Sequence[str]) -> set[str]:
        """Those of a folder's names that some pattern matches; only they need `leaves_out`. Much faster than each by itself."""
        found = set(self._literals.intersection(names))
        if self._endings:
            found.update([name for name in names if name.endswith(self._endings)])
        if self._any:
            found.update(filter(self._any, names))
        return found

    def leaves_out(self, name: str, is_folder: bool) -> bool:
        """Say whether the name is to be left out."""
        for test in reversed(self._tests):
            if (is_folder or not test.for_folders) and _fits(test.name, name):
                return not test.takes_back
        return False


def within(rules: Sequence[Rules], folder: tuple[str, ...], anywhere: Filter) -> Filter:
    """The filter of one folder, given that of the rules in any folder, which most folders share."""
    for each in rules:
        below = folder[len(each.base) :]
        if any(pattern.is_anchored and _holds_in(pattern, below) for pattern in each.patterns):
            return Filter(rules, folder)
    return anywhere


def leaves_out(rules: Rules, parts: tuple[str, ...]) -> bool:
    """Say whether a file, given by its components below the rules' base, or a folder above it, is left out."""
    last = len(parts) - 1
    return any(Filter([rules], parts[:at]).leaves_out(name, at < last) for at, name in enumerate(parts))


def hider(patterns: Sequence[str]) -> Callable[[str, str], bool]:
    """A test whether the file at a path, below a root, is left out by patterns that hold from that root on."""
    rules = parse("\n".join(patterns))

    def hides(path: str, root: str) -> bool:
        return leaves_out(rules, tuple(os.path.relpath(path, root).split(os.sep)))

    return hides


@dataclass(frozen=True, slots=True)
class _Test:
    name: Name
    takes_back: bool
    for_folders: bool


def _tests_in(rules: Rules, folder: tuple[str, ...] | None) -> Iterable[_Test]:
    for pattern in rules.patterns:
        name = pattern.names[-1]
        if not pattern.is_anchored or (folder is not None and _holds_in(pattern, folder[len(rules.base) :])):
            yield _Test(_ANYTHING if name is None else name, pattern.takes_back, pattern.for_folders)


_ANYTHING = re.compile(r".+", re.DOTALL)


def _holds_in(pattern: Pattern, below: tuple[str, ...]) -> bool:
    """Say whether a pattern's last name is meant for this folder; a `**` at the end is for this one and all inside it."""
    names = pattern.names
    return _match(names if names[-1] is None else names[:-1], below)


def _fits(pattern: Name, name: str) -> bool:
    if isinstance(pattern, str):
        return pattern == name
    if isinstance(pattern, Ending):
        return name.endswith(pattern.text)
    return pattern.fullmatch(name) is not None


def _match(names: Sequence[Name | None], parts: Sequence[str]) -> bool:
    """Match components; only the last `**` is ever tried again, which is enough, and keeps the time bounded."""
    if len(names) != len(parts) and None not in names:
        return False
    at = step = 0
    retry: tuple[int, int] | None = None
    while at < len(parts):
        name = names[step] if step < len(names) else ""
        if step < len(names) and name is None:
            step += 1
            retry = (step, at)
        elif name and _fits(name, parts[at]):
            at, step = at + 1, step + 1
        elif retry:
            step, at = retry[0], retry[1] + 1
            retry = (step, at)
        else:
            return False
    return all(name is None for name in names[step:])


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
    names = tuple(None if word == "**" and is_anchored else _name(word) for word in words)
    if names[0] is None and len(names) == 2 and names[1] is not None:  # `**/x` is `x`
        return Pattern(names[1:], False, takes_back, for_folders)
    return Pattern(names, is_anchored, takes_back, for_folders)


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    return bare + " " if escaped and len(line) > len(bare) else bare


_NEVER = re.compile(r"(?!)")
_SPECIAL = re.compile(r"[*?\[\\]")


def _name(word: str) -> Name:
    """Translate one component. Each `*` but the last takes the nearest match and never tries again (an atomic group)."""
    if not _SPECIAL.search(word):
        return word
    if word.startswith("*") and not _SPECIAL.search(word, 1):
        return Ending(word[1:])
    runs = _runs(word)
    if runs is None:
        return _NEVER
    first, *rest = runs
    if not rest:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{run})" for run in rest[:-1] if run)
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)


def _runs(word: str) -> list[str] | None:
    """The regular expressions between the stars, or None for a pattern that can never match."""
    runs = [""]
    at = 0
    while at < len(word):
        char = word[at]
        at += 1
        if char == "*":
            if runs[-1] or len(runs) == 1:
                runs.append("")
        elif char == "?":
            runs[-1] += "."
        elif char == "[":
            found = _bracket(word, at)
            if found is None:
                return None
            regex, at = found
            runs[-1] += regex
        elif char == "\\":
            if at == len(word):
                return None
            runs[-1] += re.escape(word[at])
            at += 1
        else:
            runs[-1] += re.escape(char)
    return runs


def _bracket(word: str, at: int) -> tuple[str, int] | None:
    """Read a bracket expression from after its `[`; None when it is never closed or means nothing."""
    negated = word[at : at + 1] in {"!", "^"}
    at += negated
    choices: list[str] = []
    start = at
    while at < len(word) and (word[at] != "]" or at == start):
        if word.startswith("[:", at) and (end := word.find(":]", at)) > 0:
            inner = _CLASSES.get(word[at + 2 : end])
            if inner is None:
                return None
            choices.append(f"[{inner}]")
            at = end + 2
            continue
        low, at = _literal(word, at)
        if word[at : at + 1] == "-" and word[at + 1 : at + 2] not in {"", "]"}:
            high, at = _literal(word, at + 1)
            if low <= high:
                choices.append(f"[{re.escape(low)}-{re.escape(high)}]")
        elif low:
            choices.append(re.escape(low))
    if at >= len(word):
        return None
    joined = "|".join(choices) or "(?!)"
    return (f"(?:(?!{joined}).)" if negated else f"(?:{joined})"), at + 1


def _literal(word: str, at: int) -> tuple[str, int]:
    if word[at] == "\\" and at + 1 < len(word):
        return word[at + 1], at + 2
    return word[at], at + 1
