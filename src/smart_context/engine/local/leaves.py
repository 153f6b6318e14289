"""Choose the row ids of blocks so that SQLite's leaf pages are full.

In: the size of a block.  Out: its row id ("number").
Always: no number is given twice; the assumptions about SQLite here decide only how full its pages are.

SQLite stores rows in pages in the order of their ids. With ascending ids, a row goes into the last page, or into a new one if it does not fit: because
blocks take half a page or more, a tenth of the space stays empty. So each new page reserves some ids. Its first row gets the largest of them, later rows
the ones below it: SQLite puts them into the same page as long as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence

from smart_context.data import dataclass

_NUMBERS = 16  # ids that a page reserves: hardly any page has more blocks
_OPEN = 16  # pages that are filled at a time: with 64, the saving would be only half a per cent larger
_LEAST = 40  # free bytes below which a page counts as full
_PAGE_HEAD = 8  # bytes that a page begins with


@dataclass(slots=True)
class _Page:
    room: int
    number: int  # the last that was given
    left: int  # how many may be given


class Leaves:
    """The pages of a table of blocks that have room."""

    def __init__(self, page_size: int, last: int) -> None:
        """page_size: of the database; last: the largest number that was ever given."""
        self._size, self._last = page_size, last
        self._open: list[_Page] = []

    def number(self, payload: int) -> int:
        """The number for a row of so many bytes."""
        needed = _cell(payload, self._last, self._size)
        page = min((one for one in self._open if one.room >= needed), key=lambda one: one.room, default=None)
        if page is None:
            self._last += _NUMBERS
            page = _Page(self._size - _PAGE_HEAD, self._last + 1, _NUMBERS)
            self._open.append(page)
        page.room -= needed
        page.number -= 1
        page.left -= 1
        if page.room < _LEAST or not page.left:
            self._open.remove(page)
        elif len(self._open) > _OPEN:
            self._open.remove(min(self._open, key=lambda one: one.room))
        return page.number


def payload(told: Sequence[int], data: int) -> int:
    """The size in bytes of the record of a live block: its header, its integer columns (`told`), and `data` bytes of data."""
    return 3 + len(told) + _varint(13 + 2 * data) + sum(map(_whole, told)) + data


def _whole(number: int) -> int:
    """The size in bytes of an integer in a record."""
    return 0 if number in (0, 1) else next((size for size in (1, 2, 3, 4, 6) if number < 1 << 8 * size - 1), 8)


def _cell(payload: int, number: int, usable: int) -> int:
    """The size in bytes of a row in its page, by SQLite's file format: the whole record, or the part that does not go to overflow pages."""
    head = 2 + _varint(payload) + _varint(number)
    if payload <= usable - 35:
        return head + payload
    least = (usable - 12) * 32 // 255 - 23
    over = least + (payload - least) % (usable - 4)
    return head + 4 + (over if over <= usable - 35 else least)


def _varint(number: int) -> int:
    return max(1, (number.bit_length() + 6) // 7)
