"""Detect the format of a file, from its content first and its name second.

In: the bytes and the name.  Out: a kind: one of `extract.READERS`, or another ("executable", "encrypted", "unknown").
Always: reads a few kilobytes and the directories of containers, however large the file is.
"""

from __future__ import annotations

import bz2
import codecs
import lzma
import os
import re
import zlib
from collections.abc import Sequence

from smart_context.sources.extract import Buffer, Refused, zipped
from smart_context.sources.formats import FORMATS

_HEAD = 8192
# The share of control characters that text may have: at its start, in its middle, and in valid UTF-8, which may have NUL among them, as logs and old
# transcripts do: binary data is hardly ever valid.
_AT_START, _BETWEEN, _IN_UTF8 = 0.02, 0.1, 0.05
_MOST_ENTRIES = 2000  # enough of a zip's directory to know an Office file by its parts

_STARTS = tuple((mark, each.kind) for each in FORMATS for mark in each.starts)
# Magic numbers of formats that store no text; where one is a prefix of another, the longer one is first
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF87a", "image"),
    (b"GIF89a", "image"),
    (b"II*\0", "image"),
    (b"MM\0*", "image"),
    (b"8BPS", "image"),
    (b"\0\0\1\0", "image"),
    (b"\xd7\xcd\xc6\x9a", "image"),
    (b"\0\0\0\x0cjP  ", "image"),
    (b"ID3", "audio"),
    (b"fLaC", "audio"),
    (b"OggS", "audio"),
    (b"MThd", "audio"),
    (b"\xff\xfb", "audio"),
    (b"\xff\xf3", "audio"),
    (b"\xff\xf1", "audio"),
    (b"\x1aE\xdf\xa3", "video"),
    (b"FLV\1", "video"),
    (b"0&\xb2u\x8ef\xcf\x11", "video"),
    (b"\0\0\1\xba", "video"),
    (b"\x7fELF", "executable"),
    (b"\xca\xfe\xba\xbe", "executable"),
    (b"\xcf\xfa\xed\xfe", "executable"),
    (b"\xce\xfa\xed\xfe", "executable"),
    (b"\xfe\xed\xfa\xcf", "executable"),
    (b"\0asm", "executable"),
    (b"dex\n", "executable"),
    (b"!<arch>\n", "executable"),
    (b"\0\1\0\0\0", "font"),
    (b"OTTO\0", "font"),
    (b"ttcf\0", "font"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"SQLite format 3\0", "database"),
    (b"\0\1\0\0Standard ", "database"),
    (b"!BDN", "database"),
    (b"PAR1", "database"),
    (b"ARROW1", "database"),
    (b"\x89HDF\r\n\x1a\n", "database"),
    (b"7z\xbc\xaf\x27\x1c", "compressed"),
    (b"Rar!\x1a\x07", "compressed"),
    (b"(\xb5/\xfd", "compressed"),
    (b"MSCF\0", "compressed"),
)

_MARKS = tuple(magic for magic, _ in (*_STARTS, *_MAGIC))  # tested in one call: most files begin with none

_BY_EXTENSION: dict[str, str] = {
    extension: each.kind for each in FORMATS if each.is_text for extension in each.extensions.split()
}
_PAGES, _MAIL_EXTENSIONS = (
    frozenset(each.extensions.split()) for kind in ("html", "eml") for each in FORMATS if each.kind == kind
)
_MAIL_HEADER = re.compile(
    rb"^(from|to|cc|date|subject|received|return-path|delivered-to|message-id|mime-version|reply-to|sender|"
    rb"content-type|content-transfer-encoding|x-[\w-]+|dkim-signature|authentication-results|thread-index|importance):",
    re.IGNORECASE | re.MULTILINE,
)
_ENVELOPE = re.compile(rb"\s*From [^\n]{1,300}\d\d:\d\d(?::\d\d)?[^\n]{0,100}\n")  # between the messages of an mbox
_HTML_START = re.compile(
    # Atomic groups, so that comments that never close do not backtrack.
    rb"(?>(?:\s+|(?><!--.*?-->)|(?><\?xml.*?\?>))*)<(?:!doctype\s+html|html)(?=[\s>/])"
    rb"|(?>(?:\s+|(?><!--.*?-->))*)<(?:head|body|title|table|div|p|meta|h1|span|style|script|center|font)(?=[\s>/])",
    re.IGNORECASE | re.DOTALL,
)
_XML_START = re.compile(rb"\s*<(?:\?xml\b|!doctype\b|[a-z][\w.-]*:[a-z])", re.IGNORECASE)
# A manual page begins with a request or a comment of troff, and says early which page it is; one that Perl made defines macros before that.
_MAN_START = re.compile(
    rb"""\s*(?=[.'](?:[ \t]*(?:[.']?\\|[A-Za-z]\w{0,3}\s|\r?\n)|''[ \t])|\\")(?:.{0,8000}?\n)?[.'](?:TH|Dd)[ \t]|\s*(?:[.'][ \t]*)?\\".{0,200}?Pod::Man""",
    re.DOTALL,
)
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def kind(data: Buffer, name: str) -> str:
    """Name the format of a file."""
    return opened(data, name)[0]


