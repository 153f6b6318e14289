"""Fold copies: show a text once, however many files have it.

In: results in order, with the hashes and sketches of their files (`Marked`).  Out: the same without copies; and which files are copies of which.
Always: of the files with the same text, the first in the order is shown. A file is compared only with files that may be shown, so that the answer does not
depend on others.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice, pairwise, starmap
from operator import le
from typing import TYPE_CHECKING

from smart_context.engine.facts import Marked
from smart_context.engine.model import FileRow
from smart_context.engine.port import Record
from smart_context.find.order import Leading, Placed
from smart_context.text import copies

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

MOST_ALSO = 5
_COUNTED = 200  # files among which copies are counted; for more, their share is extrapolated
_FEW = 60  # files that are compared one by one
_AT_ONCE = 1 << 20  # comparisons of four bytes of a sketch in memory at a time
_LOOKS = 200  # pairs of files up to which comparing them one by one is faster than with NumPy


class Folds:
    """Which files have the same text as an earlier one, or nearly."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # file → its representative
        self._same: dict[bytes, int] = {}
        self._standing: dict[int, int] = {}  # representative → its sketch as a number
        self._likes: list[bytes] = []  # their sketches
        self._having: dict[
            bytes, list[int]
        ] = {}  # a piece of a sketch → the files of these that have it; b"" → those without any

    def stands_for(self, file: Marked) -> int:
        """The representative of a file: the first file with its text, which may be itself."""
        if self.is_copy(file):
            return self._first[file.file_id]
        self.stand(file)
        return file.file_id

    def is_copy(self, file: Marked) -> bool:
        """Whether a file has the text of another one that stands; it is not added itself."""
        found = self._first.get(file.file_id)
        if found is None:
            found = self._found(file)
            if found is None:
                return False
            self._first[file.file_id] = found
        return found != file.file_id

    def stand(self, file: Marked) -> None:
        """Let a file that is no copy represent its text."""
        if file.file_id not in self._first:
            self._first[file.file_id] = file.file_id
            self._stand(file)

    def like(self, files: Sequence[Marked]) -> list[int | None]:
        """The representative of each file, or None; the files are not added."""
        if copies.is_quick() or len(files) * len(self._standing) <= _LOOKS or "numpy" not in sys.modules:
            first, same = self._first, self._same
            known = (first.get(file.file_id, same.get(file.same)) for file in files)
            return [self._first_near(file) if one is None else one for file, one in zip(files, known, strict=True)]
        standing = list(self._standing.items())
        near = _may_be_near([file.like for file in files], [copies.sketch(number) for _, number in standing])
        some = near.sum(axis=1).tolist()
        return [
            self._among(file, [standing[i] for i in near[at].nonzero()[0].tolist()] if some[at] else ())
            for at, file in enumerate(files)
        ]

    def _stand(self, file: Marked) -> None:
        self._standing[file.file_id] = copies.number(file.like)
        self._likes.append(file.like)
        if file.same:
            self._same[file.same] = file.file_id
        if copies.is_quick():
            return
        if self._having:
            self._keep(file.file_id, file.like)
        elif len(self._standing) > _LOOKS:
            for file_id, number in self._standing.items():
                self._keep(file_id, copies.sketch(number))

    def _keep(self, file_id: int, sketch: bytes) -> None:
        for piece in copies.pieces(sketch) or (b"",):
            self._having.setdefault(piece, []).append(file_id)

    def _first_near(self, file: Marked) -> int | None:
        """The first representative with nearly the same text; of many, only those with a piece of the sketch in common are compared."""
        pieces = copies.pieces(file.like) if self._having else set()
        if not pieces:
            at = copies.first_alike(file.like, self._likes)
            return None if at is None else next(islice(self._standing, at, None))
        may_be = {file_id for piece in (b"", *pieces) for file_id in self._having.get(piece, ())}
        sketch = copies.number(file.like)
        near = [file_id for file_id in may_be if copies.are_near(sketch, self._standing[file_id])]
        return next((file_id for file_id in self._standing if file_id in near), None) if near else None

    def _known(self, file: Marked) -> int | None:
        return self._first.get(file.file_id, self._same.get(file.same))

    def _among(self, file: Marked, near: Sequence[tuple[int, int]]) -> int | None:
        """The representative of a file, if known, or else among the candidates in `near`."""
        known = self._known(file)
        if known is None and near:
            sketch = copies.number(file.like)
            known = next((file_id for file_id, number in near if copies.are_near(sketch, number)), None)
        return known

    def _found(self, file: Marked) -> int | None:
        known = self._known(file)
        return self._first_near(file) if known is None else known


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
    for file, stands in zip(ahead, folds.like(ahead), strict=True):
        if stands is not None and stands in shown and file.file_id not in shown:
            others.setdefault(stands, []).append(file.file_id)
    rows = files(sorted({i for several in others.values() for i in several})) if others else {}
    return {
        file_id: tuple(islice(filter(may_show, _by_path(several, rows)), MOST_ALSO))
        for file_id, several in others.items()
    }


