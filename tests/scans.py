"""Draw pages as a scanner would give them, and put them into files; say whether OCR can be tested here."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from importlib.util import find_spec

import pytest

from office_files import pdf
from smart_context.model import Extracted, Limits
from smart_context.sources import rapidmodels, tessdata
from smart_context.sources.extract import extract
from smart_context.sources.extract.sight import Engine, Sight

HAS_PIL = find_spec("PIL") is not None
HAS_OCR = tessdata.is_installed() and "eng" in tessdata.available()
needs_ocr = pytest.mark.skipif(not HAS_OCR, reason="OCR is not tested: the extra `ocr` or its English data is missing")
needs_rapidocr = pytest.mark.skipif(
    not rapidmodels.is_installed(), reason="RapidOCR is not tested: the extra `rapidocr` is not installed"
)


def picture(*lines: str, form: str = "PNG", turned: float = 0, size: tuple[int, int] = (1100, 0)) -> bytes:
    """Dark letters on light paper, as a file."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=40)
    page = Image.new("L", (size[0], size[1] or 120 + 70 * len(lines)), 250)
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((50, 50 + 70 * number), line, font=font, fill=10)
    if turned:
        page = page.rotate(turned, Image.Resampling.BICUBIC, expand=True, fillcolor=250)
    made = io.BytesIO()
    page.save(made, form)
    return made.getvalue()


def blank(kind: str) -> bytes:
    """A picture without letters: `white`, `noise` or `bars`."""
    from PIL import Image

    page = {
        "white": Image.new("L", (800, 400), 255),
        "noise": Image.radial_gradient("L").resize((800, 400)),
        "bars": Image.linear_gradient("L").resize((800, 400)),
    }[kind]
    made = io.BytesIO()
    page.save(made, "PNG")
    return made.getvalue()


def see(data: bytes, engine: Engine | None, name: str = "a", **more: object) -> Extracted:
    """What is read from a file with an OCR engine."""
    found = extract(data, name, Limits(), Sight(engine, **more))  # type: ignore[arg-type]
    assert isinstance(found, Extracted)
    return found


def png(width: int, height: int, data: bytes = b"") -> bytes:
    """A PNG that claims this size, with these packed pixels."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def tiff(*pages: bytes) -> bytes:
    """A TIFF of several pages."""
    from PIL import Image

    first, *rest = [Image.open(io.BytesIO(page)) for page in pages]
    made = io.BytesIO()
    first.save(made, "TIFF", save_all=True, append_images=rest)
    return made.getvalue()


def scan(*pages: tuple[bytes, str]) -> bytes:
    """A PDF with a page for each (JPEG that covers it, or nothing; text of its own, or nothing)."""
    objects: list[str | bytes] = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    kids: list[str] = []
    for jpeg, text in pages:
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        resources = "/Font<</F 3 0 R>>" + (f"/XObject<</I {number + 2} 0 R>>" if jpeg else "")
        drawn = ("q 396 0 0 144 0 0 cm /I Do Q " if jpeg else "") + (
            f"BT /F 8 Tf 20 20 Td ({text}) Tj ET" if text else ""
        )
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 396 144]/Contents {number + 1} 0 R/Resources<<{resources}>>>>",
            f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream",
        ]
        if jpeg:
            objects.append(_image(jpeg))
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    return pdf(objects)


def _image(jpeg: bytes) -> bytes:
    from PIL import Image

    width, height = Image.open(io.BytesIO(jpeg)).size
    head = (
        f"<</Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceGray/BitsPerComponent 8"
        f"/Filter/DCTDecode/Length {len(jpeg)}>>stream\n"
    )
    return head.encode() + jpeg + b"\nendstream"


def page(*lines: str, turned: float = 0) -> bytes:
    """A JPEG of the shape of `scan`'s pages."""
    return picture(*lines, form="JPEG", turned=turned, size=(1100, 400))


def words(texts: Sequence[str]) -> str:
    """Texts as one line, to compare."""
    return " ".join(" ".join(texts).split())
