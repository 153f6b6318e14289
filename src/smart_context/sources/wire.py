"""Serialize the answers of a reading process.

In: an `Answer`.  Out: its frame, and back.
Always: `decode` trusts nothing. The other side has parsed hostile files and may say anything; what is not an answer is `Garbled`.

A forked process sends its pid first. The next byte says that the process is ready, and the layers of its jail. Then comes a frame for each file: two lengths,
a JSON head, and a body: the text of all units or segments in one piece, then the entries of segments. So large parts cross the socket without escaping.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable
from typing import Any, cast

from smart_context.data import dataclass
from smart_context.model import (
    HIDDEN_KINDS,
    JAIL_LAYERS,
    Divisible,
    Extracted,
    Hidden,
    Part,
    Prepared,
    Segment,
    Skipped,
    Unit,
)

LENGTHS = struct.Struct("<II")
REQUEST = struct.Struct("<I")
BORN = struct.Struct("<I")
UNJAILED = 78  # exit status of a process that must enter the jail and cannot
_READY = 0x40
_LONGEST_AUTHOR = 1000  # with the placeholders for what is hidden in it
_LONGEST_MARK = 128
_NO_ANSWER = "not an answer"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Garbled(ValueError):
    """Bytes that are no answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one file. outcome: None if only the hash was asked for. is_last: the process ends after this one."""

    outcome: Extracted | Prepared | Skipped | None
    sha256: str
    is_last: bool = False


def born(pid: int) -> bytes:
    """The first bytes of a forked process: its pid."""
    return BORN.pack(pid)


def ready(layers: Iterable[str]) -> bytes:
    """The byte before the first answer: the layers of the jail."""
    return bytes([_READY + sum(1 << JAIL_LAYERS.index(layer) for layer in layers)])


def layers(byte: int) -> tuple[str, ...]:
    """Decode the byte of `ready`.

    Raises: Garbled for anything else.
    """
    _check(0 <= byte - _READY < 1 << len(JAIL_LAYERS))
    return tuple(layer for at, layer in enumerate(JAIL_LAYERS) if byte >> at & 1)


def encode(answer: Answer) -> list[bytes]:
    """Write an answer; the pieces are to be sent one after the other."""
    head: dict[str, object] = {"file": [answer.sha256, answer.is_last]}
    text, entries = "", b""
    match answer.outcome:
        case Extracted(units=units) as about:
            text = "".join([unit.text for unit in units])
            head["got"] = _about(about)
        case Prepared(about, segments, years, made):
            text = "".join([segment.text for segment in segments])
            head["got"] = _about(about)
            head["ready"] = [[s.pointer, s.heading, len(s.text), s.hidden, s.certainty] for s in segments]
            head["marks"] = [answer.outcome.same_text.hex(), answer.outcome.like_text.hex()]
            head["years"] = years
            head["entries"] = [len(one) for one in made]
            entries = b"".join(made)
        case Skipped(kind, reason, detail):
            head["skipped"] = [kind, reason, detail]
    # A lone surrogate is no text; it becomes a question mark, one for one, so that the lengths hold.
    body = text.encode("utf-8", "replace") + entries
    meta = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return [LENGTHS.pack(len(meta), len(body)), meta, body]


def decode(meta: bytes | bytearray, body: bytes | bytearray) -> Answer:
    """Read an answer.

    Raises: Garbled for anything else.
    """
    try:
        head = json.loads(meta)
        sha256, is_last = head["file"]
        _check(isinstance(sha256, str))
        return Answer(_outcome(head, body), sha256, bool(is_last))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Garbled(_NO_ANSWER) from error


def _about(doc: Extracted) -> list[object]:
    units = [_flat(unit) for unit in doc.units]
    return [doc.kind, doc.title, doc.notes, units, doc.author, doc.dated, doc.unread_pages]


def _outcome(head: dict[str, Any], body: bytes | bytearray) -> Extracted | Prepared | Skipped | None:
    if "skipped" in head:
        kind, reason, detail = head["skipped"]
        _check(all(isinstance(word, str) for word in (kind, reason, detail)))
        return Skipped(kind, reason, detail)
    if "got" not in head:
        return None
    if "ready" in head:
        return _prepared(head, body)
    return _extracted(head["got"], body.decode("utf-8"))


def _prepared(head: dict[str, Any], body: bytes | bytearray) -> Prepared:
    sizes = head["entries"]
    _check(all(type(size) is int and size > 0 for size in sizes) and sum(sizes) <= len(body))
    _check(len(sizes) in {0, len(head["ready"])})
    at = len(body) - sum(sizes)
    entries = []
    with memoryview(body) as view:  # each part is copied once
        text = str(view[:at], "utf-8")
        for size in sizes:
            entries.append(view[at : at + size].tobytes())
            at += size
    segments = []
    at, end = 0, len(text)
    for seq, (pointer, heading, length, hidden, certainty) in enumerate(head["ready"]):
        start, at = at, at + length
        if not (type(pointer) is type(heading) is str and type(length) is int and start < at <= end):
            raise Garbled(_NO_ANSWER)
        known = _hidden(hidden, length) if hidden or type(hidden) is not list else ()
        sure = certainty if certainty is None else _certainty(certainty)
        segments.append(Segment(seq, pointer, heading, text[start:at], known, sure))
    _check(at == end)
    years = tuple(head["years"])
    _check(all(isinstance(year, str) and len(year) == 4 and year.isdigit() for year in years))
    marks = [bytes.fromhex(mark) for mark in head["marks"]]
    _check(len(marks) == 2 and max(map(len, marks)) <= _LONGEST_MARK)
    return Prepared(_extracted(head["got"], ""), tuple(segments), years, tuple(entries), *marks)


def _hidden(flat: list[Any], length: int) -> Hidden:
    last = 0
    for start, end, kind in flat:
        _check(type(start) is int and type(end) is int and last <= start < end <= length and kind in HIDDEN_KINDS)
        last = end
    return tuple((start, end, kind) for start, end, kind in flat)


def _certainty(given: object) -> int | None:
    _check(given is None or (type(given) is int and 0 <= given <= 100))
    return cast("int | None", given)


def _extracted(got: list[Any], text: str) -> Extracted:
    kind, title, notes, flat, author, dated, unread = got
    _check(all(isinstance(word, str) for word in (kind, title, *notes, author, dated)))
    _check(len(author) <= _LONGEST_AUTHOR and (not dated or _DAY.fullmatch(dated) is not None))
    _check(type(unread) is int and 0 <= unread < 1 << 31)
    units = []
    at = 0
    for each in flat:
        unit, at = _unit(each, text, at)
        units.append(unit)
    _check(at == len(text))
    return Extracted(kind, title, tuple(units), tuple(notes), author, dated, unread)


def _flat(unit: Unit) -> list[object]:
    pointer = [[part.kind, part.name, part.nth, part.first, part.last] for part in unit.pointer]
    return [pointer, unit.heading, unit.divisible, unit.first, len(unit.text), unit.certainty]


def _unit(flat: list[Any], text: str, at: int) -> tuple[Unit, int]:
    pointer, heading, divisible, first, length, certainty = flat
    _check(isinstance(heading, str) and divisible in {None, "lines", "rows", "paragraphs"})
    _check(type(first) is int and type(length) is int and 0 <= length <= len(text) - at)
    parts = tuple(_part(*part) for part in pointer)
    about = heading, cast("Divisible | None", divisible), first, _certainty(certainty)
    return Unit(parts, text[at : at + length], *about), at + length


def _part(kind: object, name: object, nth: object, first: object, last: object) -> Part:
    _check(isinstance(kind, str) and isinstance(name, str))
    _check(type(nth) is int and type(first) is int and type(last) is int)
    return Part(cast("str", kind), cast("str", name), cast("int", nth), cast("int", first), cast("int", last))


def _check(holds: bool) -> None:
    if not holds:
        raise Garbled(_NO_ANSWER)
