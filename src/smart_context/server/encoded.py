"""A reply as the bytes of its JSON, so that what one process made can be sent by another without reading it.

In: a `Reply`.  Out: the `result` of its JSON-RPC message; from that the event of a stream, or the reply again.
Always: the event has the bytes that the SDK sends for the reply.
"""

from __future__ import annotations

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


def of(reply: Reply) -> Encoded:
    """Encode a reply."""
    content = [{"text": reply.text, "type": "text"}]
    result: dict[str, Any] = {"content": content, "isError": bool(reply.code)}
    if reply.structured is not None:
        result["structuredContent"] = reply.structured
    return Encoded(to_json(result), reply.code)


def event(request_id: int | str, answer: Encoded) -> bytes:
    """An answer as the SDK sends it in a session."""
    head = b'event: message\r\ndata: {"jsonrpc":"2.0","id":'
    return b"".join((head, to_json(request_id), b',"result":', answer.result, b"}\r\n\r\n"))
