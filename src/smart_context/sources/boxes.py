"""Put the lines of a page in the order in which they are read.

In: boxes around lines, found anywhere on a page.  Out: the same boxes in order, each with whether a paragraph begins there.
Always: a page is cut where its widest gap is, down to single lines, so that columns are read one after the other; a page that lies
askew is ordered as if it were straight.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Point = tuple[float, float]
_TALL = 1.5  # times as high as wide: a line that is rotated by 90 degrees
_CORE = 0.3  # of a line's height, above and below its middle: only this part counts, because boxes of neighbours touch
_PARAGRAPH = 0.5  # of a line's height, between two lines


@dataclass(frozen=True, slots=True)
class Box:
    """The four corners of a line: upper left, upper right, lower right, lower left."""

    corners: tuple[Point, ...]

    @property
    def width(self) -> float:
        """Along the line."""
        return math.dist(self.corners[0], self.corners[1])

    @property
    def height(self) -> float:
        """Across the line."""
        return math.dist(self.corners[0], self.corners[3])

    def turned(self, width: int, height: int) -> Box:
        """The same line after the page, of this size, is turned upside down."""
        return Box(tuple((width - x, height - y) for x, y in (*self.corners[2:], *self.corners[:2])))


@dataclass(frozen=True, slots=True)
class _Place:
    """A box on the deskewed page: its sides, and where the middle part of its height begins and ends."""

    box: Box
    left: float
    right: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def across(self) -> Point:
        return self.left, self.right

    def down(self) -> Point:
        core = _CORE * (self.bottom - self.top)
        return self.middle - core, self.middle + core


def lie_on_their_side(found: Sequence[Box]) -> bool:
    """Whether most of the text is in rotated lines, as on a page that lies on its side."""
    tall = sum(box.height * box.width for box in found if box.height > _TALL * box.width)
    return 2 * tall > sum(box.height * box.width for box in found)


def in_order(found: Sequence[Box]) -> Iterator[tuple[Box, bool]]:
    """The boxes in reading order, each with whether a paragraph begins there."""
    if not found:
        return
    height = max(1.0, statistics.median(box.height for box in found))
    before: _Place | None = None
    for place in _ordered(_straight(found), height):
        gap = place.top - before.bottom if before else height
        yield place.box, gap > _PARAGRAPH * height or gap < -2 * height
        before = place


def _straight(found: Sequence[Box]) -> list[_Place]:
    """The boxes on the deskewed page."""
    slope = statistics.median(_falls(box) for box in sorted(found, key=lambda box: -box.width)[: len(found) // 2 + 1])
    places = []
    for box in found:
        turned = [
            (x * math.cos(slope) + y * math.sin(slope), y * math.cos(slope) - x * math.sin(slope))
            for x, y in box.corners
        ]
        across, down = sorted(x for x, _ in turned), sorted(y for _, y in turned)
        places.append(_Place(box, across[0], across[-1], sum(down[:2]) / 2, sum(down[2:]) / 2))
    return places


def _falls(box: Box) -> float:
    """The angle of a line, in radians."""
    (left, top), (right, bottom) = box.corners[:2]
    return math.atan2(bottom - top, right - left)


def _ordered(places: list[_Place], height: float) -> Iterator[_Place]:
    waiting = [places]
    while waiting:
        part = waiting.pop()
        cut = _cut(part, height) if len(part) > 1 else None
        if cut is None:
            yield from sorted(part, key=lambda place: (round((place.middle - part[0].middle) / height), place.left))
        else:
            waiting += reversed(cut)


def _cut(part: list[_Place], height: float) -> tuple[list[_Place], list[_Place]] | None:
    """Split the part at its widest gap: horizontally, or vertically where that gap is at least as wide as a line is high."""
    down, lower = _widest_gap([place.down() for place in part])
    across, further = _widest_gap([place.across() for place in part])
    if across >= height and across > down:
        return [place for place in part if place.left < further], [place for place in part if place.left >= further]
    if down > 0:
        above = [place for place in part if place.down()[0] < lower]
        return above, [place for place in part if place.down()[0] >= lower]
    return None


def _widest_gap(extents: list[Point]) -> tuple[float, float]:
    """How wide the widest gap between stretches is, and where it ends; 0 where there is none."""
    widest, ends = 0.0, 0.0
    reached = math.inf
    for begin, end in sorted(extents):
        if begin - reached > widest:
            widest, ends = begin - reached, begin
        reached = end if reached == math.inf else max(reached, end)
    return widest, ends