def opened(data: Buffer, name: str) -> tuple[str, object]:
    """The same, with the container that was opened for it, which a reader need not open again."""
    if len(data) == 0:
        return "empty", None
    head = data[:_HEAD]
    if head.startswith((b"PK\3\4", b"PK\5\6", b"PK\7\x08", b"PK00PK\3\4")):
        return _zip_kind(data)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _ole_kind(data)
    return _packed(data, head) or _by_magic(data, head, name) or _textual(data, head, name) or "unknown", None


_PACKED = (
    (re.compile(rb"\x1f\x8b"), "gzip"),
    (re.compile(rb"BZh[1-9]"), "bzip2"),
    (re.compile(rb"\xfd7zXZ\0"), "xz"),
)


def _packed(data: Buffer, head: bytes) -> str | None:
    for mark, packing in _PACKED:
        if mark.match(head):
            return "tar" if _is_tar(_first_block(data)) else packing
    return "tar" if _is_tar(head) else None


_OPC_MAIN = tuple((mark, each.kind) for each in FORMATS for mark in each.main)
_PARTS = tuple((each.part, each.kind) for each in FORMATS if each.part)
_MIMETYPES = tuple((mark.encode(), each.kind) for each in FORMATS for mark in each.mimetype)
_OLE_STREAMS = (
    ("EncryptedPackage", "encrypted"),
    *((name, each.kind) for each in FORMATS for name in each.stream),
)


def _zip_kind(data: Buffer) -> tuple[str, object]:
    try:
        entries, cut = zipped.directory(data, _MOST_ENTRIES)
    except Refused:
        return "zip", None
    return _office_kind(data, entries), None if cut else zipped.Directory(data, entries)


def _office_kind(data: Buffer, entries: Sequence[zipped.Entry]) -> str:
    by_name = {entry.name.replace("\\", "/").lstrip("/").lower(): entry for entry in entries}
    if (types := by_name.get("[content_types].xml")) is not None:
        content = zipped.peek(data, types, 1 << 20)
        for mark, found in _OPC_MAIN:
            if mark in content:
                return found
    if (mimetype := by_name.get("mimetype")) is not None:
        return _mimetype_kind(zipped.peek(data, mimetype, 200).strip()) or "zip"
    return next((found for part, found in _PARTS if part in by_name), "zip")


def _mimetype_kind(mimetype: bytes) -> str | None:
    return next((found for mark, found in _MIMETYPES if mimetype.startswith(mark)), None)


def _ole_kind(data: Buffer) -> tuple[str, object]:
    from smart_context.sources.extract.compound import Compound

    try:
        streams = Compound(data)
    except Refused:
        return "ole", None
    return next((found for mark, found in _OLE_STREAMS if (mark,) in streams), "ole"), streams


def _first_block(data: Buffer) -> bytes:
    """The first 512 bytes inside gzip, bzip2 or xz; b"" where they cannot be decompressed."""
    head = data[: 1 << 20]
    try:
        if head.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, 512)
        if head.startswith(b"BZh"):
            return bz2.BZ2Decompressor().decompress(head, 512)
        return lzma.LZMADecompressor(memlimit=128 << 20).decompress(head, 512)
    except (zlib.error, OSError, lzma.LZMAError, EOFError):
        return b""


def _is_tar(block: bytes) -> bool:
    if len(block) < 512:
        return False
    if block[257:262] == b"ustar":
        return True
    # A tar from before POSIX has no magic number, only a checksum of the header, computed with its own field as spaces.
    digits = block[148:156].strip(b" \0")
    if not digits or not digits.isdigit() or not block[0] or set(digits) - set(b"01234567"):
        return False
    return sum(block[:148]) + sum(block[156:512]) + 8 * 32 == int(digits, 8)


def _by_magic(data: Buffer, head: bytes, name: str) -> str | None:
    if _is_pdf(data, head, name):
        return "pdf"
    if head.startswith(_MARKS) and (found := _marked(head)):
        return found
    if head.startswith(b"RIFF"):
        return {b"WEBP": "image", b"WAVE": "audio", b"AVI ": "video"}.get(head[8:12], "unknown")
    if head[4:8] == b"ftyp":
        return {b"heic": "image", b"heix": "image", b"mif1": "image", b"avif": "image", b"M4A ": "audio"}.get(
            head[8:12], "video"
        )
    if head.startswith(b"MZ") and b"\0" in head:
        return "executable"
    if head.startswith(b"BM") and b"\0" in head[:30]:
        return "image"
    return None


