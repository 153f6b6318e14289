"""Gather text into units, within the limits.

In: lines, headings, page breaks in reading order.  Out: units with their pointers, and a note where a limit cut them.
Always: a section's name and its number among those of the same name identify it; text before the first heading,
or in a file without headings, is cut by pages where the file records them, else by paragraphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from smart_context.data import replace
from smart_context.model import Limits, Part, Unit
from smart_context.sources.extract import Refused

try:
    from smart_context.sources.extract import _collect as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_LONGEST_NAME = 200


class Full(Exception):
    """The limits are reached; what was gathered so far is kept."""


class _Gathered:
    """What units of both kinds need: notes for the user, and parts that may be damaged."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._refusal: Refused | None = None
        self.room = limits.max_text_chars
        self.notes: list[str] = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Read a part that may be damaged: what was gathered before it broke is kept, and noted."""
        try:
            yield
        except Refused as refusal:
            self._refusal = self._refusal or refusal
            self.notes.append(f"{name}: {refusal}")

    def _cut(self, note: str) -> None:
        self.notes.append(note)
        raise Full

    def _kept(self, units: list[Unit]) -> tuple[Unit, ...]:
        """The units; a file without any is refused for the first problem that was noted."""
        if self._refusal is not None and not any(unit.text for unit in units):
            raise self._refusal
        return tuple(units)


class Units(_Gathered):
    """Units as they come, up to the limits."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._units: list[Unit] = []

    def add(self, unit: Unit) -> None:
        """Take a unit.

        Raises:
            Full: there is no room for more.
        """
        if len(self._units) >= self._limits.max_units:
            self._cut(f"cut at {self._limits.max_units:,} parts")
        if len(unit.text) > self.room:
            at = unit.text.rfind("\n", 0, self.room) if unit.divisible else self.room
            self._units.append(replace(unit, text=unit.text[: max(0, at)]))
            self._cut(f"cut at {self._limits.max_text_chars:,} characters")
        self.room -= len(unit.text)
        self._units.append(unit)

    def finish(self) -> tuple[Unit, ...]:
        """Everything taken so far.

        Raises:
            Refused: nothing was, because the file is damaged.
        """
        return self._kept(self._units)


class Sections(_Gathered):
    """Units by heading. Each line given is one paragraph."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._blocks: list[tuple[str, list[str]]] = [("", [])]
        self._asides: list[tuple[str, list[str]]] = []
        self._rendered: list[int] = []
        self._hard: list[int] = []

    def heading(self, text: str) -> None:
        """Start a section; its heading is also its first paragraph."""
        text = _one_line(text)
        if not text:
            return
        if len(self._blocks) >= self._limits.max_units:
            self._cut(f"cut at {self._limits.max_units:,} sections")
        self._blocks.append((text[:_LONGEST_NAME].rstrip(), []))
        self.line(text)

    def line(self, text: str) -> None:
        """Take a paragraph, or a row of a table.

        Raises:
            Full: there is no room for more.
        """
        self._take(text, self._blocks[-1][1])

    def lines(self, texts: list[str]) -> None:
        """Take paragraphs.

        Raises:
            Full: there is no room for more.
        """
        if compiled and (taken := compiled.taken(texts, self.room)):
            lines, self.room = taken
            self._blocks[-1][1].extend(lines)
            return
        for text in texts:
            self.line(text)

    def take_all(self, sections: Iterable[tuple[str, list[str]]]) -> None:
        """Take headings ("" for none) with the paragraphs below each, as far as there is room."""
        with suppress(Full):
            for heading, lines in sections:
                self.heading(heading)
                self.lines(lines)

    def page_break(self, *, rendered: bool = False) -> None:
        """Note that a new page starts here. Breaks count only in a file without headings; manual breaks count only where
        no layout is recorded, because a recorded layout includes them."""
        if len(self._blocks) == 1:
            (self._rendered if rendered else self._hard).append(len(self._blocks[0][1]))

    def aside(self, name: str, lines: list[str]) -> None:
        """Take text outside the main flow of the file, as a section with a name of ours."""
        if lines:
            self._asides.append((name, []))
            for text in lines:
                self._take(text, self._asides[-1][1])

    def _take(self, text: str, lines: list[str]) -> None:
        text = _one_line(text)
        if not text:
            return
        if len(text) > self.room:
            lines.append(text[: self.room])
            self._cut(f"cut at {self._limits.max_text_chars:,} characters")
        self.room -= len(text) + 1
        lines.append(text)

    def finish(self) -> tuple[Unit, ...]:
        """All units, in order.

        Raises:
            Refused: there are none, because the file is damaged.
        """
        first, *sections = self._blocks
        breaks = self._rendered or self._hard
        lead = _pages(first[1], breaks) if breaks and not sections else _paragraphs(first[1])
        seen: Counter[str] = Counter()
        units = list(lead)
        for name, lines in (*sections, *self._asides):
            seen[name] += 1
            pointer = (Part("section", name, nth=seen[name]),)
            units.append(Unit(pointer, "\n".join(lines), heading=name, divisible="paragraphs"))
        return self._kept(units)


def _paragraphs(lines: list[str]) -> tuple[Unit, ...]:
    return (Unit((), "\n".join(lines), divisible="paragraphs"),) if lines else ()


def _pages(lines: list[str], breaks: list[int]) -> tuple[Unit, ...]:
    starts = [0, *breaks]
    ends = [*breaks, len(lines)]
    return tuple(
        Unit((Part("page", first=number),), "\n".join(lines[start:end]), divisible="paragraphs")
        for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1)
        if start < end
    )


def _one_line(text: str) -> str:
    """Collapse spaces and line breaks to one space; a tab stays, because it separates the cells of a row."""
    if "\t" in text:
        return "\t".join(" ".join(cell.split()) for cell in text.split("\t")).strip()
    return " ".join(text.split())
