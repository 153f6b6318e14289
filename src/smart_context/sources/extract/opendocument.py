"""Read OpenDocument texts (ODT) by section and presentations (ODP) by slide.

In: the bytes of an ODT, ODP or ODG, packed or flat.  Out: the text in reading order, with notes, comments, tables and text boxes;
then headers and footers.
Always: text that change tracking has deleted is left out; a row of a table is one line.
"""

from __future__ import annotations

from collections.abc import Iterator

from smart_context.model import SLIDE_NOTES, Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused, odf, xmlsafe
from smart_context.sources.extract.collect import Full, Sections, Units

_TAGS = {
    **xmlsafe.tags(("p", "h", "tracked-changes", "soft-page-break"), odf.TEXT),
    **xmlsafe.tags(("table-row", "table-cell"), odf.TABLE),
    **xmlsafe.tags(("page", "frame", "text-box"), odf.DRAW),
    **xmlsafe.tags(("notes", "header-decl", "footer-decl"), odf.PRESENTATION),
    **xmlsafe.tags(("header", "footer"), odf.STYLE),
}
_MARGINS = "Headers and footers"
_FREE = frozenset({"p", "h", "table-row", "page", "tracked-changes"})
_CLASS = f"{{{odf.PRESENTATION}}}class"


def read(data: Buffer, job: Job) -> Extracted:
    """Read the whole document, up to the limits."""
    document = odf.Document(data, job)
    if job.kind == "odp":
        return _presentation(document, job)
    sections = Sections(job.limits)
    try:
        if not document.is_styles_only:
            with sections.part("content.xml"):
                _body(document, sections)
        with sections.part("styles.xml"):
            sections.aside(_MARGINS, _margins(document))
    except Full:
        pass
    units = (*sections.finish(), *document.pictures(job))
    return document.about().extracted("odt", units, tuple(sections.notes))


def _body(document: odf.Document, sections: Sections) -> None:
    for name, text in _blocks(document.stream("content.xml")):
        if name == "h":
            sections.heading(text)
        elif name == "soft-page-break":
            sections.page_break(rendered=True)
        elif name == "line":
            sections.line(text)


def _margins(document: odf.Document) -> list[str]:
    """Lines of headers and footers, each once however many page styles repeat it."""
    return list(dict.fromkeys(text for name, text in _blocks(document.stream("styles.xml")) if name == "margin"))


def _presentation(document: odf.Document, job: Job) -> Extracted:
    units = Units(job.limits)
    try:
        with units.part("content.xml"):
            for unit in _slides(document):
                units.add(unit)
        with units.part("styles.xml"):
            if lines := _margins(document):
                pointer = (Part("section", _MARGINS),)
                units.add(Unit(pointer, "\n".join(lines), heading=_MARGINS, divisible="paragraphs"))
    except Full:
        pass
    slides = (*units.finish(), *document.pictures(job))
    return document.about().extracted("odp", slides, tuple(units.notes))


def _slides(document: odf.Document) -> Iterator[Unit]:
    lines: list[str] = []
    title = ""
    number = 1
    broken: Refused | None = None
    try:
        for name, text in _blocks(document.stream("content.xml")):
            if name == "page":
                yield Unit((Part("slide", first=number),), "\n".join(lines), heading=title)
                lines, title, number = [], "", number + 1
            elif text:
                lines.append(text)
                title = title or (text if name == "title" else "")
    except Refused as refusal:
        broken = refusal
    if lines:
        yield Unit((Part("slide", first=number),), "\n".join(lines), heading=title)
    if broken is not None:
        raise broken


def _blocks(pieces: Iterator[bytes]) -> Iterator[tuple[str, str]]:
    """Yield what kind of line comes (h, line, title, margin, page, soft-page-break) and its text."""
    reader = _Reader()
    for event, name, element in xmlsafe.events(pieces, _TAGS, free=_FREE, always=True):
        if event == "start":
            reader.start(name, element)
        elif (found := reader.end(name, element)) is not None:
            yield found


class _Reader:
    """The state while reading the XML events of a part."""

    def __init__(self) -> None:
        self._deleted = 0
        self._margin = 0
        self._notes = 0
        self._label = ""  # what stands before the first line of notes
        self._frames: list[str] = []  # what each is for: "title", "footer" …
        self._rows: list[list[str]] = []
        self._cells: list[list[str]] = []

    def start(self, name: str, element: xmlsafe.Element) -> None:
        if name == "tracked-changes":
            self._deleted += 1
        elif name in {"header", "footer"}:
            self._margin += 1
        elif name == "notes":
            self._notes += 1
            self._label = f"{SLIDE_NOTES}\n"
        elif name == "frame":
            self._frames.append(element.get(_CLASS, ""))
        elif name == "table-row":
            self._rows.append([])
        elif name == "table-cell":
            self._cells.append([])

    def end(self, name: str, element: xmlsafe.Element) -> tuple[str, str] | None:
        if name in {"p", "h", "header-decl", "footer-decl"}:
            return self._line(name, odf.text_of(element))
        if name == "table-row":
            row = "\t".join(self._rows.pop() if self._rows else []).rstrip()
            return self._line("p", row) if row else None
        if name == "frame":
            self._frames.pop()
            return self._line("p", odf.described(element))
        if name == "table-cell":
            self._cell()
        elif name == "tracked-changes":
            self._deleted -= 1
        elif name in {"header", "footer"}:
            self._margin -= 1
        elif name == "notes":
            self._notes -= 1
        elif name in {"page", "soft-page-break"}:
            return name, ""
        return None

    def _cell(self) -> None:
        text = " ".join(self._cells.pop()) if self._cells else ""
        if self._rows:
            self._rows[-1].append(text)

    def _line(self, name: str, text: str) -> tuple[str, str] | None:
        if not text or self._deleted:
            return None
        if self._cells:
            self._cells[-1].append(text.replace("\t", " "))
            return None
        frame = self._frames[-1] if self._frames else ""
        if self._margin or frame in {"header", "footer"}:
            return "margin", text
        if frame == "title" and not self._notes:
            return "title", text
        if self._notes:
            text, self._label = self._label + text, ""
        return ("h" if name == "h" else "line"), text
