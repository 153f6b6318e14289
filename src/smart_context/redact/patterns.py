"""Compile the extra patterns of a configuration.

Always: a pattern that cannot be compiled, matches nothing at all, or can take exponential time is refused by name.
"""

from __future__ import annotations

import re
import warnings

from smart_context.errors import ConfigError

_MAX_LENGTH = 1000
# `{2,}`, `*`, `+` and their lazy forms; a possessive one (`++`) gives nothing back, and cannot explode.
_UNBOUNDED = re.compile(r"(?:[*+]|\{\d*,\})\??")
_PIECE = re.compile(
    r"\\.|\[(?:\^?\]|\^)?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)|[()|]|(?P<repeat>(?:[*+?]|\{\d*,?\d*\})[+?]?)|.", re.DOTALL
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
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise ConfigError(f"redaction pattern {shown!r} cannot be compiled", reason=str(error)) from None
    if made.match(""):
        raise ConfigError(f"redaction pattern {shown!r} matches the empty text")
    if _nests(pattern):
        raise ConfigError(
            f"redaction pattern {shown!r} repeats a repetition and could run for ever",
            hint="bound one of the two ({1,20}) or make the inner one possessive (++)",
        )
    return made


def _nests(pattern: str) -> bool:
    """Tell whether an unbounded repetition stands inside another one."""
    groups = [False]  # for each open group: does it hold an unbounded repetition?
    closed = False
    at = 0
    while (piece := _PIECE.match(pattern, at)) is not None:
        mark = piece[0]
        if piece["repeat"] and _UNBOUNDED.fullmatch(mark):
            if closed:
                return True
            groups[-1] = True
        if mark == "(":
            groups.append(False)
            closed = False
        elif mark == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] = groups[-1] or closed
        else:
            closed = False
        at = piece.end()
    return False
