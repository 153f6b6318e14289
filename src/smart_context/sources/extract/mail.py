"""Read a mail message, or a folder of them in one file (mbox), with everything attached.

In: the bytes of an EML, EMLX, MHTML or mbox file.  Out: `message` with its headers and body, then the attachments' units.
Always: whatever header or part is damaged, the rest is read; a message inside a message is an attachment.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import Message
from html import escape

from smart_context.model import Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, headers, html
from smart_context.sources.extract.encoding import as_utf8, clean, decode
from smart_context.sources.extract.nested import Gathered
from smart_context.sources.extract.properties import About, day

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_ENVELOPE = re.compile(rb"^From [^\n]{1,300}\d\d:\d\d[^\n]{0,100}\r?\n(?=[\w-]{1,80}:)", re.MULTILINE)
_COUNT_LINE = re.compile(rb"\s*(\d{1,12})[ \t]*\r?\n")
_MOST_NAMES = 100
_WORD = re.compile(r"\w{3,}")


def read(data: Buffer, job: Job) -> Extracted:
    """Read one message, or each of an mbox."""
    raw = as_utf8(data[:])
    if _ENVELOPE.match(raw):
        return _folder(raw, job)
    if match := _COUNT_LINE.match(raw):  # Apple Mail writes the length before and a property list after
        raw = raw[match.end() : match.end() + int(match[1])]
    return _message(_parsed(raw), job)


def _folder(raw: bytes, job: Job) -> Extracted:
    gathered = Gathered(job, "entry")
    starts = [match.span() for match in _ENVELOPE.finditer(raw)]
    for position, (_, start) in enumerate(starts):
        if gathered.is_full:
            break
        end = starts[position + 1][0] if position + 1 < len(starts) else len(raw)
        message = _parsed(raw[start:end])
        _nest(gathered, headers.decoded(headers.raw(message, "Subject")) or "message", message)
    return Extracted("eml", "", tuple(gathered.units), gathered.notes())


def _parsed(raw: bytes) -> Message:
    try:
        return email.message_from_bytes(raw, policy=email.policy.compat32)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError, IndexError):
        # Parts nested absurdly deep, or headers that break the parser: keep the raw text.
        top, _, body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
        message = Message(policy=email.policy.compat32)
        for name, value in re.findall(rb"(?m)^([\w-]{1,80}):[ \t]*([^\n]*)$", top[:100_000]):
            message[name.decode("ascii", "replace")] = value.decode("utf-8", "replace")
        del message["Content-Type"], message["Content-Transfer-Encoding"]
        message.set_payload(decode(body))
        return message


def _message(message: Message, job: Job) -> Extracted:
    shown = {name: headers.decoded(headers.raw(message, name)) for name in _SHOWN}
    gathered = Gathered(job, "attachment")
    body = _body(message, gathered)
    lines = [f"{name}: {value}" for name, value in shown.items() if value]
    if gathered.names:
        lines.append(f"Attachments: {', '.join(gathered.names[:_MOST_NAMES])}")
    text = "\n".join(lines) + (f"\n\n{body}" if body else "")
    if len(text) > job.limits.max_text_chars:
        text = text[: job.limits.max_text_chars]
        gathered.note(f"message cut at {job.limits.max_text_chars:,} characters")
    subject = shown["Subject"]
    units = (Unit((Part("message"),), text, subject, "lines"), *gathered.units) if text.strip() else gathered.units
    return About(subject, shown["From"], day(shown["Date"])).extracted("eml", tuple(units), gathered.notes())


def _body(message: Message, gathered: Gathered) -> str:
    """The text of the message; attachments are added to `gathered` on the way."""
    pieces: list[str] = []
    for part in _parts(message):
        if isinstance(part, list):
            pieces.append(_best_of(part))
            continue
        content_type = part.get_content_type()
        if content_type == "message/rfc822" or (content_type == "message/global" and part.is_multipart()):
            for inner in _children(part)[:1]:
                subject = headers.decoded(headers.raw(inner, "Subject"))
                _nest(gathered, headers.filename(part) or subject or "message", inner)
        elif part.is_multipart():
            pieces.append("\n".join(f"{key}: {value}" for key, value in part.raw_items()))
        elif _is_shown(part):
            pieces.append(_text(part))
        else:
            _attach(part, gathered)
    return "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())


def _parts(message: Message) -> Iterator[Message | list[Message]]:
    """The leaf parts in order, without recursion; the alternatives of one text are yielded as a list."""
    stack = [message]
    while stack:
        part = stack.pop()
        content_type = part.get_content_type()
        if not part.is_multipart() or content_type.startswith("message/"):
            yield part
            continue
        inner = _children(part)
        if content_type == "multipart/alternative":
            texts = [child for child in inner if not child.is_multipart() and _is_shown(child)]
            if len(texts) > 1:
                yield texts
                inner = [child for child in inner if child.is_multipart() or not _is_shown(child)]
            elif texts and (page := _page_of(inner)) is not None:
                yield [texts[0], page]
                inner = [child for child in _related(inner) if child is not texts[0] and child is not page]
        stack += reversed(inner)


def _children(part: Message) -> list[Message]:
    children = part.get_payload() if part.is_multipart() else []
    return [child for child in children if isinstance(child, Message)] if isinstance(children, list) else []


def _page_of(alternatives: list[Message]) -> Message | None:
    """The HTML rendering that comes with its pictures in a multipart/related."""
    pages = (child for child in _related(alternatives) if child.get_content_type() == "text/html" and _is_shown(child))
    return next(pages, None)


def _related(alternatives: list[Message]) -> list[Message]:
    found: list[Message] = []
    for child in alternatives:
        found += _children(child) if child.get_content_type() == "multipart/related" else [child]
    return found


def _best_of(alternatives: list[Message]) -> str:
    """The plain alternative, and the HTML one too where it has much text that the plain one lacks."""
    plain = "\n\n".join(_text(part) for part in alternatives if part.get_content_type() != "text/html")
    rich = "\n\n".join(_text(part) for part in alternatives if part.get_content_type() == "text/html")
    known, said = set(_WORD.findall(plain.lower())), set(_WORD.findall(rich.lower()))
    missing = said - known
    if not plain.strip():
        return rich
    return f"{plain.rstrip()}\n\n{rich}" if len(missing) > 3 and 10 * len(missing) > len(said) else plain


def _is_shown(part: Message) -> bool:
    content_type = part.get_content_type()
    if content_type not in {"text/plain", "text/html", "text/enriched", "text/richtext", "text/x-amp-html"}:
        return content_type == "text/rfc822-headers"
    return not headers.filename(part) and headers.disposition(part) != "attachment"


def _text(part: Message) -> str:
    raw = _payload(part)
    if part.get_content_type() == "text/html":
        return html.plain(decode(raw, headers.charset(part) or html.declared(raw[:4096])))
    text = decode(raw, headers.charset(part))
    if part.get_content_type() in {"text/enriched", "text/richtext"}:
        return html.plain(escape(text, quote=False) if "<" not in text else text)
    return text


def _payload(part: Message) -> bytes:
    """A leaf's bytes; b"" where the parser cannot give them."""
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, TypeError, AttributeError):
        return b""
    return payload if isinstance(payload, bytes) else b""


def _attach(part: Message, gathered: Gathered) -> None:
    content_type = part.get_content_type()
    name = headers.filename(part)
    if content_type.startswith(("image/", "audio/", "video/", "font/")) and (
        headers.raw(part, "Content-ID") or not name
    ):
        return  # decoration of the body
    if not name:
        name = "part" + {
            "text/html": ".html",
            "text/calendar": ".ics",
            "text/csv": ".csv",
            "application/pdf": ".pdf",
        }.get(content_type, ".txt" if content_type.startswith("text/") else "")
    if content_type == "application/ms-tnef" or name.lower() == "winmail.dat":
        gathered.skip(name, "Outlook's own packing (TNEF)")
        return
    gathered.add(name, _payload(part))


def _nest(gathered: Gathered, name: str, message: Message) -> None:
    gathered.nest(clean(name).replace("\n", " "), lambda job: _message(message, job))
