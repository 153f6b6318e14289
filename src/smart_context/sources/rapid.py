"""Read text from pixels with RapidOCR: one network finds the lines, another reads each of them.

In: grey pixels.  Out: lines of text, and how certain they are.
Always: both networks are loaded when the engine is made, so that reading opens no file; nothing is fetched; one thread; a picture takes a
bounded time, which is checked between two lines. A page on its side or upside down is turned, judging by its lines.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from smart_context.sources import boxes, lines
from smart_context.sources.boxes import Box
from smart_context.sources.extract.sight import Bitmap, Recognized, Unreadable
from smart_context.sources.rapidmodels import FINDS, READS

# Before the libraries are loaded: a jailed process has one thread, and the model runtime must send no telemetry.
os.putenv("OPENBLAS_NUM_THREADS", "1")
os.putenv("ORT_DISABLE_TELEMETRY", "1")

import cv2
import numpy as np
import rapidocr
from PIL import Image, ImageDraw, ImageFont

SECONDS = 40.0  # of CPU time, for one picture
_SIDE = 960  # pixels of the longer side of the picture in which lines are detected
_WIDEST = 100  # times as wide as high; a longer line is squeezed, because memory grows with its width
_SURE = 50  # of 100: what is read with less certainty is not a line
_TRIED = 3  # lines that decide whether a page is upside down
_STANDS = 90  # of 100: lines read with this certainty are upright; upside-down ones reach 76
_Read = dict[Box, tuple[str, float]]


class Rapid:
    """RapidOCR with the networks of its wheel."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """files: where the networks are (`rapidmodels.files`)."""
        cv2.setNumThreads(1)
        self._ask = rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Global.use_preprocess_img": False,
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Det.model_path": files[FINDS],  # named, so that none is looked for or fetched
                "Det.limit_type": "max",
                "Det.limit_side_len": _SIDE,
                "Rec.model_path": files[READS],
                "Rec.rec_batch_num": 1,
            }
        )
        self._warm_up()

    def _warm_up(self) -> None:
        """Load everything that is loaded on first use, the networks included."""
        page = Image.new("L", (600, 200), 255)
        ImageDraw.Draw(page).text((40, 80), "Everything is loaded", font=ImageFont.load_default(size=40), fill=0)
        self.read(Bitmap(page.width, page.height, page.tobytes(), 0))
        self._line(page, Box(((30, 70), (570, 70), (570, 130), (30, 130))))

    def read(self, bitmap: Bitmap) -> Recognized:
        """Read the text of a picture.

        Raises: Unreadable when it takes too long.
        """
        picture = lines.page(bitmap)
        if picture is None:
            return Recognized("", 0)
        until = time.process_time() + SECONDS
        found = self._found(picture)
        if boxes.lie_on_their_side(found):
            picture = picture.rotate(90, expand=True)
            found = self._found(picture)
        picture, found, known = self._on_its_feet(picture, found)
        read: list[lines.Line] = []
        for box, begins in boxes.in_order(found):
            if time.process_time() > until:
                raise Unreadable(f"took too long: more than {SECONDS:.0f} s")
            text, sure = known.get(box) or self._line(picture, box)
            if sure >= _SURE and any(map(str.isalnum, text)):
                read.append(lines.Line(text, sure, begins))
        return lines.said(read)

    def _on_its_feet(self, picture: Image.Image, found: list[Box]) -> tuple[Image.Image, list[Box], _Read]:
        """A page and its lines, turned upside down if its longest lines are read better that way; and the text of these."""
        tried = sorted(found, key=lambda box: -box.width)[:_TRIED]
        standing = {box: self._line(picture, box) for box in tried}
        if _sure(standing) >= _STANDS:
            return picture, found, standing
        over = picture.rotate(180)
        turned = {box.turned(*over.size): self._line(over, box.turned(*over.size)) for box in tried}
        if _sure(turned) <= _sure(standing):
            return picture, found, standing
        return over, [box.turned(*over.size) for box in found], turned

    def _found(self, picture: Image.Image) -> list[Box]:
        """The boxes of the lines."""
        told: Any = self._ask(np.asarray(picture), use_det=True, use_cls=False, use_rec=False)
        corners = () if told.boxes is None else told.boxes.tolist()
        return [Box(tuple((float(x), float(y)) for x, y in four)) for four in corners]

    def _line(self, picture: Image.Image, box: Box) -> tuple[str, float]:
        """The text of one line, and its certainty, of 100."""
        height = max(1, round(box.height))
        width = min(max(1, round(box.width)), _WIDEST * height)
        north_west, north_east, south_east, south_west = box.corners
        corners = (*north_west, *south_west, *south_east, *north_east)
        cut = picture.transform((width, height), Image.Transform.QUAD, corners, Image.Resampling.BILINEAR)
        told: Any = self._ask(np.asarray(cut), use_det=False, use_cls=False, use_rec=True)
        return (" ".join(told.txts[0].split()), 100 * float(told.scores[0])) if told.txts else ("", 0.0)


def _sure(read: _Read) -> float:
    return sum(sure for _, sure in read.values()) / max(1, len(read))
