"""Read PowerPoint's binary format, versions 97 to 2003.

In: the bytes of a PPT file.  Out: one unit per slide in the order of the show, with its notes and comments.
Always: lengths and offsets in the file are not trusted; each byte is read a bounded number of times.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from smart_context.data import dataclass, field
from smart_context.model import SLIDE_NOTES, Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused
from smart_context.sources.extract.collect import Full, Units
from smart_context.sources.extract.compound import Compound
from smart_context.sources.extract.encoding import clean

_DOCUMENT, _SLIDE, _SLIDE_ATOM, _NOTES, _PERSIST_ATOM = 1000, 1006, 1007, 1008, 1011
_OUTLINE_REF, _TEXT_HEADER, _TEXT_CHARS, _TEXT_BYTES, _CSTRING = 3998, 3999, 4000, 4008, 4026
_HEADERS_FOOTERS, _SLIDE_LIST, _USER_EDIT, _DIRECTORY, _COMMENT = 4057, 4080, 4085, 6002, 12000
_ENCRYPTED_USER = 0xF3D1C4DF
_TITLES = frozenset({0, 6})
_DEEPEST = 60
_HEAD = struct.Struct("<HHL").unpack_from
_LISTED_SLIDES, _LISTED_MASTERS, _LISTED_NOTES = 0, 1, 2
_SHAPE, _PLACEHOLDER = 0xF004, 3011
_FURNITURE = frozenset({7, 8, 9, 10})  # date, number, footer, header: other placeholders of a master hold prompts


def read(data: Buffer, job: Job) -> Extracted:
    """Read one presentation."""
    with Compound.of(data, job) as compound:
        user = compound.read("Current User")
        stream = compound.read("PowerPoint Document")
        about = compound.about()
    if len(user) >= 16 and struct.unpack_from("<L", user, 12)[0] == _ENCRYPTED_USER:
        raise Refused("encrypted", "a password is needed")
    if not stream:
        raise Refused("damaged", "no presentation stream")
    show = _Show(stream, struct.unpack_from("<L", user, 16)[0] if len(user) >= 20 else 0)
    units = Units(job.limits)
    try:
        for number, slide in enumerate(show.slides(), 1):
            text = "\n".join(slide.lines())
            if text:
                units.add(Unit((Part("slide", first=number),), text, heading=slide.title))
        if on_all := "\n".join(show.on_all_slides().lines()):
            units.add(Unit((Part("section", "Master"),), on_all, divisible="paragraphs"))
    except Full:
        pass
    return about.extracted("ppt", units.finish(), (*units.notes, *show.notes))


@dataclass(frozen=True, slots=True)
class _Record:
    """A record's header and the extent of its content."""

    kind: int
    instance: int
    is_container: bool
    start: int
    end: int


@dataclass(slots=True)
class _Slide:
    """The texts of a slide by what they are."""

    title: str = ""
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, text: str, *, is_title: bool = False) -> None:
        if text and text not in self.texts:
            self.texts.append(text)
            if is_title and not self.title:
                self.title = " ".join(text.split())

    def lines(self) -> list[str]:
        """The title first, then the rest as it comes, then the notes."""
        notes = _without_stars(self.notes)
        return [*_without_stars(self.texts), *((SLIDE_NOTES, *notes) if notes else ())]


def _without_stars(texts: Iterable[str]) -> list[str]:
    """Lines with text; a star stands for the slide's number or the date."""
    return [line for text in texts for line in text.split("\n") if line.strip(" *")]


