"""Follow a secret over a line break.

Always: a stretch of the next line joins only when it looks generated, or is exactly what the secret still lacks.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from smart_context import later
from smart_context.redact import values

_BEFORE = r"[ \t]{0,8}+[\\\-]?[\"']?[ \t]{0,4}+[+\\]?\r?"
_AFTER = r"\n[ \t>|*#]{0,40}+[\"']?"
_BREAK = later.pattern(_BEFORE + _AFTER)
_BEFORE_BREAK, _MOST_BEFORE = re.compile(_BEFORE + "$"), 16  # characters
_MAY_STAND_BEFORE = frozenset(" \t\\-\"'+\r")
_AFTER_BREAK = re.compile(_AFTER)
_AFTER_NAME = later.pattern(r"[ \t]{0,4}+(?:[:(]|=(?!=*+[\s\"';,]|=*+$))")
_NAME = later.pattern(r"([A-Za-z_][\w.\-]{0,60})(?::$|=(?!=*+$))")  # `NAME=x`, and `name:` before a space
_REST_OF_LINE = later.pattern(r"[\"'`;,.)\]}=]*+[ \t]*+(?:\r?\n|$)")
_MAX_LINES = 80
_MAX_ODD = 0.35  # of a name
# How a line begins that may go on with a token: with a piece that holds a digit.
_BEGINS = later.pattern(
    r"\n[ \t>|*#]{0,40}+[\"']?(?=[A-Za-z_\-+/.=~:%]{0,200}+[0-9])(?P<piece>[A-Za-z0-9_\-+/.=~:%]{2,4096}+)"
)
_MAY_END_LINE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+/=.~%:\\\"' \t\r")
_PLAIN_WORD = later.pattern(r"(?:[a-z]+[.:]?\s)*[A-Z]?[a-z]+[.:]?\r?")  # no token begins with it
_MOST_OF_LINE = 4096


def follow(text: str, end: int, body: re.Pattern[str], missing: int | None = None, lacking: int = 0) -> int:
    """Return where a secret that reaches the end of its line at `end` really ends.

    body: one run of the characters that the secret may hold. missing: how many it still needs, where
    that is known. lacking: how many it needs at the least.
    """
    for _ in range(_MAX_LINES):
        if missing is not None and missing <= 0:
            break
        seam = _BREAK.match(text, end)
        chunk = body.match(text, seam.end()) if seam else None
        if chunk is None or not _belongs(text, chunk, missing, lacking):
            break
        end = chunk.end()
        lacking -= len(chunk[0])
        if missing is not None:
            missing -= len(chunk[0])
    return end


def _belongs(text: str, chunk: re.Match[str], missing: int | None, lacking: int) -> bool:
    piece = chunk[0]
    if _AFTER_NAME.match(text, chunk.end()) or _is_setting(piece):
        return False  # the next line is a setting of its own
    if missing is not None and len(piece) == missing:
        return True
    if missing is not None and len(piece) > missing:
        return False
    alone = _REST_OF_LINE.match(text, chunk.end()) is not None
    return len(piece) >= (4 if alone or lacking > 0 else 8) and values.is_random(piece)


def _is_setting(piece: str) -> bool:
    """Tell whether a line begins with a name of its own, rather than with letters and digits of a token: `S3_BUCKET=x`."""
    name = _NAME.match(piece)
    return name is not None and values.oddness(name[1]) < _MAX_ODD


class Break(NamedTuple):
    """A line break in the middle of what may be one token: the end of a line and the beginning of the next, from `start` to `end`."""

    start: int
    end: int


def breaks(text: str) -> list[Break]:
    """Return the line breaks after which a line begins with letters and digits that look generated."""
    found: list[Break] = []
    for match in _BEGINS.finditer(text):
        if text[match.start() - 1] not in _MAY_END_LINE or not values.is_random(match["piece"]):
            continue
        line = max(text.rfind("\n", 0, match.start()), match.start() - _MOST_OF_LINE) + 1
        start = max(line, text.rfind(" ", line, max(line, match.start() - _MOST_BEFORE)) + 1)
        if not _PLAIN_WORD.fullmatch(text, start, match.start()):
            found.append(Break(start, match.end()))
    return found


def regions(found: Sequence[Break]) -> Iterator[tuple[int, int]]:
    """Yield stretches of text that hold these breaks, each with the lines that follow one another."""
    first = last = -1
    for seam in found:
        if last >= 0 and seam.start > last:
            yield first, last
            first = -1
        first = seam.start if first < 0 else first
        last = seam.end
    if last >= 0:
        yield first, last


class Joined:
    """Text without its line breaks."""

    __slots__ = ("_seams", "_whole", "text")

    def __init__(self, text: str, whole: str) -> None:
        """whole: the text with them."""
        self.text, self._whole = text, whole
        self._seams: tuple[list[int], list[int]] | None = None

    def over_break(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a stretch of the joined text stands in the original; None if no line break was inside it."""
        if self._seams is None:
            self._seams = _seams(self._whole)
        seams, lost = self._seams
        first, last = bisect_right(seams, start), bisect_left(seams, end)
        if first == last:
            return None
        return start + lost[first], end + lost[last]


def joined(text: str) -> Joined:
    """Join the lines of a text. Where the breaks were is found out when somebody asks: nearly never."""
    *lines, last = _AFTER_BREAK.sub("\n", text).split("\n")
    ended = [line if line[-1:] not in _MAY_STAND_BEFORE else line[: _end(line, 0, len(line))] for line in lines]
    return Joined("".join([*ended, last]), text)


def _seams(text: str) -> tuple[list[int], list[int]]:
    """Where the line breaks of a text were once it is joined; and how many characters are lost before the first, and up to each."""
    seams, lost = [], [0]
    at = length = 0
    # The same as to look for `_BREAK`, but only where there is one.
    while (newline := text.find("\n", at)) >= 0:
        end = _end(text, at, newline)
        after = _AFTER_BREAK.match(text, newline)
        length += end - at
        seams.append(length)
        at = after.end() if after else newline + 1
        lost.append(lost[-1] + at - end)
    return seams, lost


def _end(text: str, start: int, newline: int) -> int:
    """Where a line ends before a line break, and what belongs to that."""
    if newline == start or text[newline - 1] not in _MAY_STAND_BEFORE:
        return newline
    before = _BEFORE_BREAK.search(text, max(start, newline - _MOST_BEFORE), newline)
    return before.start() if before else newline
