"""Read Word's binary format, versions 2 to 2003.

In: the bytes of a DOC file.  Out: its paragraphs: the body, then footnotes, headers, comments, endnotes and text boxes.
Always: offsets in the file are not trusted: text outside the file is left out, and time grows with the size of the file, not with its offsets.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from smart_context.model import Extracted
from smart_context.sources.extract import Buffer, Job, Refused, rtf
from smart_context.sources.extract.collect import Sections
from smart_context.sources.extract.compound import Compound
from smart_context.sources.extract.encoding import clean
from smart_context.sources.extract.properties import About

_WORD2 = b"\xdb\xa5"  # a bare file, before compound files
_WORD97 = 0x00C1  # the first version with a table stream and Unicode pieces
_ENCRYPTED, _SECOND_TABLE, _COMPLEX = 0x0100, 0x0200, 0x0004
_MARKS = re.compile("[\x13\x14\x15]")
# Row ends, breaks and cells as lines and tabs; anchors of pictures, notes and comments as nothing.
_CONTROLS = {
    **dict.fromkeys((0x0B, 0x0C, 0x0E), "\n"),
    **dict.fromkeys((0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08, 0x1F), ""),
    0x07: "\t",
    0x0D: "\n",
    0x1E: "-",
    0xA0: " ",
}
# The language of a Word 6 or 95 file, by its number without the country, and the code page that Windows used for it.
_LANGUAGES = {
    **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x24), "cp1250"),
    **dict.fromkeys((0x02, 0x19, 0x22, 0x23, 0x2F), "cp1251"),
    **dict.fromkeys((0x25, 0x26, 0x27), "cp1257"),
    0x04: "gb18030",
    0x08: "cp1253",
    0x0D: "cp1255",
    0x01: "cp1256",
    0x11: "cp932",
    0x12: "cp949",
    0x1E: "cp874",
    0x1F: "cp1254",
}


def read(data: Buffer, job: Job) -> Extracted:
    """Read one Word document."""
    if data[:2] == _WORD2:
        return _extracted(About(), _old(data[:], 0, "cp1252"), job)
    with Compound.of(data, job) as compound:
        document = compound.read("WordDocument")
        if document.startswith(b"{\\rtf"):
            return rtf.read(document, job)
        if len(document) < 0x20:
            raise Refused("damaged", "no document stream")
        version, language, flags = (struct.unpack_from("<H", document, at)[0] for at in (0x02, 0x06, 0x0A))
        if flags & _ENCRYPTED:
            raise Refused("encrypted", "a password is needed")
        table = compound.read("1Table" if flags & _SECOND_TABLE else "0Table")
        about = compound.about()
    if version >= _WORD97:
        text = "".join(_pieces(document, table, 0x01A2, "cp1252"))
    else:
        text = _old(document, flags, _LANGUAGES.get(language & 0x3FF, "cp1252"))
    return _extracted(about, text, job)


def _extracted(about: About, text: str, job: Job) -> Extracted:
    gathered = Sections(job.limits)
    gathered.take_all([("", _paragraphs(text))])
    return about.extracted("doc", gathered.finish(), tuple(gathered.notes))


def _old(document: bytes, flags: int, encoding: str) -> str:
    """Word 2, 6 and 95: one run of bytes, or pieces of it where the file was saved fast."""
    if flags & _COMPLEX:
        found = "".join(_pieces(document, document, 0x0160, encoding, is_old=True))
        if found:
            return found
    start, end = struct.unpack_from("<LL", document, 0x18) if len(document) >= 0x20 else (0, 0)
    return document[start:end].decode(encoding, "replace")


def _pieces(document: bytes, table: bytes, at: int, encoding: str, *, is_old: bool = False) -> Iterator[str]:
    """The text in order, from the pieces scattered over the file, each in Unicode or in one byte per character."""
    if len(document) < at + 8:
        return
    start, size = struct.unpack_from("<LL", document, at)
    plan = _piece_table(table[start : start + size])
    count = (len(plan) - 4) // 12
    read = 0
    for number in range(count):
        first, last = struct.unpack_from("<LL", plan, 4 * number)
        place = struct.unpack_from("<L", plan, 4 * (count + 1) + 8 * number + 2)[0]
        length = last - first
        if length <= 0 or read > len(document):
            continue  # pieces that share bytes could repeat them without end
        read += length
        if is_old:
            yield document[place : place + length].decode(encoding, "replace")
        elif place & 0x40000000:
            place = (place & 0x3FFFFFFF) // 2
            yield document[place : place + length].decode(encoding, "replace")
        else:
            yield document[place : place + 2 * length].decode("utf-16-le", "replace")


def _piece_table(complex_part: bytes) -> bytes:
    """The table of pieces, behind any number of formatting records."""
    at = 0
    while at + 5 <= len(complex_part):
        kind = complex_part[at]
        if kind == 2:
            size = struct.unpack_from("<L", complex_part, at + 1)[0]
            return complex_part[at + 5 : at + 5 + size]
        if kind != 1:
            break
        at += 3 + struct.unpack_from("<H", complex_part, at + 1)[0]
    return b""


def _paragraphs(text: str) -> list[str]:
    return clean(_without_instructions(text).translate(_CONTROLS)).split("\n")


def _without_instructions(text: str) -> str:
    """The text with the results of fields, without their instructions (between the first two marks), however they nest."""
    kept: list[str] = []
    hidden: list[bool] = []  # for each open field, whether we are still in its instruction
    at = shut = 0
    for match in _MARKS.finditer(text):
        if not shut:
            kept.append(text[at : match.start()])
        at = match.end()
        if match[0] == "\x13":
            hidden.append(True)
            shut += 1
        elif hidden and match[0] == "\x14":
            shut -= hidden[-1]
            hidden[-1] = False
        elif hidden and match[0] == "\x15":
            shut -= hidden.pop()
    # A field that never ends is damage: what follows it is text.
    kept.append(text[at:])
    return "".join(kept)