def _marked(head: bytes) -> str | None:
    for mark, found in _STARTS:
        if head.startswith(mark):
            return found
    for magic, found in _MAGIC:
        # A text may begin with a magic number that is plain letters.
        if head.startswith(magic) and (b"\0" in head or not magic.isascii() or not magic.decode().isprintable()):
            return found
    return None


def _is_pdf(data: Buffer, head: bytes, name: str) -> bool:
    at = head.find(b"%PDF-", 0, 1024 + 5)
    if at <= 0 or not head[:at].strip(b"\xef\xbb\xbf \t\r\n\0"):
        return at >= 0
    # Junk before the header is common, and so is source code that mentions it.
    return _extension(name) == ".pdf" or b"startxref" in data[max(0, len(data) - 2048) :]


def _textual(data: Buffer, head: bytes, name: str) -> str | None:
    extension = _extension(name)
    text = _as_text(data, head)
    if text is None:
        # Mail may have unencoded attachments, and HTML pages may contain uninitialized memory of the program that wrote them.
        if extension in _MAIL_EXTENSIONS and _is_mail(head, extension):
            return "eml"
        return "html" if extension in _PAGES and _HTML_START.match(head) else None
    if text.startswith(b"{\\rtf"):
        return "rtf"
    if extension in _BY_EXTENSION and extension not in {".html", ".htm", ".xml"}:
        return _BY_EXTENSION[extension]
    if _is_mail(text, extension):
        return "eml"
    if b"office:mimetype=" in text and (flat := re.search(rb'office:mimetype="([^"]*)"', text)):
        found = _mimetype_kind(flat[1])
        if found in {"odt", "odp"}:
            return found
    if _MAN_START.match(text):
        return "man"
    if _HTML_START.match(text):
        return "html"
    if _XML_START.match(text):
        return "xml"
    if extension in _BY_EXTENSION:
        return _BY_EXTENSION[extension]
    if not extension and text.lstrip()[:1] in {b"{", b"["} and text.lstrip()[1:].lstrip()[:1] in {b'"', b"{", b"["}:
        return "json"
    return "text"


def _extension(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _as_text(data: Buffer, head: bytes) -> bytes | None:
    """The head if it is text in some encoding: UTF-16 and UTF-32 as UTF-8, others unchanged; else None."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "ignore").encode("utf-8", "ignore")
    if b"\0" in head and (wide := _wide_text(head)) is not None:
        return wide
    # A binary file can begin like text; text rarely turns binary later. One more look in the middle is cheap.
    middle = data[len(data) // 2 : len(data) // 2 + 1024] if len(data) > 2 * _HEAD else b""
    return head if _is_text(head, _AT_START) and _is_text(middle, _BETWEEN) else None


def _is_text(sample: bytes, most: float) -> bool:
    """Whether a part of a file has hardly any control characters, or some in valid UTF-8."""
    share = _control_share(sample)
    return (share <= most and b"\0" not in sample) or (share <= _IN_UTF8 and _is_utf8(sample))


def _is_utf8(sample: bytes) -> bool:
    """Whether a part of a file is valid UTF-8, but for characters that it cuts."""
    start = next((at for at in range(min(3, len(sample))) if not 0x80 <= sample[at] < 0xC0), 3)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample[start:])
    except UnicodeDecodeError:
        return False
    return True


def _wide_text(head: bytes) -> bytes | None:
    """UTF-16 without a BOM, recognised by its high bytes: in mostly Latin text nearly all of them are zero."""
    for encoding, high in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if high.count(0) > 0.7 * len(high):
            text = head[: len(head) & ~1].decode(encoding, "replace")
            encoded = text.encode("utf-8", "replace")
            if "\0" not in text and _control_share(encoded) <= 0.02 and text.count("�") <= 1:
                return encoded
    return None


def _control_share(sample: bytes) -> float:
    plain = sample.translate(
        None, b"\0\1\2\3\4\5\6\7\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1c\x1d\x1e\x1f\x7f"
    )
    return (len(sample) - len(plain)) / max(1, len(sample))


def _is_mail(text: bytes, extension: str) -> bool:
    first = text.lstrip()
    if re.match(rb"From |\d+\s*\n" if extension in _MAIL_EXTENSIONS else rb"From ", first):
        first = first.partition(b"\n")[2]  # before the headers: the "From " line of an mbox or, in .emlx, a byte count
    if not _MAIL_HEADER.match(first):
        return extension in _MAIL_EXTENSIONS and re.match(rb"[\w-]+:", first) is not None
    if extension in _MAIL_EXTENSIONS:
        return True
    headers, _, body = re.sub(rb"\r\n", b"\n", first).partition(b"\n\n")
    names = {match.lower() for match in _MAIL_HEADER.findall(headers)}
    if _ENVELOPE.match(text) and (not body or b"from" in names):
        return True  # headers that are longer than the head, as servers add them, may name the sender below it
    return (
        b"from" in names and len(names & {b"date", b"message-id", b"received", b"mime-version", b"to", b"subject"}) >= 3
    )
