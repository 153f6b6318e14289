"""Show a text once, however many files hold it.

In: results in order, and what tells copies of their files.  Out: the same without those of copies; and which files are copies of which.
Always: the first file of a text in the order is the one that is shown. A file is compared with files that may be shown alone, so that nothing
depends on others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from smart_context.engine.facts import Marked
from smart_context.engine.model import FileRow
from smart_context.engine.port import Record
from smart_context.find.order import Placed
from smart_context.text import copies

MOST_ALSO = 5
# Stretches of a sketch by which others are looked for: of texts that agree, one of them is the same in both, as good as always.
_KEYS, _KEY = 16, 4
_EMPTY = bytes(_KEY)


class Folds:
    """Which files hold the same text as one that came before them, or nearly."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # file → the one that stands for it
        self._same: dict[bytes, int] = {}
        self._near: dict[tuple[int, bytes], list[Marked]] = {}

    def stands_for(self, file: Marked) -> int:
        """The file that stands for one: itself, where nothing like it came before."""
        found = self._first.get(file.file_id)
        if found is None:
            found = self._first[file.file_id] = self._look(file)
        return found

    def like(self, file: Marked) -> int | None:
        """The file that stands for one like this, if one does; the file itself is not remembered."""
        found = self._first.get(file.file_id)
        return self._known(file) if found is None else found

    def _look(self, file: Marked) -> int:
        known = self._known(file)
        if known is None and file.same:
            self._same[file.same] = file.file_id
            for key in _keys(file):
                self._near.setdefault(key, []).append(file)
        return file.file_id if known is None else known

    def _known(self, file: Marked) -> int | None:
        if not file.same:
            return None
        if file.same in self._same:
            return self._same[file.same]
        for key in _keys(file):
            for one in self._near.get(key, ()):
                if copies.are_alike(one.like, file.like):
                    return one.file_id
        return None


def results(placed: Iterable[Placed], folds: Folds) -> Iterator[Placed]:
    """The results without those of copies."""
    for one in placed:
        if folds.stands_for(of_row(one.file)) == one.file.file_id:
            yield one


def also(
    record: Record, page: Iterable[Placed], ahead: Iterable[Marked], folds: Folds, may_show: Callable[[FileRow], bool]
) -> dict[int, tuple[FileRow, ...]]:
    """For each file of a page the others that hold its text, by path, of those that were found."""
    shown = {one.file.file_id for one in page}
    others: dict[int, list[int]] = {}
    for file in ahead:
        stands = folds.like(file) if file.file_id not in shown else None
        if stands is not None and stands in shown:
            others.setdefault(stands, []).append(file.file_id)
    rows = record.files(sorted({i for several in others.values() for i in several})) if others else {}
    return {
        file_id: tuple(sorted(_shown(several, rows, may_show), key=lambda row: os.fsencode(row.path)))[:MOST_ALSO]
        for file_id, several in others.items()
    }


def are_apart(files: Iterable[Marked]) -> bool:
    """Whether none of the files is a copy of another."""
    folds = Folds()
    return all(folds.stands_for(file) == file.file_id for file in files)


def counted(files: Iterable[int], record: Record, most: int) -> int:
    """How many results the matches in these files come to, at most so many of a file."""
    times = Counter(files)
    marks = {mark.file_id: mark for mark in record.marks(times)}
    folds = Folds()
    return sum(
        min(count, most)
        for file_id, count in times.items()
        if file_id not in marks or folds.stands_for(marks[file_id]) == file_id
    )


def of_row(file: FileRow) -> Marked:
    """What tells copies of a file."""
    return Marked(file.file_id, file.same_text, file.like_text)


def _shown(ids: Iterable[int], rows: dict[int, FileRow], may_show: Callable[[FileRow], bool]) -> Iterator[FileRow]:
    return (rows[i] for i in ids if i in rows and may_show(rows[i]))


def _keys(file: Marked) -> Iterator[tuple[int, bytes]]:
    stretches = ((at, file.like[at : at + _KEY]) for at in range(0, _KEYS * _KEY, _KEY))
    return (key for key in stretches if key[1] != _EMPTY)
