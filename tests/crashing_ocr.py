"""A process that reads with OCR and crashes on a dark picture; every other says "read"."""

from __future__ import annotations

import os
from collections.abc import Sequence

from smart_context.index import ocr_child
from smart_context.sources import tesseract
from smart_context.sources.extract.sight import Bitmap, Recognized


class Crashing(tesseract.Tesseract):
    def read(self, bitmap: Bitmap) -> Recognized:
        if sum(bitmap.pixels[::97]) < 128 * len(bitmap.pixels[::97]) and bitmap.height > 200:
            os.abort()
        return Recognized("read", 90)


def main(args: Sequence[str]) -> None:
    tesseract.Tesseract = Crashing  # type: ignore[misc]
    ocr_child.main(args)
