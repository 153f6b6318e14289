"""Read picture files by OCR, if it is available.

In: the bytes of a picture.  Out: its text, by page for a TIFF of several.
Always: without OCR it has no text, and waits for OCR; formats that are not decoded do not wait.
"""

from __future__ import annotations

from functools import partial

from smart_context.model import Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused, pictures


def read(data: Buffer, job: Job) -> Extracted:
    """Read every picture of the file."""
    if not pictures.format_of(data[:12]):
        raise Refused("no text in this type", "image")
    count = pictures.frames(data)
    units: list[Unit] = []
    before = len(job.sight.notes)
    for number in range(count):
        place = (Part("page", first=number + 1),) if count > 1 else ()
        units.extend(job.look(place, partial(pictures.decoded, data, number)))
    if units or len(job.sight.notes) > before:  # a note says why it was not read
        return Extracted("image", "", tuple(units))
    note = "a picture without text" if job.sight.engine else "a picture: only OCR can read it"
    return Extracted("image", "", (), (note,))
