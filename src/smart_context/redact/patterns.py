"""Compile the extra patterns of a configuration.

Always: a pattern that cannot be compiled, matches the empty text, or could try very many ways to match is refused by name; one that is
taken does work in proportion to the text, at most some thousand steps per character.
"""

from __future__ import annotations

import re
import warnings

from smart_context import later
from smart_context.errors import ConfigError
from smart_context.redact import ambiguity

_MAX_LENGTH = 1000
_MAX_STEPS = 20_000  # at one place of a text
# How often a thing is repeated that something follows: alone, inside another repetition, around another repetition.
_ALONE, _INSIDE, _AROUND = 1000, 100, 30
# `{2,}`, `*`, `+`; what follows of their lazy and possessive forms stays as it is.
_UNBOUNDED = later.pattern(r"([*+]|\{(\d*),\})([+?]?)")
_PIECE = later.pattern(
    r"\\.|\[(?:\^?\]|\^)?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)|\(\?P?[<=!:>a-zA-Z(\-]*|[()|]|(?P<repeat>(?:[*+?]|\{\d*,?\d*\})[+?]?)|.",
    re.DOTALL,
)


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile one pattern.

    Raises: ConfigError.
    """
    shown = pattern if len(pattern) <= 60 else pattern[:57] + "…"
    if not isinstance(pattern, str) or not pattern or len(pattern) > _MAX_LENGTH:
        raise ConfigError(f"redaction pattern {shown!r} must be 1 to {_MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = re.compile(pattern)
            bounded = _bounded(pattern)
            steps = ambiguity.steps(bounded)
            found = re.compile(bounded)
    except (re.error, Warning, OverflowError, RecursionError, MemoryError) as error:
        raise ConfigError(f"redaction pattern {shown!r} cannot be compiled", reason=str(error)) from None
    if made.match(""):
        raise ConfigError(f"redaction pattern {shown!r} matches the empty text")
    if ambiguity.keeps_in_possessive(bounded):
        raise ConfigError(
            f"redaction pattern {shown!r} keeps a group inside of something possessive, on which Python's `re` may fail",
            hint="write (?:…) instead of (…) there",
        )
    if steps > _MAX_STEPS:
        raise ConfigError(
            f"redaction pattern {shown!r} repeats what it repeats already and could run for ever",
            hint="bound a repetition ({1,20}), make it possessive (++), or let it stop at a character that the next one cannot begin with",
        )
    return found


def _bounded(pattern: str) -> str:
    """The same pattern, with an end to each repetition that something follows: without one, each place could cost all of the text."""
    pieces = [match for match in _PIECE.finditer(pattern) if match[0]]
    repeats = {i: repeat for i, piece in enumerate(pieces) if (repeat := _repeat(piece)) is not None}
    spans = {close + 1: (start, close) for start, close in _groups(pieces) if close + 1 in repeats}
    parts: list[str] = []
    for i, piece in enumerate(pieces):
        repeat = repeats.get(i)
        if repeat is None or not pattern[piece.end() :].strip(")"):
            parts.append(piece[0])
            continue
        is_around = i in spans and any(spans[i][0] < j < spans[i][1] for j in repeats)
        is_inside = any(start < i < close for start, close in spans.values())
        least = 1 if repeat[1] == "+" else int(repeat[2] or 0)
        most = least + (_AROUND if is_around else _INSIDE if is_inside else _ALONE)
        parts.append(f"{{{least},{most}}}{repeat[3]}")
    return "".join(parts)


def _repeat(piece: re.Match[str]) -> re.Match[str] | None:
    return _UNBOUNDED.fullmatch(piece[0]) if piece["repeat"] else None


def _groups(pieces: list[re.Match[str]]) -> list[tuple[int, int]]:
    """Where groups open and close, as numbers of pieces."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for i, piece in enumerate(pieces):
        if piece[0].startswith("(") and not piece[0].startswith("(?#"):
            opened.append(i)
        elif piece[0] == ")" and opened:
            found.append((opened.pop(), i))
    return found
