"""Output for people: progress on stderr; numbers, times and paths as people write them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING

from smart_context import plain
from smart_context.cli import can_erase, layout, say, style
from smart_context.cli.layout import width_of
from smart_context.model import Progress

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

DIFFERENT = 8  # the exit status of a comparison that does not hold
_FIRST_AFTER = 0.5  # seconds: shorter work shows nothing
_EVERY = 0.1
_SELDOM = 10.0  # seconds between two lines where each stays
_FOR_CTRL_C = (
    3  # columns that a bar leaves free: the terminal writes ^C there, and what goes over the edge cannot be erased
)
_WITH_BAR = 70  # columns from which there is room for a bar


class StatusLine:
    """A status line on stderr, which the next one replaces.

    Off a terminal it is nothing. A terminal that cannot erase gets it as a line of its own, and seldom.
    """

    def __init__(self) -> None:
        self._on = layout.is_terminal(sys.stderr)
        self._erases = self._on and can_erase()
        self._next = 0.0
        self._drawn = False

    def show(self, text: str) -> None:
        """Show a text in place of the last one."""
        if not self._on:
            return
        now = time.monotonic()
        if self._erases:
            _write("\r\x1b[K" + layout.shortened(text, max(1, layout.columns(sys.stderr) - _FOR_CTRL_C)))
        elif now >= self._next:
            _write(f"{text}\n")
            self._next = now + _SELDOM
        self._drawn = self._erases

    def clear(self) -> None:
        """Take it off the screen."""
        if self._drawn:
            _write("\r\x1b[K")
        self._drawn = False


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show what is being waited for, until the block ends."""
    line = StatusLine()
    line.show(f"{what} …")
    try:
        yield
    finally:
        line.clear()


def _write(text: str) -> None:
    with suppress(OSError, ValueError):  # the terminal is gone: no reason to stop the work
        sys.stderr.write(text)
        sys.stderr.flush()


class ProgressBar:
    """Show `Progress` on stderr. Off a terminal, or for short work, it writes nothing.

    at_once: say what is done before the first step comes, for work that needs seconds to begin.
    """

    def __init__(self, label: str, *, at_once: bool = False) -> None:
        self._label = label
        self._place = StatusLine()
        self._next = time.monotonic() + (0 if at_once else _FIRST_AFTER)
        self._speed = Speed()
        self.last: Progress | None = None
        if at_once:
            self._place.show(f"{label} …")

    def __call__(self, step: Progress) -> None:
        """Draw the step if it is time."""
        self.last = step
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY
        self._place.show(progress_line(self._label, step, self._speed.at(step, now), layout.columns(sys.stderr)))

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the bar from the screen, and start again."""
        self._place.clear()
        self._speed = Speed()


class Speed:
    """How fast a run is. The large files of a run come first and take far longer than the others: nothing follows from them for the rest."""

    def __init__(self) -> None:
        self._since = 0.0
        self._before = 0

    def at(self, step: Progress, now: float) -> float:
        """Steps a second since the first one behind the large files; 0.0 where that is unknown yet."""
        if not self._since:
            if step.done and step.done >= step.large:
                self._since, self._before = now, step.done
            return 0.0
        return (step.done - self._before) / (now - self._since) if now > self._since else 0.0


def progress_line(label: str, step: Progress, rate: float, columns: int) -> str:
    """A step as one line of so many columns."""
    told = [label]
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
    if step.done < step.large and columns >= _WITH_BAR:
        told += ["large files first"]
    if step.searchable and columns >= _WITH_BAR:
        told += [f"{step.searchable:,} searchable"]
    head = " ".join(told)
    room = columns - len(head) - 2 - _FOR_CTRL_C
    what = plain.line(step.what)
    return head[: columns - _FOR_CTRL_C] + (
        f"  {what if width_of(what) <= room else _tail(what, room)}" if room > 8 else ""
    )


class Steps:
    """Say each of a few steps that take seconds: on a terminal in one line, elsewhere in a line of its own, so that a log shows that the work goes on."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._place = StatusLine()

    def __call__(self, step: Progress) -> None:
        """Say what is done now."""
        at = f" {step.done + 1}/{step.total}" if step.total else ""
        told = f"{self._label}{at}: {plain.line(step.what)}"
        if layout.is_terminal(sys.stderr):
            self._place.show(f"{told} …")
        else:
            say(told)

    def __enter__(self) -> Steps:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._place.clear()


def _tail(text: str, room: int) -> str:
    """The end of a text: of a path, that tells more than its beginning."""
    end = text[-(room - 1) :]
    while width_of(end) > room - 1:
        end = end[1:]
    return f"…{end}"


def say_unredacted(settings: Settings) -> None:
    """Say that nothing is hidden in what follows."""
    logged = "; the audit log has a line about it" if settings.audit.enabled else ""
    say(f"nothing is hidden here, for your own eyes{logged}")


def size(count: int) -> str:
    """Format a number of bytes or characters for people."""
    if count < 1000:
        return f"{count:,} B"
    amount, units = count / 1000, ["kB", "MB", "GB", "TB"]
    while amount >= 999.95 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{amount:,.1f} {units[0]}"


def duration(seconds: float) -> str:
    """Format a duration for people, roughly."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def exactly(seconds: float) -> str:
    """Write how long something took, to the second."""
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (left, "s"))
    return " ".join(f"{count:,} {unit}" for count, unit in parts if count) or "0 s"


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


def ask(question: str) -> bool:
    """Ask a person; Enter alone is a no."""
    import click

    try:
        return click.confirm(layout.fitted(question, layout.columns(sys.stderr), ""), err=True)
    except click.Abort:
        raise KeyboardInterrupt from None


def can_ask() -> bool:
    """Whether there is a person who can be asked."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty())


def json_of(value: object, indent: int | None = None) -> str:
    """Write JSON for people and programs: nothing in it steers a terminal."""
    return plain.json_text(json.dumps(value, indent=indent, ensure_ascii=not _takes_any_letter()))


def _takes_any_letter() -> bool:
    """Whether what is written as UTF-8 arrives as such; JSON is escaped for a terminal of another encoding."""
    return sys.stdout is None or sys.stdout.encoding.lower() in {"utf-8", "utf8"}


def highlighted(text: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> str:
    """A stretch of a text, with the marked parts of it highlighted."""
    out, at = [], start
    for first, last in marks:
        begin, stop = max(first, at), min(last, end)
        if begin < stop:
            out += [text[at:begin], style(text[begin:stop], "yellow", bold=True)]
            at = stop
    return "".join(out) + text[at:end]
