"""Gather the members of a container: an archive's entries, a message's attachments.

In: names and bytes, one at a time.  Out: their units, each pointer prefixed with where it was found.
Always: one bad member costs a note and nothing else; the whole stays within the limits of one file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from smart_context.data import dataclass, field, replace
from smart_context.model import Extracted, Part, Skipped, Unit
from smart_context.sources.extract import Buffer, Job, Refused, extract_nested

_MOST_NOTES = 20


@dataclass(slots=True)
class Gathered:
    """What has been found inside so far. `part`: how pointers name a member, "entry" or "attachment"."""

    job: Job
    part: str
    units: list[Unit] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    is_full: bool = False
    _notes: list[str] = field(default_factory=list)
    _unsaid: int = 0
    _chars: int = 0
    _seen: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, data: Buffer) -> None:
        """Read one member from its bytes."""
        self.nest(name, lambda job: extract_nested(data, job))

    def nest(self, name: str, read: Callable[[Job], Extracted | Skipped]) -> None:
        """Read one member with `read`. Beyond the limits nothing more is read, and one note says so."""
        if self.is_full:
            return
        try:
            self.job.meter.enter()
        except Refused as refusal:
            self.is_full = True
            self.note(f"cut: {refusal}")
            return
        try:
            found = read(self.job.nested(name, (Part(self.part, name, self._seen[name] + 1),)))
        except Refused as refusal:
            found = Skipped("", refusal.reason, refusal.detail)
        except Exception as error:  # noqa: BLE001 — hostile bytes, in a child process: the other members are still good
            found = Skipped("", "reader failed", type(error).__name__)
        self._take(name, found)

    def _take(self, name: str, found: Extracted | Skipped) -> None:
        self.names.append(name)
        if isinstance(found, Skipped):
            if found.kind != "empty":
                self.skip(name, found.reason, found.detail)
            return
        self._seen[name] += 1
        prefix = Part(self.part, name, self._seen[name])
        for unit in found.units:
            if self._is_over(unit):
                return
            self.units.append(replace(unit, pointer=(prefix, *unit.pointer), heading=unit.heading or found.title))
        for note in found.notes:
            self.note(f"{self.part} '{name}': {note}")

    def skip(self, name: str, reason: str, detail: str = "") -> None:
        """Note a member that gives no text."""
        self.note(f"{self.part} '{name}' skipped: {reason}" + (f" ({detail})" if detail and detail != reason else ""))

    def note(self, text: str) -> None:
        """Note something for the user; after the first few only how many there were."""
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(text)
        else:
            self._unsaid += 1

    def sorted_units(self) -> tuple[Unit, ...]:
        """The units by the name of their member, each member's in its own order."""
        return tuple(sorted(self.units, key=lambda unit: (unit.pointer[0].name, unit.pointer[0].nth)))

    def notes(self) -> tuple[str, ...]:
        """The notes in order."""
        more = (f"{self._unsaid:,} more notes left out",) if self._unsaid else ()
        return (*self._notes, *more)

    def _is_over(self, unit: Unit) -> bool:
        limits = self.job.limits
        self._chars += len(unit.text)
        if len(self.units) < limits.max_units and self._chars <= limits.max_text_chars:
            return False
        if not self.is_full:
            self.is_full = True
            self._notes.append("cut: more text inside than one file may hold")
        return True
