"""Read an Outlook message with everything attached.

In: the bytes of an MSG file.  Out: `message` with its headers and body, then the attachments' units.
Always: a property that is absent or damaged is left out; a message inside a message is an attachment.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta

from smart_context.data import dataclass
from smart_context.model import Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused, compressed_rtf, html, rtf
from smart_context.sources.extract.compound import Compound
from smart_context.sources.extract.encoding import clean, codec, decode
from smart_context.sources.extract.nested import Gathered
from smart_context.sources.extract.properties import About, day

Storage = tuple[str, ...]

# Property numbers, as MAPI has them.
_SUBJECT, _BODY, _BODY_RTF, _BODY_HTML = 0x0037, 0x1000, 0x1009, 0x1013
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_FROM_NAME, _FROM_ADDRESS, _FROM_SMTP = 0x0042, 0x0065, 0x5D02
_SHOWN_TO, _SHOWN_CC, _SHOWN_BCC = 0x0E04, 0x0E03, 0x0E02
_SENT, _DELIVERED, _CREATED = 0x0039, 0x0E06, 0x3007
_NAME, _ADDRESS, _SMTP, _RECIPIENT_TYPE = 0x3001, 0x3003, 0x39FE, 0x0C15
_LONG_FILENAME, _FILENAME, _DATA = 0x3707, 0x3704, 0x3701
_CODEPAGE, _INTERNET_CODEPAGE = 0x3FFD, 0x3FDE
_UNICODE, _EIGHT_BIT, _BINARY, _EMBEDDED = "001F", "001E", "0102", "000D"
_MOST_NAMES = 100
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
# Code pages that Python knows by another name.
_PAGES = {65001: "utf-8", 1200: "utf-16-le", 20127: "cp1252", 28591: "cp1252", 50220: "iso2022_jp", 51932: "euc_jp"}
_PAGES |= {20866: "koi8_r", 21866: "koi8_u", 54936: "gb18030", 936: "gb18030", 51949: "euc_kr", 10000: "mac_roman"}


def read(data: Buffer, job: Job) -> Extracted:
    """Read one message file."""
    with Compound.of(data, job) as compound:
        return _message(compound, (), job)


def _message(compound: Compound, storage: Storage, job: Job) -> Extracted:
    properties = _properties(compound, storage, 32 if not storage else 24, "")
    subject = _line(properties.text(_SUBJECT))
    gathered = Gathered(job, "attachment")
    shown = (
        ("From", _sender(properties)),
        ("To", _recipients(properties, 1, _SHOWN_TO)),
        ("Cc", _recipients(properties, 2, _SHOWN_CC)),
        ("Date", _date(properties)),
        ("Subject", subject),
    )
    for attachment in properties.children("__attach_version1.0_#"):
        if gathered.is_full:
            break
        _attach(compound, attachment, properties.encoding, gathered)
    lines = [f"{name}: {value}" for name, value in shown if value]
    if gathered.names:
        lines.append(f"Attachments: {', '.join(gathered.names[:_MOST_NAMES])}")
    body = _body(properties, job.limits.max_text_chars)
    if not lines and not body:
        raise Refused("damaged", "no message in it")
    text = "\n".join(lines) + (f"\n\n{body}" if body else "")
    if len(text) > job.limits.max_text_chars:
        text = text[: job.limits.max_text_chars]
        gathered.note(f"message cut at {job.limits.max_text_chars:,} characters")
    units = (Unit((Part("message"),), text, subject, "lines"), *gathered.units)
    said = dict(shown)
    return About(subject, said["From"], day(said["Date"])).extracted("msg", units, gathered.notes())


@dataclass(frozen=True, slots=True)
class _Properties:
    """The properties of a message, recipient or attachment. `fixed`: those of eight bytes or less, by number."""

    compound: Compound
    storage: Storage
    fixed: dict[int, bytes]
    encoding: str

    def raw(self, number: int, kind: str) -> bytes:
        return self.compound.read(*self.storage, f"__substg1.0_{number:04X}{kind}")

    def text(self, number: int) -> str:
        if wide := self.raw(number, _UNICODE):
            return clean(wide.decode("utf-16-le", "replace")).rstrip(" ")
        return decode(self.raw(number, _EIGHT_BIT).rstrip(b"\0"), self.encoding)

    def children(self, prefix: str) -> list[Storage]:
        return [path for path in self.compound.storages(self.storage) if path[-1].lower().startswith(prefix)]


def _properties(compound: Compound, storage: Storage, header: int, encoding: str) -> _Properties:
    stream = compound.read(*storage, "__properties_version1.0")
    fixed = {}
    for at in range(header, len(stream) - 15, 16):
        _, number = struct.unpack_from("<HH", stream, at)
        fixed[number] = stream[at + 8 : at + 16]
    for number in (_CODEPAGE, _INTERNET_CODEPAGE):
        if not encoding and number in fixed:
            encoding = _codepage(struct.unpack_from("<L", fixed[number])[0])
    return _Properties(compound, storage, fixed, encoding)


def _codepage(number: int) -> str:
    return _PAGES.get(number) or codec(f"cp{number}")


def _sender(message: _Properties) -> str:
    name = message.text(_SENDER_NAME) or message.text(_FROM_NAME)
    addresses = (_SENDER_SMTP, _FROM_SMTP, _SENDER_ADDRESS, _FROM_ADDRESS)
    return _person(name, next((found for number in addresses if "@" in (found := message.text(number))), ""))


def _recipients(message: _Properties, wanted: int, shown: int) -> str:
    people = []
    for storage in message.children("__recip_version1.0_#")[:1000]:
        recipient = _properties(message.compound, storage, 8, message.encoding)
        role = struct.unpack_from("<L", recipient.fixed.get(_RECIPIENT_TYPE, b"\1\0\0\0\0\0\0\0"))[0] & 15
        if role == wanted:
            address = recipient.text(_SMTP) or recipient.text(_ADDRESS)
            people.append(_person(recipient.text(_NAME), address if "@" in address else ""))
    return ", ".join(filter(None, people)) or _line(message.text(shown))


def _person(name: str, address: str) -> str:
    name, address = _line(name), _line(address)
    if not address or address in name:
        return name
    return f"{name} <{address}>" if name else address


def _date(message: _Properties) -> str:
    for number in (_SENT, _DELIVERED, _CREATED):
        ticks = struct.unpack_from("<Q", message.fixed.get(number, b"\0" * 8))[0]
        try:
            if ticks:
                return (_EPOCH + timedelta(microseconds=ticks // 10)).strftime("%Y-%m-%d %H:%M:%S UTC")
        except OverflowError:
            continue
    return ""


def _body(message: _Properties, most: int) -> str:
    plain = message.text(_BODY)
    if plain.strip():
        return plain.strip("\n")
    page = message.raw(_BODY_HTML, _BINARY)
    if page:
        found = html.plain(decode(page, html.declared(page[:4096]) or message.encoding))
    else:
        found = html.plain(message.text(_BODY_HTML))
    return found or rtf.plain(compressed_rtf.unpacked(message.raw(_BODY_RTF, _BINARY)), most)


def _attach(compound: Compound, storage: Storage, encoding: str, gathered: Gathered) -> None:
    attachment = _properties(compound, storage, 8, encoding)
    names = (_LONG_FILENAME, _FILENAME, _NAME)
    name = next((found for number in names if (found := _line(attachment.text(number)))), "attachment")
    content = attachment.raw(_DATA, _BINARY)
    inner = (*storage, f"__substg1.0_{_DATA:04X}{_EMBEDDED}")
    if content:
        gathered.add(name, content)
    elif (*inner, "__properties_version1.0") in compound:
        gathered.nest(name, lambda job: _message(compound, inner, job))


def _line(text: str) -> str:
    return " ".join(text.split())
