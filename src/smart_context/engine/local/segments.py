"""Queries of the local record for segments.

In: numbers of segments and files.  Out: rows, texts.
Always: what a search found before a commit has its text until the next one; numbers that no segment has are left out.
"""

# ruff: noqa: S608  (the parts of queries that vary are the constants below; values are bound)

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from smart_context.engine.local import below, blocks
from smart_context.engine.local.blocks import Kept, Opened, Text
from smart_context.engine.model import Passage, SegmentRow
from smart_context.text import hidden

# For each number, the block that begins at or before it: one lookup in an index.
_HOLDING = f"""SELECT {blocks.COLUMNS} FROM blocks WHERE block_id IN (SELECT
    (SELECT block_id FROM blocks WHERE first <= value ORDER BY first DESC LIMIT 1) FROM json_each(?)) ORDER BY first"""


class Segments(ABC):
    """These queries, for a record that runs SQL."""

    @abstractmethod
    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """What a query gives."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[None]:
        """Translate damage into our errors."""

    def segments(self, segment_ids: Iterable[int]) -> dict[int, SegmentRow]:
        """Segments by id, without their text; those that are not there are left out."""
        with self._reading():
            found = [row for opened, own in self._opened(segment_ids) for row in opened.rows(own)]
        return {row.segment_id: row for row in found}

    def segments_of(self, file_id: int) -> list[SegmentRow]:
        """A file's segments in reading order, without their text."""
        query = f"SELECT {blocks.COLUMNS} FROM blocks WHERE file_id = ? AND dead = 0 ORDER BY first"
        found = self._rows_in(self._rows(query, (file_id,)))
        return sorted(found, key=lambda row: (row.seq, row.segment_id))

    def texts(self, segment_ids: Iterable[int]) -> dict[int, str]:
        """The text of segments, by id."""
        return {one.segment_id: one.text for one in self._texts(segment_ids)}

    def passages(self, segment_ids: Iterable[int]) -> dict[int, Passage]:
        """Segments' text by id, each with its redacted spans."""
        return {
            one.segment_id: Passage(one.text, hidden.unpack(one.hidden, len(one.text)) if one.hidden else ())
            for one in self._texts(segment_ids)
        }

    def living(self) -> list[int]:
        """The id of every live segment, ascending."""
        # Read from an index alone, so that no text is touched.
        query = "SELECT first, count FROM blocks INDEXED BY blocks_by_first WHERE dead = 0 ORDER BY first"
        return [number for first, count in self._rows(query) for number in range(first, first + count)]

    def read_pages(self, folder: str) -> int:
        """How many places in a folder's files have text that OCR read."""
        query = f"""SELECT {blocks.COLUMNS} FROM blocks INDEXED BY blocks_seen JOIN files USING (file_id)
            WHERE seen > 0 AND dead = 0 AND {below.FILES} ORDER BY first"""
        found = self._rows_in(self._rows(query, below.values(folder)))
        return len({(row.file_id, row.pointer) for row in found if row.certainty is not None})

    def _rows_in(self, kept: Iterable[Any]) -> list[SegmentRow]:
        with self._reading():
            return [row for one in kept for row in Opened(Kept(*one)).rows()]

    def _texts(self, segment_ids: Iterable[int]) -> list[Text]:
        with self._reading():
            return [text for opened, own in self._opened(segment_ids) for text in opened.texts(own)]

    def _opened(self, segment_ids: Iterable[int]) -> Iterator[tuple[Opened, list[int]]]:
        """The blocks of segments, each with the ids of those, ascending."""
        wanted = sorted(set(segment_ids))
        for row in self._rows(_HOLDING, (json.dumps(wanted),)):
            kept = Kept(*row)
            own = wanted[bisect_left(wanted, kept.first) : bisect_left(wanted, kept.first + kept.many)]
            if own:
                yield Opened(kept), own
