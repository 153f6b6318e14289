"""How commands talk to people: a progress bar on stderr, only on a terminal, only when work takes long."""

from __future__ import annotations

import shutil
import sys
import time
import unicodedata
from collections.abc import Sequence
from types import TracebackType

from smart_context.model import Progress

_FIRST_AFTER = 0.5  # seconds: shorter work shows nothing
_EVERY = 0.1


class ProgressBar:
    """Show `Progress` on stderr. Off a terminal, or for short work, it writes nothing."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._on = sys.stderr is not None and sys.stderr.isatty()
        self._began = time.monotonic()
        self._next = self._began + _FIRST_AFTER
        self._drawn = False

    def __call__(self, step: Progress) -> None:
        """Draw the step if it is time."""
        if not self._on:
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY
        self._drawn = True
        sys.stderr.write("\r\x1b[K" + self._line(step, now - self._began))
        sys.stderr.flush()

    def _line(self, step: Progress, seconds: float) -> str:
        rate = step.done / seconds if seconds > 0 else 0.0
        if step.total:
            filled = min(20, 20 * step.done // step.total)
            head = f"{self._label} [{'█' * filled}{'░' * (20 - filled)}] {step.done:,}/{step.total:,} {rate:,.0f}/s"
        else:
            head = f"{self._label} {step.done:,} {rate:,.0f}/s"
        what = "".join(c if c.isprintable() else "?" for c in step.what)
        room = shutil.get_terminal_size().columns - len(head) - 3
        return head + (f"  {what[-room:]}" if room > 8 else "")

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out rows in columns: the first to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if not i else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def size(count: int) -> str:
    """Write a number of bytes or characters the way people say it."""
    if count < 1000:
        return f"{count:,} B"
    amount, units = count / 1000, ["kB", "MB", "GB", "TB"]
    while amount >= 999.95 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{amount:,.1f} {units[0]}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def safe(text: str) -> str:
    """Make text from a file harmless on a terminal: what would steer it (escape sequences, direction marks) becomes `?`."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def wrapped(text: str, marks: Sequence[tuple[int, int]], indent: str) -> str:
    """Wrap text at words to the terminal's width, with the marked stretches highlighted; as it is off a terminal."""
    if not sys.stdout.isatty():
        return indent + text
    room = max(20, shutil.get_terminal_size().columns - len(indent))
    lines = [_highlighted(text, start, end, marks) for start, end in _breaks(text, room)]
    return "\n".join(indent + line for line in lines)


def _breaks(text: str, room: int) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    start = width = 0
    space = -1
    for at, character in enumerate(text):
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if character == " ":
            space = at
        if width > room:
            end = space if space > start else at
            lines.append((start, end))
            start = end + (end == space)
            width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text[start : at + 1])
    return [*lines, (start, len(text))]


def _highlighted(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> str:
    out, at = [], start
    for first, last in marks:
        begin, stop = max(first, at), min(last, end)
        if begin < stop:
            out += [text[at:begin], f"\x1b[1;33m{text[begin:stop]}\x1b[0m"]
            at = stop
    return "".join(out) + text[at:end]