class _Show:
    """The records of a presentation's stream."""

    def __init__(self, stream: bytes, current_edit: int) -> None:
        self._stream = stream
        self._room = 4 * len(stream) + 1_000_000  # bytes that may be read, however often records are referred to
        self.notes: list[str] = []
        self._places, self._document = self._directory(current_edit)

    def slides(self) -> Iterator[_Slide]:
        """Each slide, by the list of the document; by their order in the file where that cannot be read."""
        document = self._record(self._document)
        listed = list(self._listed(document)) if document is not None and document.kind == _DOCUMENT else []
        if listed:
            yield from listed
        else:
            yield from self._unlisted()

    def on_all_slides(self) -> _Slide:
        """What masters and footers put on every slide, without the prompts that masters have in place of titles and text."""
        found = _Slide()
        document = self._record(self._document)
        for part in self._children(document) if document is not None and document.kind == _DOCUMENT else ():
            if part.kind == _HEADERS_FOOTERS:
                self._fill(found, part)
            elif part.kind == _SLIDE_LIST and part.instance == _LISTED_MASTERS:
                for persist, _, _ in self._slide_list(part):
                    master = self._record(self._places.get(persist, -1))
                    for _, text in self._texts(master, in_master=True) if master is not None else ():
                        found.add(text)
        return found

    def _directory(self, at: int) -> tuple[dict[int, int], int]:
        """The offset of each numbered record: the newest edit decides, older ones fill in."""
        places: dict[int, int] = {}
        document = -1
        seen: set[int] = set()
        while at not in seen and (edit := self._record(at)) is not None and edit.kind == _USER_EDIT:
            seen.add(at)
            if edit.end - edit.start < 20:
                break
            at, directory, first = struct.unpack_from("<LLL", self._stream, edit.start + 8)
            for number, place in self._entries(directory):
                places.setdefault(number, place)
            document = first if document < 0 else document
        return places, places.get(document, -1)

    def _entries(self, at: int) -> Iterator[tuple[int, int]]:
        directory = self._record(at)
        if directory is None or directory.kind != _DIRECTORY:
            return
        at = directory.start
        while at + 4 <= directory.end:
            head = struct.unpack_from("<L", self._stream, at)[0]
            at += 4
            for step in range(min(head >> 20, (directory.end - at) // 4)):
                yield (head & 0xFFFFF) + step, struct.unpack_from("<L", self._stream, at + 4 * step)[0]
            at += 4 * (head >> 20)

    def _listed(self, document: _Record) -> Iterator[_Slide]:
        notes_places: dict[int, int] = {}
        outlines: list[tuple[int, list[tuple[int, str]]]] = []
        for part in self._children(document):
            if part.kind == _SLIDE_LIST and part.instance == _LISTED_NOTES:
                for persist, number, _ in self._slide_list(part):
                    notes_places[number] = self._places.get(persist, -1)
            elif part.kind == _SLIDE_LIST and part.instance == _LISTED_SLIDES:
                outlines += [(persist, texts) for persist, _, texts in self._slide_list(part)]
        for persist, texts in outlines:
            slide = _Slide()
            for kind, text in texts:
                slide.add(text, is_title=kind in _TITLES)
            record = self._record(self._places.get(persist, -1))
            if record is not None and record.kind == _SLIDE:
                self._fill(slide, record)
                notes = self._record(notes_places.get(self._notes_number(record), -1))
                if notes is not None and notes.kind == _NOTES:
                    slide.notes += [text for _, text in self._texts(notes)]
            yield slide

    def _slide_list(self, part: _Record) -> Iterator[tuple[int, int, list[tuple[int, str]]]]:
        """The slides of a list: number of the record, number of the slide, and the texts of its outline."""
        persist = number = 0
        kind = -1
        texts: list[tuple[int, str]] = []
        for record in self._children(part):
            if record.kind == _PERSIST_ATOM and record.end - record.start >= 16:
                if persist:
                    yield persist, number, texts
                persist, _, _, number = struct.unpack_from("<LLLL", self._stream, record.start)
                texts = []
            elif record.kind == _TEXT_HEADER:
                kind = self._number(record)
            elif record.kind in {_TEXT_CHARS, _TEXT_BYTES}:
                texts.append((kind, self._text(record)))
        if persist:
            yield persist, number, texts

    def _unlisted(self) -> Iterator[_Slide]:
        rest = _Slide()
        for record in self._children(_Record(0, 0, True, 0, len(self._stream))):
            if record.kind in {_SLIDE, _DOCUMENT}:
                slide = _Slide()
                self._fill(slide, record)
                yield slide
            elif record.kind == _NOTES:
                rest.notes += [text for _, text in self._texts(record)]
        yield rest

    def _fill(self, slide: _Slide, record: _Record) -> None:
        for kind, text in self._texts(record):
            slide.add(text, is_title=kind in _TITLES)

    def _texts(self, top: _Record, *, in_master: bool = False) -> Iterator[tuple[int, str]]:
        """All texts below a record with what they are; without recursion."""
        kind = -1
        stack: list[tuple[Iterator[_Record], int]] = [(self._children(top), top.kind)]
        while stack:
            records, parent = stack[-1]
            record = next(records, None)
            if record is None:
                stack.pop()
            elif record.kind == _TEXT_HEADER:
                kind = self._number(record)
            elif record.kind in {_TEXT_CHARS, _TEXT_BYTES}:
                yield kind, self._text(record)
            elif record.kind == _CSTRING and self._is_said(record, parent):
                yield -1, self._text(record)
            elif record.is_container and len(stack) < _DEEPEST and not (in_master and self._is_prompt(record)):
                stack.append((self._children(record), record.kind))

    def _is_said(self, record: _Record, parent: int) -> bool:
        return parent == _HEADERS_FOOTERS or (parent == _COMMENT and record.instance in {0, 1})

    def _is_prompt(self, shape: _Record) -> bool:
        if shape.kind != _SHAPE:
            return False
        inner = [record for part in self._children(shape) if part.is_container for record in self._children(part)]
        roles = {
            self._stream[record.start + 4]
            for record in inner
            if record.kind == _PLACEHOLDER and record.end - record.start > 4
        }
        return bool(roles - _FURNITURE)

    def _notes_number(self, slide: _Record) -> int:
        for record in self._children(slide):
            if record.kind == _SLIDE_ATOM and record.end - record.start >= 20:
                number: int = struct.unpack_from("<L", self._stream, record.start + 16)[0]
                return number
        return -1

    def _number(self, record: _Record) -> int:
        content = self._stream[record.start : min(record.end, record.start + 4)]
        return int.from_bytes(content, "little") if len(content) == 4 else -1

    def _text(self, record: _Record) -> str:
        raw = self._stream[record.start : record.end]
        self._room -= len(raw)
        text = raw.decode("latin-1" if record.kind == _TEXT_BYTES else "utf-16-le", "replace")
        return clean(text.replace("\x0b", "\n")).strip()

    def _children(self, parent: _Record) -> Iterator[_Record]:
        return self._records(parent.start, parent.end)

    def _record(self, at: int) -> _Record | None:
        """The record at an offset."""
        return next(self._records(at, len(self._stream)), None) if at >= 0 else None

    def _records(self, at: int, end: int) -> Iterator[_Record]:
        """The records one after the other; the last one's end is cut to that of its container."""
        stream = self._stream
        while at + 8 <= end:
            self._room -= 8
            if self._room < 0:
                if not self.notes:
                    self.notes.append("cut: records are referred to again and again")
                return
            head, kind, size = _HEAD(stream, at)
            start = at + 8
            at = min(start + size, end)
            yield _Record(kind, head >> 4, head & 15 == 15, start, at)
