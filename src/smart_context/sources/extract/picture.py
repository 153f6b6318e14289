"""Render one page of a PDF, without what is hidden.

In: the bytes of a PDF, a page, its text that redaction has judged, the hidden parts of that, and the words to mark.  Out: a `Drawn`: packed pixels.
Always: every letter on the page is in the judged text, and every hidden one is filled with black before the pixels are packed, or there is
no picture. What redaction has not judged is left out: pictures, annotations, form fields, patterns (which may hold text and pictures), what may be painted
through a mask (which may hold them too), and text that extraction left out, such as text drawn twice. Letters without a known Unicode value are drawn where they stand alone, like bullets. Lines are drawn unchanged.
"""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]  # no types; the raw API is stable across versions

from smart_context.sources.extract import Buffer, Refused, pdf

WIDTH = 900  # pixels
_MOST_HEIGHT = 3000
_MOST_OBJECTS = 50_000
_MOST_CHARS = 100_000
_DEEPEST = 8
_PAD = 2  # pixels around what is filled: smoothed edges
_BLACK, _WHITE = 0xFF000000, 0xFFFFFFFF
_YELLOW = bytes(number * 6 // 10 for number in range(256))  # what is left of blue under a mark
# The functions to count, get and remove the objects of a page, and those of a form on it.
_OF_PAGE = (pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject, pdfium.FPDFPage_RemoveObject)
_OF_FORM = (pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject, pdfium.FPDFFormObj_RemoveObject)
_UNKNOWN = (
    3  # letters in a row without a known Unicode value, or with another by ActualText: more could be a word or a number
)
_ACTUAL = b"ActualText"
_PAINTED = frozenset({pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_PATH})
_SEEN_THROUGH = frozenset({pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING})
_COLOURS = (
    (pdfium.FPDFPageObj_GetFillColor, pdfium.FPDFPageObj_SetFillColor),
    (pdfium.FPDFPageObj_GetStrokeColor, pdfium.FPDFPageObj_SetStrokeColor),
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page in pixels: rows of RGB, each after a zero byte (as PNG has them), packed by zlib. left_out: pictures that were."""

    width: int
    height: int
    packed: bytes
    left_out: int


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters of a page without spaces and hyphens: the text, and the index of each letter in PDFium's list.

    by_object: the letters of each text object that has any, also of a kind that `text` leaves out, by its address.
    """

    text: str
    numbers: Sequence[int]
    by_object: Mapping[int | None, str]


def draw(data: Buffer, page_number: int, judged: str, hidden: Sequence[str], marked: Sequence[str]) -> Drawn:
    """Draw a page.

    Raises: Refused where there is no such page, or it is not certain that everything hidden stays hidden.
    """
    content = data if isinstance(data, bytes) else data[:]
    document = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    if not document:
        raise Refused("damaged", "not a readable PDF")
    try:
        page = pdfium.FPDF_LoadPage(document, page_number - 1)
        if not page:
            raise Refused("no such page", str(page_number))
        try:
            return _page(page, judged, hidden, marked)
        finally:
            pdfium.FPDF_ClosePage(page)
    finally:
        pdfium.FPDF_CloseDocument(document)


def _page(page: pdfium.FPDF_PAGE, judged: str, hidden: Sequence[str], marked: Sequence[str]) -> Drawn:
    text = pdfium.FPDFText_LoadPage(page)
    if not text:
        raise Refused("no picture", "the page has no text")
    try:
        letters = _letters(text)
        if letters.text not in _folded(judged):
            raise Refused("no picture", "the page shows more than its text says")
        black = [box for value in hidden for box in _hidden_boxes(text, letters, value)]
        yellow = [box for value in marked for box in _marked_boxes(text, letters, value)]
    finally:
        pdfium.FPDFText_ClosePage(text)
    left_out = _leave_out(page, _judged_objects(page, letters))
    wide, high = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    if not (wide > 0 and high > 0):
        raise Refused("no picture", "the page has no size")
    width = min(WIDTH, max(1, int(_MOST_HEIGHT * wide / high)))
    height = min(_MOST_HEIGHT, max(1, round(width * high / wide)))
    pixels = ctypes.create_string_buffer(width * height * 3)
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_BGR, pixels, width * 3)
    if not bitmap:
        raise Refused("no picture", "no room for its pixels")
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, _WHITE)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, pdfium.FPDF_REVERSE_BYTE_ORDER)
        size = (width, height)
        _tint(pixels, width, [_on_bitmap(page, size, box, 0) for box in yellow])
        for left, top, right, bottom in [_on_bitmap(page, size, box, _PAD) for box in black]:
            pdfium.FPDFBitmap_FillRect(bitmap, left, top, right - left, bottom - top, _BLACK)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    rows = memoryview(pixels)
    packed = zlib.compressobj(1)
    pieces = [packed.compress(b"\0" + bytes(rows[at : at + width * 3])) for at in range(0, len(pixels), width * 3)]
    return Drawn(width, height, b"".join([*pieces, packed.flush()]), left_out)


