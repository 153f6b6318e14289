"""Read the text of drawings, charts and diagrams in Office files.

In: the XML of a slide, notes page, chart, diagram or sheet drawing.  Out: its lines: paragraphs, and rows of tables with cells
parted by tabs.
Always: text that a file holds twice, for newer and for older programs, is read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smart_context.data import dataclass
from smart_context.sources.extract import xmlsafe
from smart_context.sources.extract.opc import STRICT, TRANSITIONAL

_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_TAGS = {
    **xmlsafe.tags(("p", "t", "br", "tc", "tr"), f"{TRANSITIONAL}drawingml/2006/main", f"{STRICT}drawingml/main"),
    **xmlsafe.tags(("sp", "ph", "cNvPr"), f"{TRANSITIONAL}presentationml/2006/main", f"{STRICT}presentationml/main"),
    **xmlsafe.tags(("strCache", "v"), f"{TRANSITIONAL}drawingml/2006/chart", f"{STRICT}drawingml/chart"),
    **xmlsafe.tags(("t",), f"{TRANSITIONAL}officeDocument/2006/math", f"{STRICT}officeDocument/math"),
    **xmlsafe.tags(("AlternateContent", "Choice", "Fallback"), _COMPATIBILITY),
    # comments on slides
    **xmlsafe.tags(("text",), f"{TRANSITIONAL}presentationml/2006/main", f"{STRICT}presentationml/main"),
}
_FREE = frozenset({"p", "sp", "tr", "strCache", "text"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `place`: the slide's placeholder that it is in ("title", "sldNum" …), or ""."""

    text: str
    place: str = ""


def lines(pieces: Iterable[bytes]) -> Iterator[Line]:
    """Yield the lines of a drawing in the order of the file."""
    reader = _Reader()
    for event, name, element in original(xmlsafe.events(pieces, _TAGS, free=_FREE)):
        if event == "start":
            reader.start(name, element)
        elif text := reader.end(name, element):
            yield Line(text, reader.place)


class _Reader:
    """The state while reading the XML events of a part."""

    def __init__(self) -> None:
        self.place = ""
        self._words: list[str] = []
        self._row: list[str] = []
        self._cell: list[str] | None = None
        self._in_strings = False

    def start(self, name: str, element: xmlsafe.Element) -> None:
        if name == "sp":
            self.place = ""
        elif name == "ph":
            self.place = element.get("type", "body")
        elif name == "tc":
            self._cell = []
        elif name == "strCache":
            self._in_strings = True

    def end(self, name: str, element: xmlsafe.Element) -> str:
        """Take a complete element; return the line that it ends, or ""."""
        if name == "t":
            self._words.append(xmlsafe.text_of(element))
        elif name == "br":
            self._words.append(" ")
        elif name == "p":
            return self._paragraph()
        elif name == "tc":
            self._row.append(" ".join(self._cell or ()).strip())
            self._cell = None
        elif name == "tr":
            row, self._row = "\t".join(self._row).rstrip(), []
            return row
        elif name == "strCache":
            self._in_strings = False
        elif name == "text" or (name == "v" and self._in_strings):
            return " ".join(xmlsafe.text_of(element).split())
        elif name == "cNvPr":
            return " ".join(element.get("descr", "").split())
        elif name == "sp":
            self.place = ""
        return ""

    def _paragraph(self) -> str:
        text, self._words = " ".join("".join(self._words).split()), []
        if self._cell is None:
            return text
        self._cell.append(text)
        return ""


def original(events: Iterable[xmlsafe.Event]) -> Iterator[xmlsafe.Event]:
    """Leave out `mc:Fallback` beside an `mc:Choice`: it repeats the content for older programs."""
    chosen: list[bool] = []
    skipping = 0
    for event, name, element in events:
        if name == "AlternateContent":
            if event == "start":
                chosen.append(False)
            elif chosen:
                chosen.pop()
        elif name == "Choice":
            if chosen:
                chosen[-1] = True
        elif name == "Fallback":
            if skipping or (chosen and chosen[-1]):
                skipping += 1 if event == "start" else -1
        elif not skipping:
            yield event, name, element
