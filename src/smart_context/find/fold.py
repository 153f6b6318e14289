"""Fold copies: show a text once, however many files have it.

In: results in order, with the hashes and sketches of their files (`Marked`).  Out: the same without copies; and which files are copies of which.
Always: of the files with the same text, the first in the order is shown. A file is compared only with files that may be shown, so that the answer does not
depend on others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice, pairwise, starmap
from operator import le

from smart_context.engine.facts import Marked
from smart_context.engine.model import FileRow
from smart_context.engine.port import Record
from smart_context.find.order import Leading, Placed
from smart_context.text import copies

MOST_ALSO = 5
_COUNTED = 200  # files among which copies are counted; for more, their share is extrapolated


class Folds:
    """Which files have the same text as an earlier one, or nearly."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # file → its representative
        self._same: dict[bytes, int] = {}
        self._standing: list[int] = []  # representatives
        self._likes: list[bytes] = []  # their sketches

    def is_copy(self, file: Marked) -> bool:
        """Whether a file has the text of another one that stands; it is not added itself."""
        found = self.representative(file)
        if found is None:
            return False
        self._first[file.file_id] = found
        return found != file.file_id

    def stand(self, file: Marked) -> None:
        """Let a file that is no copy represent its text."""
        if file.file_id in self._first:
            return
        self._first[file.file_id] = file.file_id
        self._standing.append(file.file_id)
        self._likes.append(file.like)
        if file.same:
            self._same[file.same] = file.file_id

    def representative(self, file: Marked) -> int | None:
        """The first file with the same text, or nearly, which may be the file itself; None if there is none yet."""
        known = self._first.get(file.file_id, self._same.get(file.same))
        if known is None and (at := copies.first_near(file.like, self._likes)) is not None:
            known = self._standing[at]
        return known


def results(
    placed: Iterable[Placed], folds: Folds, folded: set[int], is_there: Callable[[FileRow], bool]
) -> Iterator[Placed]:
    """The results without those of copies, and of files that are not there; folded: receives these files.

    A copy of a file that is shown is not looked for on the disk: hundreds of them may come before the last result of a page.
    """
    for one in placed:
        file = of_row(one.file)
        if not folds.is_copy(file) and is_there(one.file):
            folds.stand(file)
            yield one
        else:
            folded.add(file.file_id)


def also(
    files: Callable[[Sequence[int]], Mapping[int, FileRow]],
    page: Iterable[Placed],
    ahead: Sequence[Marked],
    folds: Folds,
    may_show: Callable[[FileRow], bool],
) -> dict[int, tuple[FileRow, ...]]:
    """The copies of each file of a page among the files found, by path; files: reads the rows of files."""
    shown = {one.file.file_id for one in page}
    others: dict[int, list[int]] = {}
    for file in ahead:
        stands = folds.representative(file)
        if stands is not None and stands in shown and file.file_id not in shown:
            others.setdefault(stands, []).append(file.file_id)
    rows = files(sorted({i for several in others.values() for i in several})) if others else {}
    return {
        file_id: tuple(islice(filter(may_show, _by_path(several, rows)), MOST_ALSO))
        for file_id, several in others.items()
    }


def are_apart(files: Sequence[Marked]) -> bool:
    """Whether none of the files is a copy of another."""
    return all(_standing(files))


def counted(
    best: Iterable[Leading], times: Counter[int], record: Record, most: int, ahead: Sequence[Marked] = ()
) -> float:
    """The share of results that is left when copies are folded, with at most `most` per file, estimated from the files of the best matches.

    times: how often each file matches. ahead: the marks of some files. Files that tie have no order of their own: they are sorted by their
    content.
    """
    scores: dict[int, float] = {}
    last, room = 0.0, _COUNTED
    for file_id, score in best:
        if room <= 0 and score < last:
            break
        if file_id not in scores:
            scores[file_id] = score
            room -= 1
        last = score  # the score of this match: its file may have a better one
    marks = {mark.file_id: mark for mark in ahead}
    marks.update((mark.file_id, mark) for mark in record.marks(scores.keys() - marks))
    known = [mark for i in scores if (mark := marks.get(i))]
    if any(starmap(le, pairwise(scores.values()))):  # else they are in order
        known.sort(key=lambda mark: (-scores[mark.file_id], -times[mark.file_id], mark.same, mark.like))
    left = [mark.file_id for mark in apart(known)]
    left += [i for i in scores if i not in marks]
    shown = {i: min(times[i], most) for i in scores}
    every = sum(shown.values())
    return sum(map(shown.__getitem__, left)) / every if every else 1.0


def apart(files: Sequence[Marked]) -> Iterator[Marked]:
    """The files without copies of an earlier one."""
    return compress(files, _standing(files))


def _standing(files: Sequence[Marked]) -> list[bool]:
    """For each file, whether it is not a copy of an earlier one."""
    return copies.standing([file.same for file in files], [file.like for file in files])


def of_row(file: FileRow) -> Marked:
    """The marks that identify copies of a file."""
    return Marked(file.file_id, file.same_text, file.like_text)


def _by_path(ids: Iterable[int], rows: Mapping[int, FileRow]) -> list[FileRow]:
    return sorted((rows[i] for i in ids if i in rows), key=lambda row: os.fsencode(row.path))
