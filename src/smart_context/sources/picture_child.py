"""The rendering process: take opened PDF files, answer with one page of each in pixels.

In: descriptors, each with a `Wanted` as JSON.  Out: a `Drawn` for each, in the frames of a reading process.
Always: it is jailed like a reading process, by the same code; pixels are sent as text, which the parent checks.
"""

from __future__ import annotations

import base64
import json
import mmap
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from smart_context.model import Extracted, Limits, Skipped, Unit
from smart_context.sources import worker_child
from smart_context.sources.child import command


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to draw: a page, the page's text that redaction has judged, the parts of it to hide, the words to mark."""

    page: int
    judged: str
    hidden: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Serialized for the process."""
        return json.dumps(asdict(self))


def started_with() -> list[str]:
    """The command line of such a process."""
    return command("smart_context.sources.picture_child")


def main(args: Sequence[str]) -> None:
    """Draw pages until the parent closes the socket."""
    from smart_context.sources.extract import Refused, picture

    def read(data: bytes | mmap.mmap, name: str, _limits: Limits) -> Extracted | Skipped:
        try:
            wanted = json.loads(name)
            drawn = picture.draw(data, wanted["page"], wanted["judged"], wanted["hidden"], wanted["marked"])
        except Refused as refusal:
            return Skipped("pdf", refusal.reason, refusal.detail)
        facts = json.dumps([drawn.width, drawn.height, drawn.left_out])
        return Extracted("picture", facts, (Unit((), base64.b64encode(drawn.packed).decode("ascii")),))

    worker_child.serve(args, read)
