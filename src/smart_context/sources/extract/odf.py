"""Read the XML that all OpenDocument files share.

In: the bytes of a package or of a flat file.  Out: events of its content, the text of paragraphs, its title.
Always: a file that is encrypted is refused; spaces are what the format says they are (`text:s`), not what the XML is indented with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from smart_context.model import Unit
from smart_context.sources.extract import Buffer, Job, Refused, pictures, xmlsafe, zipped
from smart_context.sources.extract.properties import About, day

TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
DRAW = "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
PRESENTATION = "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"
STYLE = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
_SVG = "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"

_BLANKS = frozenset({f"{{{TEXT}}}tab", f"{{{TEXT}}}line-break", f"{{{TEXT}}}s"})
_DESCRIBED = (f"{{{_SVG}}}title", f"{{{_SVG}}}desc")


class Document:
    """The parts of an OpenDocument file, or the one part of a flat one."""

    def __init__(self, data: Buffer, job: Job) -> None:
        self._flat = None if data[:2] == b"PK" else data
        self._zip = None if self._flat is not None else zipped.open_zip(data, job)
        if b"encryption-data" in b"".join(self.stream("META-INF/manifest.xml")):
            raise Refused("encrypted", "a password protects this file")

    def stream(self, part: str) -> Iterator[bytes]:
        """A part in pieces; of a flat file the whole file, as its content."""
        if self._flat is not None:
            if part == "content.xml":
                for at in range(0, len(self._flat), 1 << 18):
                    yield self._flat[at : at + (1 << 18)]
        elif self._zip is not None and (part == "content.xml" or part in self._zip):
            yield from self._zip.stream(part)

    @property
    def is_styles_only(self) -> bool:
        """Whether this is a template that has styles and no content."""
        return self._zip is not None and "content.xml" not in self._zip and "styles.xml" in self._zip

    def pictures(self, job: Job) -> Iterator[Unit]:
        """What the pictures in the package say."""
        if self._zip is not None:
            yield from pictures.beside(self._zip, (n for n in self._zip.names() if n.startswith("Pictures/")), job)

    def about(self) -> About:
        """What the file's own properties say."""
        try:
            meta = b"".join(self.stream("meta.xml")) if self._flat is None else self._flat[:65536]
        except Refused:
            return About()
        said = {name: _said(meta, name) for name in (b"dc:title", b"dc:creator", b"meta:initial-creator")}
        dates = (_said(meta, name) for name in (b"dc:date", b"meta:creation-date"))
        return About(said[b"dc:title"], said[b"dc:creator"] or said[b"meta:initial-creator"], day(*dates))


def _said(meta: bytes, name: bytes) -> str:
    found = re.search(rb"<%s(?:\s[^>]*)?>([^<]*)</%s>" % (name, name), meta)
    try:
        return " ".join(xmlsafe.text_of(xmlsafe.tree(b"<t>" + found[1] + b"</t>")).split()) if found else ""
    except Refused:
        return ""


def text_of(paragraph: xmlsafe.Element) -> str:
    """The text of a paragraph on one line, without parts that are read separately: notes, text boxes, descriptions of pictures."""
    words: list[str] = []
    for event, element in etree.iterwalk(paragraph, events=("start", "end")):
        if event == "start":
            if element.tag not in _DESCRIBED:
                words.append(" " if element.tag in _BLANKS else element.text or "")
        elif element is not paragraph:
            words.append(element.tail or "")
    return " ".join("".join(words).split())


def described(element: xmlsafe.Element) -> str:
    """The description of a picture or shape."""
    found = [child.text or "" for child in element.iterchildren(*_DESCRIBED)]
    return " ".join(" ".join(found).split())


def repeats(element: xmlsafe.Element, what: str) -> int:
    """The declared repeat count of a row or cell."""
    said = element.get(f"{{{TABLE}}}number-{what}-repeated", "1")
    return int(said) if said.isdecimal() and len(said) < 9 else 1
