"""Take the texts of what a search gave, or of files that were named, out of an index.

In: places in indexed files.  Out: a `Text` for each, as Markdown, in their order.
Always: text and hash of a file are those of one reading of it, as the index has them. What is hidden was judged on the file as a whole, so that half a
secret never shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context import redact
from smart_context.access.roots import Roots, shown
from smart_context.errors import NotFound
from smart_context.find import safe
from smart_context.frozen import markdown
from smart_context.redact import Redactor, Span

if TYPE_CHECKING:
    from smart_context.engine.model import FileRow
    from smart_context.engine.port import Record


@dataclass(frozen=True, slots=True)
class Picked:
    """A place that is to be frozen: an absolute path, a pointer (None for the whole file), and how well it answers."""

    path: str
    pointer: str | None
    score: float


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a place. path: below its root. sha256: of the file. reader: the version of the program that read it."""

    path: str
    place: str
    pointer: str | None
    score: float
    content: str
    sha256: str
    kind: str
    reader: str


def texts(record: Record, roots: Roots, picked: Sequence[Picked], redactor: Redactor | None) -> list[Text]:
    """Return the texts of places, each once. `redactor` says what must not show; None: everything may.

    Raises: NotFound for a place that the index does not have; Forbidden for one outside of the roots.
    """
    files: dict[str, _File] = {}
    out: dict[tuple[str, str | None], Text] = {}
    for one in picked:
        if (one.path, one.pointer) in out:
            continue
        if one.path not in files:
            files[one.path] = _File(record, one.path, redactor)
        file = files[one.path]
        place = roots.inside(one.path)
        below = place.path[len(place.root.rstrip("/")) + 1 :]
        out[one.path, one.pointer] = Text(
            below,
            shown(one.path),
            one.pointer,
            one.score,
            file.whole() if one.pointer is None else file.passage(one.pointer),
            file.row.sha256,
            file.row.kind,
            file.row.reader,
        )
    return list(out.values())


class _File:
    """The text of one file, as the index has it."""

    def __init__(self, record: Record, path: str, redactor: Redactor | None) -> None:
        row = record.file(path)
        if row is None:
            raise NotFound(f"{shown(path)} is not indexed", hint="index its folder first")
        self.row: FileRow = row
        self._parts: list[tuple[str, str, str]] = []  # pointer, heading, text
        for pointer, heading, text in _safe(record, row, redactor) if redactor else _open(record, row):
            if self._parts and self._parts[-1][0] == pointer:  # a long line or page, which was cut
                self._parts[-1] = (pointer, self._parts[-1][1], self._parts[-1][2] + text)
            else:
                self._parts.append((pointer, heading, text))

    def whole(self) -> str:
        """The file as Markdown."""
        return markdown.whole(self._parts)

    def passage(self, wanted: str) -> str:
        """One place of it as Markdown. Raises: NotFound."""
        for pointer, heading, text in self._parts:
            if pointer == wanted:
                return markdown.passage(pointer, heading, text)
        raise NotFound(
            f"no {wanted} in {shown(self.row.path)}", hint="it has changed since it was searched; search again"
        )


def _safe(record: Record, row: FileRow, redactor: Redactor) -> Iterator[tuple[str, str, str]]:
    for one in safe.segments(record, row, redactor):
        hidden = [Span(*stretch) for stretch in one.hidden]
        yield one.pointer, one.heading, redact.part(one.text, hidden, 0, len(one.text))


def _open(record: Record, row: FileRow) -> Iterator[tuple[str, str, str]]:
    rows = record.segments_of(row.file_id)
    found = record.passages(one.segment_id for one in rows)
    for one in rows:
        if one.segment_id in found:
            yield one.pointer, one.heading, found[one.segment_id].text