def are_apart(files: Sequence[Marked]) -> bool:
    """Whether none of the files is a copy of another."""
    same = [file.same for file in files if file.same]
    if len(set(same)) < len(same):
        return False
    if copies.is_quick():
        return all(_standing(files))
    before: list[int] = []
    short: list[int] = []  # of those before, the sketches without pieces
    met: set[bytes] = set()  # the pieces of the others
    looks, most = 0, _LOOKS if "numpy" in sys.modules else _FEW * _FEW // 2
    for file in files:
        sketch, pieces = copies.number(file.like), copies.pieces(file.like)
        among = short if pieces and met.isdisjoint(pieces) else before
        looks += len(among)
        if looks > most:  # similar files that are no copies: comparing all at once is faster
            return all(_standing(files))
        if copies.first_near(sketch, among) is not None:
            return False
        before.append(sketch)
        short += () if pieces else (sketch,)
        met |= pieces
    return True


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


def _standing(files: Sequence[Marked]) -> Iterable[bool]:
    """For each file, whether it is not a copy of an earlier one."""
    if len(files) > _FEW and not copies.is_quick():
        return _at_once(files)
    return copies.standing([file.same for file in files], [file.like for file in files])


def _at_once(files: Sequence[Marked]) -> Iterator[bool]:
    """The same for many files: NumPy compares all sketches roughly, so that few pairs are left to compare exactly."""
    import numpy as np

    like = [file.like for file in files]
    near = np.tril(_may_be_near(like, like), -1)  # to those before
    some = near.sum(axis=1).tolist()
    sketches = [copies.number(one) for one in like]
    stands = np.zeros(len(files), np.bool_)
    same: set[bytes] = set()
    for at, file in enumerate(files):
        others: list[int] = (near[at] & stands).nonzero()[0].tolist() if some[at] else []
        if file.same in same or any(copies.are_near(sketches[at], sketches[other]) for other in others):
            yield False
            continue
        stands[at] = True
        if file.same:
            same.add(file.same)
        yield True


def _may_be_near(some: Sequence[bytes], others: Sequence[bytes]) -> Flags:
    """One row per sketch, one column per other sketch: False where they certainly differ too much."""
    import numpy as np

    # Four bins are compared as one number: two sketches differ in at most as many of these as in bins.
    rows, columns = (
        np.ascontiguousarray(np.frombuffer(_joined(several), np.uint32).reshape(len(several), -1).T)
        for several in (some, others)
    )
    differing = np.zeros((len(some), len(others)), np.uint8)
    step = max(1, _AT_ONCE // max(1, differing.size))
    for at in range(0, len(rows), step):
        unlike = rows[at : at + step, :, None] != columns[at : at + step, None, :]
        differing += unlike.sum(axis=0, dtype=np.uint8)
    return differing <= copies.DIFFERING


def _joined(sketches: Sequence[bytes]) -> bytes:
    return b"".join(one if len(one) == copies.BINS else bytes(copies.BINS) for one in sketches)


def of_row(file: FileRow) -> Marked:
    """The marks that identify copies of a file."""
    return Marked(file.file_id, file.same_text, file.like_text)


def _by_path(ids: Iterable[int], rows: Mapping[int, FileRow]) -> list[FileRow]:
    return sorted((rows[i] for i in ids if i in rows), key=lambda row: os.fsencode(row.path))
