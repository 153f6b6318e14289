"""Join the lines that an OCR engine read to one text, with their mean certainty.

In: lines with their certainty, or a page in shades of grey.  Out: a `Recognized`; whether a page shows anything, and dark on light.
Always: lines too uncertain to be words are left out, and a page of nothing else has no text; a word divided at the end of a line is joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context.sources.extract.sight import Bitmap, Recognized

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

WELL = 70
"""Of 100: a page read so stands upright."""
_RUBBISH = 30  # of 100: lines less certain are marks and pictures, not words
_PAGE_RUBBISH = 45
_FLAT = 24  # shades between the darkest and the lightest point of a blank page
_DARK = 96  # mean shade of a page with light letters
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3000-\u303f\uff00-\uffef"
_SPACED = re.compile(f"(?<=[{_CJK}]) +(?=[{_CJK}])")
_DIVIDED = re.compile(r"(?<=[^\W\d_])[-\u2010\xad]\n(?=[a-z\u00df-\u00ff\u0430-\u045f])")


@dataclass(frozen=True, slots=True)
class Line:
    """A line with letters or digits: how certain it is, and whether a paragraph begins with it."""

    text: str
    certainty: float
    begins: bool


def page(bitmap: Bitmap) -> Picture | None:
    """The picture with dark letters on light; None where it is blank."""
    from PIL import Image, ImageOps

    picture = Image.frombytes("L", (bitmap.width, bitmap.height), bitmap.pixels)
    low, high = picture.getextrema()
    if high - low < _FLAT:  # type: ignore[operator]  # one band
        return None
    return ImageOps.invert(picture) if _mean(picture) < _DARK else picture


def said(lines: Sequence[Line]) -> Recognized:
    """The lines as one text."""
    kept = [line for line in lines if line.certainty >= _RUBBISH]
    sure = certainty(kept)
    if sure < _PAGE_RUBBISH:
        return Recognized("", 0)
    text = "".join(("\n\n" if line.begins else "\n") + line.text for line in kept).strip()
    return Recognized(_DIVIDED.sub(_put_together, _SPACED.sub("", text)), min(100, max(1, round(sure))))


def certainty(lines: Sequence[Line]) -> float:
    """The mean certainty of lines, weighted by their characters."""
    chars = sum(len(line.text) for line in lines)
    return sum(line.certainty * len(line.text) for line in lines) / chars if chars else 0.0


def _put_together(divided: re.Match[str]) -> str:
    """As in a PDF: a divided word keeps its hyphen, which may belong to it, where search also finds the word without it."""
    before = divided.string[divided.start() - 1]
    after = divided.string[divided.end()]
    return "-" if (before + after).isascii() else ""


def _mean(picture: Picture) -> float:
    counts = picture.reduce(8).histogram() if min(picture.size) >= 8 else picture.histogram()
    return sum(shade * count for shade, count in enumerate(counts)) / max(1, sum(counts))
