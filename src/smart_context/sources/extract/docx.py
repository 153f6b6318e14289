"""Read DOCX documents by section.

In: the bytes of a DOCX.  Out: the body by headings, then headers and footers, notes and comments, and the text of charts and diagrams.
Always: paragraphs stand in the order of the file, a row of a table is one line, deleted text is left out and inserted text kept,
and a text box is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from smart_context.data import dataclass, field
from smart_context.model import Extracted, Skipped
from smart_context.sources.extract import Buffer, Job, Refused, drawing, extract_nested, opc, pictures, xmlsafe
from smart_context.sources.extract.collect import Full, Sections
from smart_context.sources.extract.opc import STRICT, TRANSITIONAL

_WORD = (f"{TRANSITIONAL}wordprocessingml/2006/main", f"{STRICT}wordprocessingml/main")
_TAGS = {
    **xmlsafe.tags(
        (
            *("p", "t", "tab", "ptab", "br", "cr", "noBreakHyphen", "sym", "pStyle", "outlineLvl", "pageBreakBefore"),
            *("lastRenderedPageBreak", "tr", "tc", "moveFrom"),
        ),
        *_WORD,
    ),
    **xmlsafe.tags(
        ("docPr",), f"{TRANSITIONAL}drawingml/2006/wordprocessingDrawing", f"{STRICT}drawingml/wordprocessingDrawing"
    ),
    **xmlsafe.tags(("t",), f"{TRANSITIONAL}officeDocument/2006/math", f"{STRICT}officeDocument/math"),
    **xmlsafe.tags(
        ("AlternateContent", "Choice", "Fallback"), "http://schemas.openxmlformats.org/markup-compatibility/2006"
    ),
}
_FREE = frozenset({"p", "tr"})
_BLOCKS = frozenset({"p", "tc", "tr"})
_DRAWN = "Charts and diagrams"
_RELATED = (
    ("header", "Headers and footers"),
    ("footer", "Headers and footers"),
    ("footnotes", "Footnotes"),
    ("endnotes", "Endnotes"),
    ("comments", "Comments"),
    ("chart", _DRAWN),
    ("diagramData", _DRAWN),
)
_HEADING_NAME = re.compile(
    r"(heading|title|überschrift|titre|título|titolo|titulo|rubrik|overskrift|otsikko|kop|nagłówek|nadpis|заголовок|cím(sor)?"
    r"|başlık|naslov|见出し|見出し|标题|標題|제목) ?\d?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph, or one row of a table."""

    text: str
    style: str = ""
    outline: int | None = None


@dataclass(frozen=True, slots=True)
class PageBreak:
    """A page break: a manual one, or one that Word recorded when it last laid out the text."""

    rendered: bool


def read(data: Buffer, job: Job) -> Extracted:
    """Read the whole document, up to the limits."""
    package = opc.Package(data, job)
    main = package.main("word/document.xml")
    sections = Sections(job.limits)
    relations = package.relations(main)
    try:
        with sections.part(main):
            _body(package, main, _heading_styles(package, relations), sections)
        for name in dict.fromkeys(name for _, name in _RELATED):
            kinds = {kind for kind, of in _RELATED if of == name}
            _append(package, [r.target for r in relations if r.kind in kinds], name, sections)
        _append_chunks(package, [r.target for r in relations if r.kind == "aFChunk"], job, sections)
    except Full:
        pass
    shown = pictures.beside(package.zip, [r.target for r in relations if r.kind == "image"], job)
    return package.about().extracted("docx", (*sections.finish(), *shown), tuple(sections.notes))


def _heading_styles(package: opc.Package, relations: tuple[opc.Relation, ...]) -> frozenset[str]:
    """Identifiers of paragraph styles that make a heading, by outline level or by name, also inherited from the style they are based on."""
    part = next((r.target for r in relations if r.kind == "styles"), None)
    if part is None:
        return frozenset()
    try:
        root = xmlsafe.tree(package.zip.read(part))
    except Refused:
        return frozenset()
    based: dict[str, str] = {}
    headings: dict[str, bool] = {}
    for style in root.iterfind("{*}style"):
        values = {
            str(child.tag).rpartition("}")[2]: child for child in style.iter("{*}name", "{*}basedOn", "{*}outlineLvl")
        }
        style_id = _value(style, "styleId")
        based[style_id] = _value(values.get("basedOn"))
        if (outline := _value(values.get("outlineLvl"))).isdigit():
            headings[style_id] = int(outline) < 9
        elif _HEADING_NAME.fullmatch(_value(values.get("name"))):
            headings[style_id] = True
    return frozenset(style_id for style_id in based if _inherits(style_id, headings, based))


def _inherits(style_id: str, headings: dict[str, bool], based: dict[str, str]) -> bool:
    for _ in range(20):  # a style may be based on itself, in a ring
        if style_id in headings:
            return headings[style_id]
        style_id = based.get(style_id, "")
    return False


def _value(element: xmlsafe.Element | None, name: str = "val") -> str:
    if element is None:
        return ""
    return next((found for namespace in _WORD if (found := element.get(f"{{{namespace}}}{name}"))), "")