def _letters(text: pdfium.FPDF_TEXTPAGE) -> _Letters:
    count = pdfium.FPDFText_CountChars(text)
    if not 0 <= count <= _MOST_CHARS:
        raise Refused("no picture", "the page has too many letters")
    found: list[str] = []
    numbers: list[int] = []
    by_object: dict[int | None, str] = {}
    unknown = 0
    for number in range(count):
        letter = chr(min(pdfium.FPDFText_GetUnicode(text, number), 0x10FFFF))
        is_unknown = not letter.isprintable() and not _is_generated(text, number) and not letter.isspace()
        unknown = unknown + 1 if is_unknown or pdfium.FPDFText_HasUnicodeMapError(text, number) == 1 else 0
        if unknown > _UNKNOWN:
            raise Refused("no picture", "letters of this page have no known meaning")
        folded = _folded(letter)
        found += folded
        numbers += [number] * len(folded)
        address = _address(pdfium.FPDFText_GetTextObject(text, number))
        by_object[address] = by_object.get(address, "") + folded
    return _Letters("".join(found), numbers, by_object)


def _folded(text: str) -> str:
    """Text folded for comparison: without what differs between a page and its extracted text (spaces, hyphens, ligatures)."""
    plain = text.translate(pdf.LIGATURES)
    return "".join(letter for letter in plain if letter.isprintable() and letter not in "- \xa0\xad\ufffe\uffff")


def _hidden_boxes(text: pdfium.FPDF_TEXTPAGE, letters: _Letters, value: str) -> Iterator[tuple[float, ...]]:
    wanted = _folded(value)
    if not wanted:
        return
    at = letters.text.find(wanted)
    if at < 0:
        raise Refused("no picture", "not everything that is hidden was found on the page")
    while at >= 0:
        first, last = letters.numbers[at], letters.numbers[at + len(wanted) - 1]
        for number in range(first, last + 1):
            box = _box(text, number)
            if box is not None:
                yield box
            elif number in letters.numbers[at : at + len(wanted)] and not _is_generated(text, number):
                raise Refused("no picture", "it is not known where something hidden stands")
        at = letters.text.find(wanted, at + 1)


def _marked_boxes(text: pdfium.FPDF_TEXTPAGE, letters: _Letters, value: str) -> Iterator[tuple[float, ...]]:
    """The boxes of a word's letters; a word in ASCII must stand there as a whole word."""
    wanted = _folded(value)
    at = letters.text.find(wanted) if wanted else -1
    while at >= 0:
        first, last = letters.numbers[at], letters.numbers[at + len(wanted) - 1]
        around = [pdfium.FPDFText_GetUnicode(text, number) for number in (first - 1, last + 1) if number >= 0]
        if not any(chr(min(code, 0x10FFFF)).isalnum() for code in around) or not wanted.isascii():
            yield from filter(None, (_box(text, number) for number in range(first, last + 1)))
        at = letters.text.find(wanted, at + len(wanted))


def _is_generated(text: pdfium.FPDF_TEXTPAGE, number: int) -> bool:
    return bool(pdfium.FPDFText_IsGenerated(text, number) == 1)


def _box(text: pdfium.FPDF_TEXTPAGE, number: int) -> tuple[float, ...] | None:
    """The box of a letter, with all the room that its font may take: (left, bottom, right, top); None if it has none."""
    loose = pdfium.FS_RECTF()
    has_loose = pdfium.FPDFText_GetLooseCharBox(text, number, loose)
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    has_tight = pdfium.FPDFText_GetCharBox(text, number, left, right, bottom, top)
    boxes = [(loose.left, loose.bottom, loose.right, loose.top)] if has_loose else []
    boxes += [(left.value, bottom.value, right.value, top.value)] if has_tight else []
    if not boxes:
        return None
    xs = [x for box in boxes for x in (box[0], box[2])]
    ys = [y for box in boxes for y in (box[1], box[3])]
    return (min(xs), min(ys), max(xs), max(ys)) if max(xs) > min(xs) and max(ys) > min(ys) else None


def _on_bitmap(
    page: pdfium.FPDF_PAGE, size: tuple[int, int], box: tuple[float, ...], pad: int
) -> tuple[int, int, int, int]:
    """A box of the page in pixels, inside of the picture: (left, top, right, bottom)."""
    xs, ys = [], []
    for across in (box[0], box[2]):
        for up in (box[1], box[3]):
            x, y = ctypes.c_int(), ctypes.c_int()
            pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, across, up, x, y)
            xs.append(x.value)
            ys.append(y.value)
    low_x, high_x = (max(0, min(size[0], x)) for x in (min(xs) - pad, max(xs) + 1 + pad))
    low_y, high_y = (max(0, min(size[1], y)) for y in (min(ys) - pad, max(ys) + 1 + pad))
    return low_x, low_y, high_x, high_y


