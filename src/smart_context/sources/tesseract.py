"""Read text from pixels with Tesseract.

In: grey pixels.  Out: lines of text, and how certain they are.
Always: the data of every language is loaded when the engine is made, so that reading opens no file; one thread; a picture takes a bounded
time. A skewed page is deskewed first; one that is read badly is turned by Tesseract's own orientation detection and read again.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.sources import lines
from smart_context.sources.extract.sight import Bitmap, Recognized, Unreadable

os.putenv("OMP_THREAD_LIMIT", "1")  # before the library is loaded: a jailed process has one thread

import tesserocr
from PIL import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

SECONDS = 20.0  # of CPU time, for one picture
_SLOWEST = 100.0  # most wall time per CPU time, on a busy machine
_TELLING = 0.05  # seconds of CPU time, enough to tell how busy the machine is
_STRAIGHTEN = 0.3  # degrees
_TILT = 3  # degrees to turn a page in which no lines were found, for another try
_MOST_ASKEW = 15.0  # degrees; more is not skew
_SURE_TURN = 1.0  # certainty of an orientation
_ORIENTATION = "osd"


class Tesseract:
    """Tesseract with the data of some languages."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """files: where the data of each language is, by Tesseract's name, the most likely language first; "osd" is for orientation.

        Raises: RuntimeError when the data cannot be used.
        """
        names = [name for name in files if name != _ORIENTATION]
        with _together(files) as folder:
            self._api = tesserocr.PyTessBaseAPI(
                path=folder, lang="+".join(names), psm=tesserocr.PSM.AUTO, oem=tesserocr.OEM.LSTM_ONLY
            )
            self._turning = (
                tesserocr.PyTessBaseAPI(path=folder, lang=_ORIENTATION, psm=tesserocr.PSM.OSD_ONLY)
                if _ORIENTATION in files
                else None
            )
        if any(name.startswith(("chi_", "jpn")) for name in names):
            self._api.SetVariable("preserve_interword_spaces", "1")
        self._warm_up()

    def _warm_up(self) -> None:
        """Open everything that is opened on first use: Tesseract's log, which warns of pixels without a resolution."""
        bars = Image.new("L", (600, 200), 255)
        for number in range(200):
            left, top = 20 + number % 40 * 14, 20 + number // 40 * 34
            bars.paste(0, (left, top, left + (4 if number % 3 else 8), top + (18 if number % 4 else 12)))
        for api in filter(None, (self._api, self._turning)):
            api.SetImageBytes(bars.tobytes(), bars.width, bars.height, 1, bars.width)
            api.AnalyseLayout()
            api.Clear()
        self.read(Bitmap(bars.width, bars.height, bars.tobytes(), 0))
        self._turns(bars, 0)

    def read(self, bitmap: Bitmap) -> Recognized:
        """Read the text of a picture.

        Raises: Unreadable when it takes too long.
        """
        picture = lines.page(bitmap)
        if picture is None:
            return Recognized("", 0)
        spent = _Spent()
        found = self._upright(picture, bitmap.dpi, spent)
        for degrees in self._turns(picture, bitmap.dpi) if lines.certainty(found) < lines.WELL else ():
            if not spent.left() or lines.certainty(found) >= lines.WELL:
                break
            turned = self._upright(picture.rotate(degrees, expand=True), bitmap.dpi, spent)
            found = max(found, turned, key=lines.certainty)
        return lines.said(found)

    def _upright(self, picture: Picture, dpi: int, spent: _Spent) -> list[lines.Line]:
        """The lines of an upright picture, after deskewing."""
        self._show(picture, dpi)
        try:
            askew = self._askew(picture, dpi)
            if _STRAIGHTEN < abs(askew) < _MOST_ASKEW:
                self._show(picture.rotate(askew, Image.Resampling.BILINEAR, fillcolor=255), dpi)
            left = spent.left()
            if not left or not self._api.Recognize(left):
                raise Unreadable(f"took too long: more than {SECONDS:.0f} s")
            return list(_lines(self._api))
        finally:
            self._api.Clear()

    def _askew(self, picture: Picture, dpi: int) -> float:
        """The skew of the picture that Tesseract has now, in degrees."""
        for tilted in (0, _TILT, -_TILT):
            if tilted:
                self._show(picture.rotate(tilted, Image.Resampling.NEAREST, fillcolor=255), dpi)
            if found := self._api.AnalyseLayout():
                askew = tilted + math.degrees(found.Orientation()[3])
                break
        else:
            tilted, askew = 0, 0.0
        if tilted:
            self._show(picture, dpi)
        return askew

    def _show(self, picture: Picture, dpi: int) -> None:
        self._api.SetImageBytes(picture.tobytes(), picture.width, picture.height, 1, picture.width)
        self._api.SetSourceResolution(dpi)

    def _turns(self, picture: Picture, dpi: int) -> Sequence[int]:
        """By how many degrees to turn a picture that is read badly: its detected orientation, or every way without the data to detect it."""
        if self._turning is None:
            return (180, 90, 270)
        self._turning.SetImageBytes(picture.tobytes(), picture.width, picture.height, 1, picture.width)
        self._turning.SetSourceResolution(dpi)
        try:
            found = self._turning.DetectOrientationScript()
        finally:
            self._turning.Clear()
        if not found or not found["orient_deg"] or found["orient_conf"] < _SURE_TURN:
            return ()
        return (int(found["orient_deg"]),)


class _together:  # noqa: N801  used like a function
    """One folder with the data of all languages, because Tesseract takes only one: links to data in several folders, until it is loaded."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._made: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> str:
        folders = {os.path.dirname(file) for file in self._files.values()}
        if len(folders) == 1:
            return folders.pop()
        self._made = tempfile.TemporaryDirectory()
        for name, file in self._files.items():
            (Path(self._made.name) / f"{name}.traineddata").symlink_to(file)
        return self._made.name

    def __exit__(self, *_: object) -> None:
        if self._made is not None:
            self._made.cleanup()


class _Spent:
    """The time one picture has taken so far. It is bounded by CPU time; Tesseract measures only wall time, which runs faster on a busy machine."""

    def __init__(self) -> None:
        self._began = time.monotonic(), time.process_time()

    def left(self) -> int:
        """Milliseconds of wall time left for the picture; 0 when none is."""
        return _left(time.monotonic() - self._began[0], time.process_time() - self._began[1])


def _left(clock: float, cpu: float) -> int:
    """Milliseconds of wall time left for a picture that has taken this much of both; enough even if it goes on half as fast."""
    slower = min(_SLOWEST, max(1.0, 2 * clock / cpu - 1)) if cpu > _TELLING else 1.0
    return max(0, math.ceil(1000 * slower * (SECONDS - cpu)))


def _lines(api: tesserocr.PyTessBaseAPI) -> Iterator[lines.Line]:
    level = tesserocr.RIL.TEXTLINE
    iterator = api.GetIterator()
    for at in tesserocr.iterate_level(iterator, level) if iterator else ():
        if at.Empty(level):
            continue
        text = " ".join(at.GetUTF8Text(level).split())
        if any(map(str.isalnum, text)):
            yield lines.Line(text, at.Confidence(level), at.IsAtBeginningOf(tesserocr.RIL.PARA))
