"""The metadata of a file: its title, its author, and its date.

In: values as stored in each format.  Out: `About`, and dates as `2024-03-31`.
Always: each is one short line; an invalid date is "".
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from smart_context.data import dataclass
from smart_context.model import Extracted, Unit

LONGEST = 200
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"(?:D:)?\s*(\d{4})(?:-(\d{1,2})-(\d{1,2})|(\d\d)(\d\d))(?!\d{1,2}-)")


@dataclass(frozen=True, slots=True)
class About:
    """Properties of a file; "" for missing ones."""

    title: str = ""
    author: str = ""
    dated: str = ""

    def extracted(self, kind: str, units: tuple[Unit, ...], notes: tuple[str, ...] = ()) -> Extracted:
        """The text of the file with its properties."""
        return Extracted(kind, self.title, units, notes, line(self.author), self.dated)


def line(text: str) -> str:
    """A property on one line, cut between two words: redaction cannot recognise half an address."""
    made = " ".join(text[: 4 * LONGEST].split())
    return made if len(made) <= LONGEST else made[: LONGEST + 1].rpartition(" ")[0]


def day(*texts: str) -> str:
    """The first of these that is a date, as `2024-03-31`: ISO 8601, PDF's `D:20240331…`, or as mail has it. The day is the writer's."""
    return next((found for text in texts if (found := _day(text.strip()[:100]))), "")


def day_of_filetime(raw: bytes) -> str:
    """The day of a time that Windows counts from 1601, in tenths of microseconds."""
    try:
        found = _EPOCH + timedelta(microseconds=int.from_bytes(raw[:8], "little") // 10)
    except (OverflowError, ValueError):
        return ""
    return _plausible(found.date())


def _day(text: str) -> str:
    try:
        if match := _DATE.match(text):
            year, *rest = match[1], match[2] or match[4], match[3] or match[5]
            return _plausible(date(int(year), *map(int, rest)))
        return _plausible(parsedate_to_datetime(text).date()) if text else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _plausible(found: date) -> str:
    # Other years are zeros and counters from programs that had no date.
    return found.isoformat() if 1970 <= found.year < 2100 else ""
