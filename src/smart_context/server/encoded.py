"""A reply as the bytes of its JSON, so that another process can send it without parsing it.

In: a `Reply`.  Out: the `result` of its JSON-RPC message; from that the event of a stream, or the reply again.
Always: the event, or the message without a session, has the bytes that the SDK sends for the reply.
"""

from __future__ import annotations

import codecs
import json
from typing import Any

from pydantic_core import to_json

from smart_context.data import dataclass
from smart_context.server.tools import Reply


@dataclass(frozen=True, slots=True)
class Encoded:
    """A reply in JSON. code: of the error, or ""."""

    result: bytes
    code: str = ""

    @property
    def reply(self) -> Reply:
        """The reply that this was made of."""
        found = json.loads(self.result)
        return Reply(found["content"][0]["text"], found.get("structuredContent"), self.code)


def of(reply: Reply, *, ascii_only: bool = False) -> Encoded:
    """Encode a reply. ascii_only: as the SDK does without a session, where it escapes all other letters."""
    text = reply.text
    if ascii_only and reply.is_compact and "\x7f" not in text:  # the object is there as it would be written again
        is_error = "true" if reply.code else "false"
        head = f'{{"content":[{{"text":{json.dumps(text)},"type":"text"}}],"isError":{is_error},"structuredContent":'
        return Encoded(b"%b%b}" % (head.encode("ascii"), text.encode("ascii", _ESCAPED)), reply.code)
    result: dict[str, Any] = {"content": [{"text": text, "type": "text"}], "isError": bool(reply.code)}
    if reply.structured is not None:
        result["structuredContent"] = reply.structured
    made = json.dumps(result, separators=(",", ":")).encode() if ascii_only else to_json(result)
    return Encoded(made, reply.code)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The JSON escapes of letters that are not ASCII."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


_ESCAPED = "smart_context.json"
codecs.register_error(_ESCAPED, _escaped)


def event(request_id: int | str, answer: Encoded) -> bytes:
    """An answer as the SDK sends it in a stream."""
    head = b'event: message\r\ndata: {"jsonrpc":"2.0","id":'
    return b"".join((head, to_json(request_id), b',"result":', answer.result, b"}\r\n\r\n"))


@dataclass(frozen=True, slots=True)
class SdkFields:
    """What the SDK adds to a result where there is no session. after_error: behind `isError`; at_end: behind everything."""

    after_error: bytes
    at_end: bytes


def added(result: dict[str, Any]) -> SdkFields:
    """What the SDK has added to a result of ours."""
    more = {name: result[name] for name in ("resultType", "_meta") if name in result}
    pieces = {
        name: b"," + json.dumps({name: value}, separators=(",", ":")).encode()[1:-1] for name, value in more.items()
    }
    return SdkFields(pieces.get("resultType", b""), pieces.get("_meta", b""))


def with_more(answer: Encoded, around: SdkFields) -> Encoded:
    """The answer with what the SDK adds. In a text every quotation mark is escaped, so that the first `isError` is the result's own."""
    at = answer.result.index(b',"isError":')
    at += len(b',"isError":true' if answer.code else b',"isError":false')
    result = answer.result
    return Encoded(b"".join((result[:at], around.after_error, result[at:-1], around.at_end, b"}")), answer.code)


def message(request_id: int | str, answer: Encoded) -> bytes:
    """An answer as the SDK sends it without a session."""
    return b"".join((b'{"jsonrpc":"2.0","id":', json.dumps(request_id).encode(), b',"result":', answer.result, b"}"))