def _tint(pixels: ctypes.Array[ctypes.c_char], width: int, boxes: Iterable[tuple[int, int, int, int]]) -> None:
    """Remove blue from the pixels of boxes, once where they overlap: white turns yellow."""
    rows: dict[int, set[int]] = {}
    for left, top, right, bottom in boxes:
        for y in range(top, bottom):
            rows.setdefault(y, set()).update(range(left, right))
    view = memoryview(pixels).cast("B")
    for y, xs in rows.items():
        for x in xs:
            at = (y * width + x) * 3 + 2
            view[at] = _YELLOW[view[at]]


def _address(part: pdfium.FPDF_PAGEOBJECT) -> int | None:
    return ctypes.cast(part, ctypes.c_void_p).value


def _judged_objects(page: pdfium.FPDF_PAGE, letters: _Letters) -> set[int | None]:
    """The text objects whose letters redaction has judged. PDFium's text leaves out what is drawn twice, and has ActualText in place of letters."""
    judged = set(letters.by_object)
    replaced = [part for part, _, _ in _parts(page) if any(_actual_texts(part))]
    for part in replaced:  # only now: several objects may share a mark
        for mark in _actual_texts(part):
            pdfium.FPDFPageObjMark_RemoveParam(part, mark, _ACTUAL)
    if replaced:
        text = pdfium.FPDFText_LoadPage(page)
        try:
            own = _letters(text).by_object
        finally:
            pdfium.FPDFText_ClosePage(text)
        for address in map(_address, replaced):
            if len(own.get(address, "")) > _UNKNOWN and own[address] != letters.by_object.get(address):
                judged.discard(address)
    return judged


def _actual_texts(part: pdfium.FPDF_PAGEOBJECT) -> list[pdfium.FPDF_PAGEOBJECTMARK]:
    """The marks of a text object that replace its letters."""
    if pdfium.FPDFPageObj_GetType(part) != pdfium.FPDF_PAGEOBJ_TEXT:
        return []
    marks = (pdfium.FPDFPageObj_GetMark(part, at) for at in range(pdfium.FPDFPageObj_CountMarks(part)))
    return [mark for mark in marks if pdfium.FPDFPageObjMark_GetParamValueType(mark, _ACTUAL)]


def _leave_out(page: pdfium.FPDF_PAGE, judged: Collection[int | None]) -> int:
    """Remove from the page what redaction has not judged, however nested; return how many pictures there were."""
    pictures = 0
    for part, remove, is_within in _parts(page):
        kind = pdfium.FPDFPageObj_GetType(part)
        is_masked = kind in _SEEN_THROUGH and (is_within or _may_be_masked(part))
        is_strange = kind == pdfium.FPDF_PAGEOBJ_TEXT and _address(part) not in judged
        if is_strange and pdfium.FPDFTextObj_GetTextRenderMode(part) >= pdfium.FPDF_TEXTRENDERMODE_FILL_CLIP:
            raise Refused("no picture", "what the page shows is cut out by text that it does not have")
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE or is_masked or is_strange:
            if not remove(part):
                raise Refused("no picture", "something on the page cannot be left out")
            pdfium.FPDFPageObj_Destroy(part)
            pictures += not is_strange
        elif kind in _PAINTED:
            _paint_plainly(part)
    return pictures


def _may_be_masked(part: pdfium.FPDF_PAGEOBJECT) -> bool:
    """Whether something may be painted through a mask: it is transparent also in full colours. PDFium does not tell masks from groups and ways of blending."""
    if not pdfium.FPDFPageObj_HasTransparency(part):
        return False
    colours = []
    for get, put in _COLOURS:
        colour = [ctypes.c_uint() for _ in range(4)]
        if get(part, *colour):
            colours.append((put, colour))
            put(part, *colour[:3], 255)
    is_one = bool(pdfium.FPDFPageObj_HasTransparency(part))
    for put, colour in colours:
        put(part, *colour)
    return is_one


def _paint_plainly(part: pdfium.FPDF_PAGEOBJECT) -> None:
    """Replace a pattern by the colour that PDFium gives for it; a plain colour stays."""
    for get, put in _COLOURS:
        colour = [ctypes.c_uint() for _ in range(4)]
        if get(part, *colour):
            put(part, *colour)


def _parts(
    holder: pdfium.FPDF_PAGE | pdfium.FPDF_PAGEOBJECT, depth: int = 0, *, is_masked: bool = False
) -> Iterator[tuple[pdfium.FPDF_PAGEOBJECT, Callable[[pdfium.FPDF_PAGEOBJECT], int], bool]]:
    """The objects of a page and of the forms on it, each with the function that removes it, and whether its form may be masked; the last first, so that each may be removed."""
    count_of, part_of, remove = _OF_FORM if depth else _OF_PAGE
    count = count_of(holder)
    if depth > _DEEPEST or not 0 <= count <= _MOST_OBJECTS:
        raise Refused("no picture", "the page has too many parts, or they are nested too deep")
    for number in reversed(range(count)):
        part = part_of(holder, number)
        if pdfium.FPDFPageObj_GetType(part) == pdfium.FPDF_PAGEOBJ_FORM:
            yield from _parts(part, depth + 1, is_masked=is_masked or _may_be_masked(part))
        else:
            yield part, partial(remove, holder), is_masked
