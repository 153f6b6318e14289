"""One component of a pattern in gitignore's syntax: `*.py[co]`, `build`, `data-??`.

In: a word without slashes.  Out: a `Name`, and whether another word fits it.
Always: matching takes time linear in the word, whatever the pattern.
"""

from __future__ import annotations

import re
from functools import lru_cache

from smart_context.data import dataclass

_CLASSES = {
    "alnum": r"\w", "alpha": r"^\W\d_", "digit": r"\d", "space": r"\s", "blank": r" \t", "lower": "a-z", "upper": "A-Z",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "cntrl": r"\x00-\x1f\x7f", "graph": "!-~", "print": " -~",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ending:
    """What `*.pyc` means: by far the most common kind of pattern, and much faster without a regular expression."""

    text: str


@dataclass(frozen=True, slots=True)
class Glob:
    """Any other wildcard, as a regular expression without groups."""

    regex: str


Name = str | Ending | Glob
"""One component of a pattern."""

_NEVER = Glob(r"(?!)")
_SPECIAL = re.compile(r"[*?\[\\]")


def parse(word: str) -> Name:
    """Translate one component. Each `*` but the last takes the nearest match and never backtracks (an atomic group)."""
    if not _SPECIAL.search(word):
        return word
    if word.startswith("*") and not _SPECIAL.search(word, 1):
        return Ending(word[1:])
    runs = _runs(word)
    if runs is None:
        return _NEVER
    first, *rest = runs
    if not rest:
        return Glob(first)
    middle = "".join(f"(?>.*?{run})" for run in rest[:-1] if run)
    return Glob(f"{first}{middle}.*{rest[-1]}")


def fits(pattern: Name, name: str) -> bool:
    """Whether a name matches a component."""
    if isinstance(pattern, str):
        return pattern == name
    if isinstance(pattern, Ending):
        return name.endswith(pattern.text)
    return _compiled(pattern.regex).fullmatch(name) is not None


@lru_cache(maxsize=4096)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.DOTALL)


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
