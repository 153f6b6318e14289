"""Decode text whose encoding is not declared, or declared wrongly.

In: bytes, and the declared encoding, if any.  Out: a string of whole lines.
Always: every input gives a string; it holds no NUL or other control character but tab and newline, and no lone surrogate.
"""

from __future__ import annotations

import codecs
import re

from smart_context.model import Limits
from smart_context.sources.extract import Buffer

try:
    from smart_context.sources.extract import _encoding as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_SAMPLE = 64 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Declared encodings, and the supersets that are meant by them, as in browsers.
_MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
_MEANT |= {"iso8859-9": "cp1254", "tis-620": "cp874", "euc_kr": "cp949", "big5": "big5hkscs"}
_NOT_TEXT = frozenset(
    {"idna", "punycode", "raw_unicode_escape", "unicode_escape", "undefined", "mbcs", "oem", "palmos"}
)
_LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "mac_roman", "cp850")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")

_ASCII = bytes(range(128))
_ASCII_CONTROL = bytes(code for code in range(128) if _CONTROL.match(chr(code)))


def decode(data: Buffer, declared: str = "") -> str:
    """Read all of the bytes as text. `declared` is the encoding that the file names, believed unless the bytes disagree."""
    return clean(_decoded(data[:], declared))


def decode_capped(data: Buffer, limits: Limits, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """The same, at most `max_text_chars` of it, and a note if that was not all."""
    most = limits.max_text_chars
    text = decode(data[: 4 * most], declared)
    if len(text) <= most and len(data) <= 4 * most:
        return text, ()
    return text[:most], (f"cut at {most:,} characters",)


def as_utf8(data: bytes) -> bytes:
    """The same text with ASCII as single bytes: UTF-16 and UTF-32 become UTF-8, other bytes are unchanged."""
    wide = next((encoding for mark, encoding in _BOMS if data.startswith(mark)), "") or _wide(data[:_SAMPLE])
    return data.decode(wide, "replace").lstrip("\ufeff").encode() if wide else data


def clean(text: str) -> str:
    """Normalize line ends to newlines, and remove control characters, colour codes and lone surrogates."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _has_control(text):
        text = _CONTROL.sub(" ", _ANSI.sub("", text))
    return text


def _has_control(text: str) -> bool:
    if compiled:
        return compiled.has_control(text)
    data = text.encode("utf-8", "surrogatepass")  # searching bytes is several times as fast
    if len(data.translate(None, _ASCII_CONTROL)) < len(data):
        return True
    beyond = b"" if text.isascii() else data.translate(None, _ASCII)
    return bool(beyond) and _CONTROL.search(beyond.decode("utf-8", "surrogatepass")) is not None


def codec(name: str) -> str:
    """The codec that is meant by an encoding's name in a file; "" if there is none."""
    try:
        found = codecs.lookup(name.strip().strip("'\"").lower())
    except (LookupError, ValueError):
        return ""
    if not found._is_text_encoding or found.name in _NOT_TEXT:
        return ""
    return _MEANT.get(found.name, found.name)


def _decoded(data: bytes, declared: str) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    encoding = codec(declared)
    if encoding and not encoding.startswith(("utf-16", "utf-32")):
        try:
            return data.decode(encoding)
        except (UnicodeError, ValueError):
            pass  # the declaration is wrong: detect the encoding from the bytes
    wide = _wide(data[:_SAMPLE])
    if wide:
        return data.decode(wide, "replace")
    lenient = data.decode("utf-8", "replace")
    if _is_utf8(data, lenient):
        return lenient
    return data.decode(encoding if encoding not in {"", "utf-8"} else _guessed(data), "replace")


def _wide(sample: bytes) -> str:
    """UTF-16 or UTF-32 without a BOM: every second or fourth byte is nearly always zero."""
    if b"\0" not in sample:
        return ""
    lanes = [sample[at::4].count(0) for at in range(4)]
    full = len(sample) // 4 or 1
    zero = [lane > 0.7 * full for lane in lanes]
    patterns = {
        (False, True, True, True): "utf-32-le",
        (True, True, True, False): "utf-32-be",
        (False, True, False, True): "utf-16-le",
        (True, False, True, False): "utf-16-be",
    }
    return patterns.get((zero[0], zero[1], zero[2], zero[3]), "")


def _is_utf8(data: bytes, lenient: str) -> bool:
    bad = lenient.count("�")
    # Each continuation byte makes the text one character shorter than the bytes.
    continued = len(data) - len(lenient)
    if bad == 0 or (bad == 1 and lenient.endswith("�") and continued > 2):
        return True  # nothing wrong, or cut inside a character
    # A few broken bytes in much good UTF-8 (a log, a mail folder) are damage, not another encoding.
    return continued > 8 * bad


def _guessed(data: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = _sample(data)
    runs = _HIGH_RUN.findall(sample)
    # Letters beyond ASCII are mostly single in words of Latin script, and adjacent in all other scripts.
    is_latin = len(runs) > 0.7 * sum(map(len, runs))
    found = from_bytes(sample, cp_isolation=list(_LATIN) if is_latin else None)
    best = found.best()
    if best is None:
        return "cp1252"
    for match in found:
        # Western text is often valid in neighbouring encodings too, and is by far the most common.
        if (
            "cp1252" in match.could_be_from_charset
            and match.chaos <= best.chaos
            and match.coherence > best.coherence - 0.1
        ):
            return "cp1252"
    return codec(best.encoding) or "cp1252"


def _sample(data: bytes) -> bytes:
    """At most 64 kB around the first byte that is not ASCII, cut at a line where there is one."""
    first = next((match.start() for match in re.finditer(rb"[\x80-\xff]", data)), 0)
    start = max(0, data.rfind(b"\n", 0, first) + 1, first - _SAMPLE // 2)
    sample = data[start : start + _SAMPLE]
    end = sample.rfind(b"\n")
    return sample[:end] if len(sample) == _SAMPLE and end > first - start else sample
