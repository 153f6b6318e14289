"""Read EPUB books by section, in the order of the spine.

In: the bytes of an EPUB.  Out: the text of its chapters by heading; a chapter without one has the name the table of contents gives it.
Always: a chapter that is missing, damaged or locked costs only itself.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from smart_context.model import Extracted
from smart_context.sources.extract import Buffer, Job, Refused, encoding, html, pictures, xmlsafe, zipped
from smart_context.sources.extract.collect import Full, Sections
from smart_context.sources.extract.properties import About, day


def read(data: Buffer, job: Job) -> Extracted:
    """Read every chapter, up to the limits."""
    book = _Book(zipped.open_zip(data, job))
    sections = Sections(job.limits)
    try:
        for chapter in book.spine():
            with sections.part(chapter):
                _chapter(book, chapter, sections)
    except Full:
        pass
    shown = pictures.beside(book.zip, book.pictures(), job)
    return book.about().extracted("epub", (*sections.finish(), *shown), tuple(sections.notes))


def _chapter(book: _Book, part: str, sections: Sections) -> None:
    if part in book.locked:
        raise Refused("encrypted", part)
    raw = book.zip.read(part)
    page = html.parse(encoding.decode(raw, html.declared(raw[:4096])))
    name = book.names.get(part, "")
    for heading, lines in page.sections:
        # The title of a page repeats that of the book or the chapter, and is not displayed.
        shown = [line for line in lines if heading or line != page.title]
        if heading:
            sections.heading(heading)
        elif shown and name:
            sections.heading(name)
        name = ""
        for line in shown:
            sections.line(line)


class _Book:
    """The package of a book: what it holds and in which order."""

    def __init__(self, archive: zipped.SafeZip) -> None:
        self.zip = archive
        self._opf = self._package()
        self._root = xmlsafe.tree(archive.read(self._opf))
        self._items = {
            item.get("id", ""): (self._path(item.get("href", ""), self._opf), item)
            for item in self._root.iter("{*}item")
        }
        self.names = dict(self._contents())
        self.locked = frozenset(self._locked())

    def spine(self) -> Iterator[str]:
        """Parts in reading order, each once."""
        order = (self._items.get(item.get("idref", "")) for item in self._root.iter("{*}itemref"))
        yield from dict.fromkeys(found[0] for found in order if found is not None)

    def pictures(self) -> Iterator[str]:
        """Pictures that are there, in the order of the package."""
        return (path for path, _ in self._items.values() if path in self.zip and path not in self.locked)

    def about(self) -> About:
        """What the book says of itself."""
        return About(self._said("title"), self._said("creator"), day(self._said("date")))

    def _said(self, name: str) -> str:
        found = self._root.find(f".//{{http://purl.org/dc/elements/1.1/}}{name}")
        return " ".join(xmlsafe.text_of(found).split()) if found is not None else ""

    def _package(self) -> str:
        root = xmlsafe.tree(self.zip.read("META-INF/container.xml"))
        for element in root.iter("{*}rootfile"):
            if (path := element.get("full-path", "")) in self.zip:
                return path
        raise Refused("damaged", "a book without its package document")

    def _contents(self) -> Iterator[tuple[str, str]]:
        """Parts with the names of the table of contents, of the newer and of the older kind; the first name of a part counts."""
        for path, item in reversed(self._items.values()):
            is_nav = "nav" in item.get("properties", "").split()
            if path not in self.zip or not (is_nav or item.get("media-type") == "application/x-dtbncx+xml"):
                continue
            try:
                root = xmlsafe.tree(self.zip.read(path))
            except Refused:
                continue
            links = list(root.iter("{*}a") if is_nav else root.iter("{*}navPoint"))
            for link in reversed(links):
                target = link if is_nav else link.find("{*}content")
                label = link if is_nav else link.find("{*}navLabel")
                if target is not None and label is not None:
                    href = target.get("href" if is_nav else "src", "")
                    yield self._path(href, path), " ".join(xmlsafe.text_of(label).split())

    def _locked(self) -> Iterator[str]:
        if "META-INF/encryption.xml" in self.zip:
            for element in xmlsafe.tree(self.zip.read("META-INF/encryption.xml")).iter("{*}CipherReference"):
                yield unquote(element.get("URI", ""))

    def _path(self, href: str, base: str) -> str:
        path = posixpath.join("/", posixpath.dirname(base), unquote(href.partition("#")[0]))
        return posixpath.normpath(path).lstrip("/")
