"""Tell which pages of a PDF need OCR, and render them for it.

In: a page that PDFium has loaded, and its text.  Out: whether it needs OCR, and its pixels.
Always: the test is cheap on any page: it looks at a few objects of the page, and renders none.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]  # no types; the raw API is stable across versions

from smart_context.sources.extract.pictures import DPI, MOST_PIXELS
from smart_context.sources.extract.sight import Bitmap, Unreadable

_POINTS = 72  # an inch
_COVERED = 0.6  # of a page
# Objects of a page to look at from each end: a scan's picture is the first or the last one. Where one is a picture, the larger number
# is looked at: a scan may consist of strips.
_FEW, _MANY = 3, 40
_WHITE = 0xFFFFFFFF


def is_for_the_eye(page: pdfium.FPDF_PAGE, text: str) -> bool:
    """Whether the page shows something and has no text, or is covered by pictures, whatever its text says."""
    count = pdfium.FPDFPage_CountObjects(page)
    if count <= 0:
        return False
    if not text.strip():
        return True
    if not any(_is_picture(pdfium.FPDFPage_GetObject(page, number)) for number in _ends(count, _FEW)):
        return False
    area = pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)
    parts = (pdfium.FPDFPage_GetObject(page, number) for number in _ends(count, _MANY))
    return bool(0 < _COVERED * area <= sum(_area(part) for part in parts if _is_picture(part)))


def _ends(count: int, most: int) -> Iterable[int]:
    return range(count) if count <= 2 * most else (*range(most), *range(count - most, count))


def _is_picture(part: pdfium.FPDF_PAGEOBJECT) -> bool:
    kind = pdfium.FPDFPageObj_GetType(part)
    if kind != pdfium.FPDF_PAGEOBJ_FORM:
        return bool(kind == pdfium.FPDF_PAGEOBJ_IMAGE)
    # Some programs wrap the picture of a page in a form object: one picture and nothing else.
    return bool(
        pdfium.FPDFFormObj_CountObjects(part) == 1
        and pdfium.FPDFPageObj_GetType(pdfium.FPDFFormObj_GetObject(part, 0)) == pdfium.FPDF_PAGEOBJ_IMAGE
    )


def _area(part: pdfium.FPDF_PAGEOBJECT) -> float:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(part, left, bottom, right, top):
        return 0.0
    return max(0.0, right.value - left.value) * max(0.0, top.value - bottom.value)


def drawn(page: pdfium.FPDF_PAGE) -> Iterator[Bitmap]:
    """Draw a page.

    Raises: Unreadable.
    """
    wide, high = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    if not (wide > 0 and high > 0):
        raise Unreadable("the page has no size")
    scale = min(DPI / _POINTS, math.sqrt(MOST_PIXELS / (wide * high)))
    width, height = max(1, int(wide * scale)), max(1, int(high * scale))
    if width * height > MOST_PIXELS:  # a page as thin as a line
        raise Unreadable("the page has no size")
    pixels = ctypes.create_string_buffer(width * height)
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_Gray, pixels, width)
    if not bitmap:
        raise Unreadable("no room for its pixels")
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, _WHITE)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_GRAYSCALE
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    yield Bitmap(width, height, pixels.raw[: width * height], max(70, round(scale * _POINTS)))
