"""Decode the headers of a mail message, written by every program since 1982.

In: raw header values.  Out: readable text.
Always: what cannot be decoded is shown as it is; nothing raises.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from email.message import Message

from smart_context.sources.extract.encoding import clean, codec, decode

_ENCODED_WORD = re.compile(r"=\?([\w.:*-]{1,60})\?([bBqQ])\?([^?\s]*)\?=(?:[ \t\r\n]+(?==\?))?")
_ENCODED_WORDS = re.compile(rf"(?:{_ENCODED_WORD.pattern})+")
_PARAMETER = re.compile(
    r""";\s*(name|filename|charset)(?:\*(\d{1,3}))?(\*)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))""", re.IGNORECASE
)
_LONGEST = 20_000


def raw(message: Message, name: str) -> str:
    """A header as it was written, all of its occurrences, undecoded."""
    wanted = name.lower()
    return ", ".join(str(value) for key, value in message.raw_items() if key.lower() == wanted)


def decoded(value: str) -> str:
    """One line of text for a header's value."""
    value = _raw_bytes(value[:_LONGEST])
    if "=?" in value:
        value = _ENCODED_WORDS.sub(_words, value)
    return " ".join(clean(value).split())


def filename(part: Message) -> str:
    """The name that a part gives itself, or ""."""
    for header, wanted in (("Content-Disposition", "filename"), ("Content-Type", "name")):
        found = _parameter(part, header, wanted)
        if found:
            return " ".join(clean(found).split())
    return ""


def charset(part: Message) -> str:
    """The codec that a part names, or ""."""
    return codec(_parameter(part, "Content-Type", "charset"))


def disposition(part: Message) -> str:
    """`inline`, `attachment` or ""."""
    value = raw(part, "Content-Disposition")
    return value.partition(";")[0].strip().lower()


def _parameter(part: Message, header: str, wanted: str) -> str:
    """A parameter, which may be continued (name*0=…; name*1=…) or carry its encoding (name*=UTF-8''…)."""
    value = _raw_bytes(raw(part, header)[:_LONGEST])
    pieces: dict[int, tuple[bool, str]] = {}
    for match in _PARAMETER.finditer(value):
        if match[1].lower() == wanted:
            text = re.sub(r"\\(.)", r"\1", match[4]) if match[4] is not None else match[5]
            pieces.setdefault(int(match[2] or 0), (bool(match[3]), text))
    if not pieces:
        return ""
    is_encoded, first = pieces[min(pieces)]
    text = "".join(pieces[at][1] for at in sorted(pieces))
    if is_encoded and first.count("'") >= 2:
        encoding, _, rest = text.split("'", 2)
        octets = re.sub(
            rb"%([0-9a-fA-F]{2})", lambda m: bytes((int(m[1], 16),)), rest.encode("utf-8", "surrogateescape")
        )
        return decode(octets, encoding)
    return decoded(text)


def _raw_bytes(value: str) -> str:
    """Decode unencoded bytes in a header, which the parser keeps as surrogates."""
    if value.isascii() or not any("\udc80" <= char <= "\udcff" for char in value):
        return value
    return decode(value.encode("utf-8", "surrogateescape"))


def _words(match: re.Match[str]) -> str:
    """A run of encoded words. A character may be split between two, so neighbours of one encoding are joined first."""
    text, pending, encoding = "", b"", ""
    for word in _ENCODED_WORD.finditer(match[0]):
        name = word[1].partition("*")[0]
        if name.lower() != encoding:
            text += decode(pending, encoding)
            pending, encoding = b"", name.lower()
        pending += _unpacked(word[2].lower(), word[3].encode("utf-8", "surrogateescape"))
    return text + decode(pending, encoding)


def _unpacked(how: str, packed: bytes) -> bytes:
    if how == "q":
        return quopri.decodestring(packed, header=True)
    try:
        return base64.b64decode(packed + b"=" * (-len(packed) % 4))
    except (binascii.Error, ValueError):
        return packed
