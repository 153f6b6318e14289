"""How commands talk to people: a progress bar on stderr, only on a terminal, only when work takes long; tables."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Container, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from smart_context import plain
from smart_context.model import Progress

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

DIFFERENT = 8  # the exit status of a comparison that does not hold
_FIRST_AFTER = 0.5  # seconds: shorter work shows nothing
_EVERY = 0.1
_WITH_BAR = 70  # columns from which there is room for a bar


class ProgressBar:
    """Show `Progress` on stderr. Off a terminal, or for short work, it writes nothing."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._on = sys.stderr is not None and sys.stderr.isatty()
        self._began = time.monotonic()
        self._next = self._began + _FIRST_AFTER
        self._counted = 0.0
        self._drawn = False
        self.last: Progress | None = None

    def __call__(self, step: Progress) -> None:
        """Draw the step if it is time."""
        self.last = step
        if not self._on:
            return
        now = time.monotonic()
        if now < self._next:
            return
        if step.done and not self._counted:
            self._counted = now  # a rate counts from the first thing done, not from what came before
        self._next = now + _EVERY
        self._drawn = True
        sys.stderr.write("\r\x1b[K" + self._line(step, now - (self._counted or now)))
        sys.stderr.flush()

    def _line(self, step: Progress, seconds: float) -> str:
        columns = shutil.get_terminal_size().columns
        rate = step.done / seconds if seconds > 0 else 0.0
        told = [self._label]
        if step.total:
            width = 10 if columns >= _WITH_BAR else 0
            filled = min(width, width * step.done // step.total)
            told += [f"[{'█' * filled}{'░' * (width - filled)}]"] if width else []
            told += [f"{step.done:,}/{step.total:,}"]
        elif step.done:
            told += [f"{step.done:,}"]
        if rate:
            told += [f"{rate:,.0f}/s"]
        if rate and step.total and step.done < step.total:
            told += [f"{duration((step.total - step.done) / rate)} left"]
        if step.searchable and columns >= _WITH_BAR:
            told += [f"{step.searchable:,} searchable"]
        head = " ".join(told)
        room = columns - len(head) - 3
        what = plain.line(step.what)
        return head[: columns - 1] + (f"  {what if width_of(what) <= room else _tail(what, room)}" if room > 8 else "")

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the bar off the screen, and begin anew."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._drawn, self._counted = False, 0.0


def _tail(text: str, room: int) -> str:
    """The end of a text, which says more of a path than its beginning."""
    end = text[-(room - 1) :]
    while width_of(end) > room - 1:
        end = end[1:]
    return f"…{end}"


def say_unredacted(settings: Settings) -> None:
    """Say that nothing is hidden in what follows."""
    logged = "; the audit log has a line about it" if settings.audit.enabled else ""
    click.echo(f"nothing is hidden here, for your own eyes{logged}", err=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> str:
    """Lay out rows in columns: those whose numbers are in `left` to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if i in left else cell.rjust(width)
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


def duration(seconds: float) -> str:
    """Write a time the way people say it, roughly."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def safe(text: str) -> str:
    """Make text from a file harmless on a terminal: what would steer it (escape sequences, direction marks) is escaped."""
    return plain.lines(text)


def home(path: str) -> str:
    """A path as people write it: with `~` for their own folder."""
    own = os.path.expanduser("~").rstrip("/")
    return f"~{path[len(own) :]}" if own and (path == own or path.startswith(f"{own}/")) else path


def can_ask() -> bool:
    """Whether there is a person who can be asked."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty())


def json_of(value: object, indent: int | None = None) -> str:
    """Write JSON for people and programs: nothing in it steers a terminal."""
    return plain.json_text(json.dumps(value, indent=indent, ensure_ascii=False))


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def highlighted(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> str:
    """A stretch of a text, with the marked parts of it highlighted."""
    out, at = [], start
    for first, last in marks:
        begin, stop = max(first, at), min(last, end)
        if begin < stop:
            out += [text[at:begin], click.style(text[begin:stop], fg="yellow", bold=True)]
            at = stop
    return "".join(out) + text[at:end]
