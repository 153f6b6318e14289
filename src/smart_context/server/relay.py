"""Stand between a client on standard input and output and a server that many share over HTTP.

In: the messages of one client.  Out: the shared server's answers, as they are.
Always: only the given address is spoken to; when it cannot be reached, the client gets an error for its request, not silence.
"""

from __future__ import annotations

from typing import Any, cast

import anyio
import httpx2
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from smart_context.server.wire import say

_VERSION_IN_META = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
_CONNECT_SECONDS = 10.0

Incoming = ObjectReceiveStream[SessionMessage | Exception]
Outgoing = ObjectSendStream[SessionMessage]


class Relay:
    """Takes the place of an SDK `Server` behind our own standard input and output."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._version: str | None = None
        self._asked: dict[str | int, str] = {}

    def create_initialization_options(self) -> None:
        """Nothing: the shared server says what it is."""

    async def run(self, read_stream: Incoming, write_stream: Outgoing, initialization_options: None) -> None:
        """Pass messages both ways until the client leaves."""
        # No limit on reading: an indexing run is answered when it is done. The shared server limits its own calls.
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=None)
        async with (
            httpx2.AsyncClient(headers=self._headers, timeout=timeout, trust_env=False) as client,
            streamable_http_client(self._url, http_client=client) as (read, write),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._back, cast("Incoming", read), write_stream)
            async for item in read_stream:
                if isinstance(item, SessionMessage):
                    await write.send(self._stamped(item))
            tasks.cancel_scope.cancel()

    def _stamped(self, item: SessionMessage) -> SessionMessage:
        """Add the headers that the protocol wants on HTTP, from what the message says of itself."""
        message = item.message
        headers: dict[str, str] = {}
        method = getattr(message, "method", None)
        params: dict[str, Any] = getattr(message, "params", None) or {}
        if isinstance(message, JSONRPCRequest):
            self._asked[message.id] = message.method
        meta = params.get("_meta")
        stated = meta.get(_VERSION_IN_META) if isinstance(meta, dict) else None
        version = stated if isinstance(stated, str) else self._version
        if version and method != "initialize":
            headers["mcp-protocol-version"] = version
        if isinstance(stated, str) and isinstance(method, str):
            headers["mcp-method"] = method
            name = params.get(_NAMED.get(method, ""))
            if isinstance(name, str):
                headers["mcp-name"] = name
        return SessionMessage(message, ClientMessageMetadata(headers=headers or None))

    async def _back(self, read: Incoming, send: Outgoing) -> None:
        async for item in read:
            if isinstance(item, Exception):
                say(f"warning: {self._url}: {type(item).__name__}\n")
                continue
            message = item.message
            if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
                self._note(message)
            await send.send(SessionMessage(message))

    def _note(self, message: JSONRPCResponse | JSONRPCError) -> None:
        method = self._asked.pop(message.id, "") if message.id is not None else ""
        if method == "initialize" and isinstance(message, JSONRPCResponse):
            version = message.result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None