def _body(package: opc.Package, part: str, headings: frozenset[str], sections: Sections) -> None:
    for block in blocks(package.zip.stream(part)):
        if isinstance(block, PageBreak):
            sections.page_break(rendered=block.rendered)
        elif block.style in headings if block.outline is None else block.outline < 9:
            sections.heading(block.text)
        else:
            sections.line(block.text)


def _append(package: opc.Package, parts: list[str], name: str, sections: Sections) -> None:
    """Put the text of these parts into a section of its own; the headers of many sections repeat, so each line is taken once."""
    found: dict[str, None] = {}
    for part in parts:
        with sections.part(part):
            for text in _lines(package.zip.stream(part), name):
                found[text] = None
    sections.aside(name, list(found))


def _append_chunks(package: opc.Package, parts: list[str], job: Job, sections: Sections) -> None:
    """Read embedded files (HTML, RTF, DOCX …) that Word shows as part of the text but stores unchanged (altChunk)."""
    for part in parts:
        with sections.part(part):
            found = extract_nested(package.zip.read(part), job.nested(part))
            if isinstance(found, Skipped):
                raise Refused(found.reason, found.detail)
            sections.aside("Inserted text", [line for unit in found.units for line in unit.text.split("\n")])


def _lines(pieces: Iterable[bytes], name: str) -> Iterator[str]:
    if name == _DRAWN:
        return (line.text for line in drawing.lines(pieces))
    return (block.text for block in blocks(pieces) if isinstance(block, Paragraph))


def blocks(pieces: Iterable[bytes]) -> Iterator[Paragraph | PageBreak]:
    """Yield paragraphs, rows and page breaks of a part, in order."""
    reader = _Reader()
    for event, name, element in drawing.original(xmlsafe.events(pieces, _TAGS, free=_FREE)):
        if name == "moveFrom":
            reader.moved += 1 if event == "start" else -1
        elif reader.moved:
            continue
        elif event == "start":
            reader.start(name)
        elif name in _BLOCKS:
            yield from reader.end(name)
        else:
            reader.inside(name, element)


@dataclass(slots=True)
class _Open:
    """A paragraph being read. Text boxes put paragraphs inside paragraphs, so there can be several."""

    words: list[str] = field(default_factory=list)
    style: str = ""
    outline: int | None = None
    before: list[PageBreak] = field(default_factory=list)
    after: list[PageBreak] = field(default_factory=list)


class _Reader:
    """The state while reading the XML events of a part."""

    def __init__(self) -> None:
        self.moved = 0
        self._paragraphs: list[_Open] = []
        self._rows: list[list[str]] = []  # one per nested table
        self._cells: list[list[str]] = []

    def start(self, name: str) -> None:
        if name == "p":
            self._paragraphs.append(_Open())
        elif name == "tr":
            self._rows.append([])
        elif name == "tc":
            self._cells.append([])

    def end(self, name: str) -> Iterator[Paragraph | PageBreak]:
        """What is complete with the end of a paragraph, a cell or a row."""
        if name == "p":
            yield from self._paragraph()
        elif name == "tc" and self._cells:
            cell = " ".join(self._cells.pop())
            if self._rows:
                self._rows[-1].append(cell)
        elif name == "tr" and self._rows:
            row = self._rows.pop()
            if any(row):
                yield from self._line(Paragraph("\t".join(row).rstrip()))

    def inside(self, name: str, element: xmlsafe.Element) -> None:
        """Take what stands in a paragraph."""
        if not self._paragraphs:
            return
        open_ = self._paragraphs[-1]
        if name == "t":
            open_.words.append(xmlsafe.text_of(element))
        elif name in {"tab", "ptab", "cr"}:
            open_.words.append(" ")
        elif name == "docPr" and (said := element.get("descr")):
            open_.words.append(f" {said} ")
        elif name == "noBreakHyphen":
            open_.words.append("-")
        elif name == "sym":
            open_.words.append(_symbol(_value(element, "char")))
        elif name == "pStyle":
            open_.style = _value(element)
        elif name == "outlineLvl":
            open_.outline = int(level) if (level := _value(element)).isdigit() else None
        elif name == "br":
            open_.words.append(" ")
            if _value(element, "type") == "page":
                self._break(open_, rendered=False)
        elif name == "lastRenderedPageBreak":
            self._break(open_, rendered=True)
        elif name == "pageBreakBefore" and _value(element) not in {"0", "false", "off"}:
            self._break(open_, rendered=False)

    def _break(self, open_: _Open, *, rendered: bool) -> None:
        has_text = any(word.strip() for word in open_.words)
        (open_.after if has_text else open_.before).append(PageBreak(rendered))

    def _paragraph(self) -> Iterator[Paragraph | PageBreak]:
        if not self._paragraphs:
            return
        done = self._paragraphs.pop()
        text = " ".join("".join(done.words).split())
        yield from done.before
        yield from self._line(Paragraph(text, done.style, done.outline))
        yield from done.after

    def _line(self, paragraph: Paragraph) -> Iterator[Paragraph]:
        if self._cells:
            if text := paragraph.text.strip():
                self._cells[-1].append(text.replace("\t", " "))
        elif paragraph.text:
            boxed = bool(self._paragraphs)
            yield Paragraph(paragraph.text) if boxed else paragraph


def _symbol(code: str) -> str:
    """A character of a symbol font; most are pictograms in the private use area, without a meaning as text."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return chr(number) if 0x20 <= number < 0xD800 else ""
