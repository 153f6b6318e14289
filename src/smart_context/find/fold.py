"""Show a text once, however many files hold it.

In: results in order, and what tells copies of their files.  Out: the same without those of copies; and which files are copies of which.
Always: the first file of a text in the order is the one that is shown. A file is compared with files that may be shown alone, so that nothing
depends on others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from smart_context.engine.facts import Marked
from smart_context.engine.model import FileRow
from smart_context.engine.port import Record
from smart_context.find.order import Leading, Placed
from smart_context.text import copies

MOST_ALSO = 5
_COUNTED = 200  # files among which copies are counted; of more, by their share
_NONE = bytes(copies.BINS)


class Folds:
    """Which files hold the same text as one that came before them, or nearly."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # file → the one that stands for it
        self._same: dict[bytes, int] = {}
        self._standing: list[Marked] = []
        self._sketches = _sketches([])

    def stands_for(self, file: Marked) -> int:
        """The file that stands for one: itself, where nothing like it came before."""
        found = self._first.get(file.file_id)
        if found is None:
            found = self.like([file])[0]
            if found is None:
                found = file.file_id
                self._standing.append(file)
                self._sketches = np.concatenate((self._sketches, _sketches([file])))
                if file.same:
                    self._same[file.same] = file.file_id
            self._first[file.file_id] = found
        return found

    def like(self, files: Sequence[Marked]) -> list[int | None]:
        """For each file the one that stands for it, if one does; they are not remembered."""
        if not self._standing:
            return [None] * len(files)
        alike = _alike(_sketches(files), self._sketches)
        near = [self._standing[at].file_id for at in alike.argmax(axis=1)]
        return [
            self._first.get(file.file_id, self._same.get(file.same, other if is_near else None))
            for file, other, is_near in zip(files, near, np.atleast_1d(alike.any(axis=1)), strict=True)
        ]


def _sketches(files: Sequence[Marked]) -> NDArray[np.uint8]:
    data = b"".join(file.like if len(file.like) == copies.BINS else _NONE for file in files)
    return np.frombuffer(data, np.uint8).reshape(-1, copies.BINS)


def _alike(some: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Of each pair, whether `copies.are_alike` holds."""
    left, right = some[:, None, :], others[None, :, :]
    filled = np.count_nonzero(left | right, axis=2)
    both = np.count_nonzero((left == right) & (left != 0), axis=2)
    return np.asarray((filled >= copies.LEAST) & (both >= copies.ALIKE * filled))


def results(placed: Iterable[Placed], folds: Folds) -> Iterator[Placed]:
    """The results without those of copies."""
    for one in placed:
        if folds.stands_for(of_row(one.file)) == one.file.file_id:
            yield one


def also(
    record: Record, page: Iterable[Placed], ahead: Sequence[Marked], folds: Folds, may_show: Callable[[FileRow], bool]
) -> dict[int, tuple[FileRow, ...]]:
    """For each file of a page the others that hold its text, by path, of those that were found."""
    shown = {one.file.file_id for one in page}
    others: dict[int, list[int]] = {}
    for file, stands in zip(ahead, folds.like(ahead), strict=True):
        if stands is not None and stands in shown and file.file_id not in shown:
            others.setdefault(stands, []).append(file.file_id)
    rows = record.files(sorted({i for several in others.values() for i in several})) if others else {}
    return {
        file_id: tuple(sorted(_shown(several, rows, may_show), key=lambda row: os.fsencode(row.path)))[:MOST_ALSO]
        for file_id, several in others.items()
    }


def are_apart(files: Sequence[Marked]) -> bool:
    """Whether none of the files is a copy of another."""
    same = [file.same for file in files if file.same]
    sketches = _sketches(files)
    return len(set(same)) == len(same) and not np.triu(_alike(sketches, sketches), 1).any()


def counted(best: Sequence[Leading], times: Counter[int], record: Record, most: int) -> float:
    """The share of results that is left when copies are folded, at most so many of a file, as the files of the best matches tell it.

    times: how often each file matches. Of files that score the same, no order is told: they are put in one by what they hold.
    """
    scores: dict[int, float] = {}
    last = 0.0
    for file_id, score in best:
        if len(scores) >= _COUNTED and score < last:
            break
        last = scores.setdefault(file_id, score)
    marks = {mark.file_id: mark for mark in record.marks(scores)}
    known = [mark for i in scores if (mark := marks.get(i))]
    known.sort(key=lambda mark: (-scores[mark.file_id], -times[mark.file_id], mark.same, mark.like))
    folds = Folds()
    left = [mark.file_id for mark in known if folds.stands_for(mark) == mark.file_id]
    left += [i for i in scores if i not in marks]
    every = sum(min(times[i], most) for i in scores)
    return sum(min(times[i], most) for i in left) / every if every else 1.0


def of_row(file: FileRow) -> Marked:
    """What tells copies of a file."""
    return Marked(file.file_id, file.same_text, file.like_text)


def _shown(ids: Iterable[int], rows: dict[int, FileRow], may_show: Callable[[FileRow], bool]) -> Iterator[FileRow]:
    return (rows[i] for i in ids if i in rows and may_show(rows[i]))
