"""Relay a client on standard input and output to a server that many share over HTTP.

In: the messages of one client.  Out: the shared server's answers, as they are.
Always: only the given address is spoken to; every request is answered, with an error that says why when the shared server cannot be
reached, refuses, or goes away; if the shared server was restarted, a new session is opened and the request is sent once more.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx2
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INTERNAL_ERROR, JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from smart_context.errors import IoError
from smart_context.server import frames
from smart_context.talk import say

_VERSION_IN_META = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
_CONNECT_SECONDS = 10.0
_GOODBYE_SECONDS = 2.0
_MAX_ANSWER = 64 * 1024 * 1024
_GREETING_ID = "smart-context-relay"
_TRUST = "; a certificate of your own authority is named with SSL_CERT_FILE"
_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
# No limit on reading: an indexing run is answered when it is done. The shared server limits its own calls.
_TIMEOUT = httpx2.Timeout(_CONNECT_SECONDS, read=None)

Incoming = ObjectReceiveStream[SessionMessage | Exception]
Outgoing = ObjectSendStream[SessionMessage]


class Relay:
    """Takes the place of an SDK `Server` behind our own standard input and output."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = {"authorization": f"Bearer {token}"} if token else {}
        self._session = ""
        self._version = ""
        self._greeting: JSONRPCRequest | None = None
        self._greeted_again = anyio.Lock()
        self._asked: dict[str | int, anyio.CancelScope] = {}

    def create_initialization_options(self) -> None:
        """Nothing: the shared server describes itself."""

    async def run(self, read_stream: Incoming, write_stream: Outgoing, initialization_options: None) -> None:
        """Pass messages both ways until the client leaves."""
        limits = httpx2.Limits(max_connections=None)
        # The environment may say whom to trust (SSL_CERT_FILE), but not send us through a proxy.
        trust = httpx2.create_ssl_context()
        async with httpx2.AsyncClient(timeout=_TIMEOUT, limits=limits, verify=trust, trust_env=False) as http:
            async with anyio.create_task_group() as tasks:
                async for item in read_stream:
                    if not isinstance(item, SessionMessage):
                        continue
                    message = item.message
                    if not isinstance(message, JSONRPCRequest):
                        await self._tell(http, message, write_stream)
                    elif message.method == "initialize":
                        # What follows needs the session that this one opens.
                        self._greeting = message
                        await self._ask(http, message, item, write_stream)
                    else:
                        tasks.start_soon(self._ask, http, message, item, write_stream)
                tasks.cancel_scope.cancel()
            await self._leave(http)

    async def _ask(self, http: httpx2.AsyncClient, asked: JSONRPCRequest, item: SessionMessage, send: Outgoing) -> None:
        """Send a request on and relay what comes; whatever happens, the client gets an answer, unless it has cancelled."""
        with anyio.CancelScope() as scope:
            self._asked[asked.id] = scope
            try:
                await self._passed_on(http, asked, send)
            except IoError as error:
                why = f"{error.message}: {error.reason}" if error.reason else error.message
                await send.send(SessionMessage(frames.LineError(INTERNAL_ERROR, why, asked.id).message()))
            finally:
                self._asked.pop(asked.id, None)
        if scope.cancelled_caught and isinstance(item.metadata, ServerMessageMetadata):
            unanswered = item.metadata.on_request_unanswered
            if unanswered:
                await unanswered()

    async def _passed_on(self, http: httpx2.AsyncClient, asked: JSONRPCRequest, send: Outgoing) -> None:
        session = self._session
        try:
            await self._post(http, asked, send)
        except _Forgotten:
            await self._greet_again(http, session)
            try:
                await self._post(http, asked, send)
            except _Forgotten as error:
                raise IoError(f"the shared server {self._url} does not keep its sessions") from error

    async def _greet_again(self, http: httpx2.AsyncClient, lost: str) -> None:
        """Open a new session with the client's own `initialize`, once for all requests whose session was lost."""
        async with self._greeted_again:
            if self._session != lost or self._greeting is None:
                return
            say(f"warning: {self._url} was started again; greeting it anew\n")
            self._session = ""
            greeting = self._greeting.model_copy(update={"id": _GREETING_ID})
            try:
                await self._post(http, greeting, _Nowhere())
                await self._post(http, JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized"), None)
            except _Forgotten as error:
                raise IoError(f"the shared server {self._url} does not keep its sessions") from error

    async def _tell(self, http: httpx2.AsyncClient, message: JSONRPCMessage, send: Outgoing) -> None:
        """Pass on a notification. From 2026 on, a request is cancelled by closing its connection."""
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            scope = self._asked.get((message.params or {}).get("requestId", ""))
            if self._version in MODERN_PROTOCOL_VERSIONS:
                if scope:
                    scope.cancel()
                return
        try:
            await self._post(http, message, None)
        except (IoError, _Forgotten) as error:
            say(f"warning: {self._url}: a message could not be passed on: {error}\n")

    async def _post(self, http: httpx2.AsyncClient, message: JSONRPCMessage, send: Outgoing | None) -> None:
        body = json.dumps(message.model_dump(by_alias=True, mode="json", exclude_unset=True), ensure_ascii=False)
        headers = {**_ACCEPT, **self._token, **self._stamp(message)}
        try:
            async with http.stream("POST", self._url, content=body.encode(), headers=headers) as response:
                if isinstance(message, JSONRPCRequest) and send:
                    await self._answer(response, message, send)
                elif response.status_code >= 400:
                    raise IoError(f"the shared server {self._url} refused", reason=str(response.status_code))
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            reason = f"{error}{_TRUST if 'CERTIFICATE_VERIFY_FAILED' in str(error) else ''}"
            raise IoError(f"the shared server {self._url} cannot be reached", reason=reason or None) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise IoError(f"the shared server {self._url} went away before it answered", reason=str(error)) from error

    async def _answer(self, response: httpx2.Response, asked: JSONRPCRequest, send: Outgoing) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code == 404 and "mcp-session-id" in response.request.headers:
            raise _Forgotten(self._url)
        if kind == "text/event-stream":
            async for event in httpx2.EventSource(response, max_event_size=_MAX_ANSWER):
                if event.data and await self._forward(event.data.encode(), asked, response, send):
                    return
            raise IoError(f"the shared server {self._url} went away before it answered")
        text = await response.aread()
        if kind == "application/json" and await self._forward(text, asked, response, send):
            return
        said = text.decode("utf-8", "replace").strip().partition("\n")[0][:200]
        raise IoError(f"the shared server {self._url} refused with {response.status_code}", reason=said or None)

    async def _forward(self, data: bytes, asked: JSONRPCRequest, response: httpx2.Response, send: Outgoing) -> bool:
        """Pass one message on; True if it is the answer."""
        message = frames.decode(data)
        if isinstance(message, frames.LineError):
            raise IoError(f"the shared server {self._url} said something that is no message", reason=message.why)
        is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
        if isinstance(message, JSONRPCError) and message.id is None:  # refused before its id was read
            message = message.model_copy(update={"id": asked.id})
        if asked.method == "initialize" and isinstance(message, JSONRPCResponse):
            self._session = response.headers.get("mcp-session-id", "")
            self._version = str(message.result.get("protocolVersion", ""))
        await send.send(SessionMessage(message))
        return is_answer

    def _stamp(self, message: JSONRPCMessage) -> dict[str, str]:
        """The headers that the protocol requires over HTTP, from the message."""
        method = getattr(message, "method", None)
        params: dict[str, Any] = getattr(message, "params", None) or {}
        meta = params.get("_meta")
        stated = meta.get(_VERSION_IN_META) if isinstance(meta, dict) else None
        if method == "initialize":
            return {}
        headers = {"mcp-session-id": self._session} if self._session else {}
        if isinstance(stated, str) and isinstance(method, str):
            self._version = stated
            headers["mcp-method"] = method
            name = params.get(_NAMED.get(method, ""))
            if isinstance(name, str):
                headers["mcp-name"] = name
        return headers | ({"mcp-protocol-version": self._version} if self._version else {})

    async def _leave(self, http: httpx2.AsyncClient) -> None:
        if not self._session:
            return
        with anyio.move_on_after(_GOODBYE_SECONDS):
            try:
                await http.delete(self._url, headers={**self._token, "mcp-session-id": self._session})
            except httpx2.HTTPError:
                return  # its sessions end by themselves


class _Forgotten(Exception):
    """The shared server does not know our session: it was started again."""


class _Nowhere(ObjectSendStream[SessionMessage]):
    """Drops the answer to an `initialize` that the client did not send."""

    async def send(self, item: SessionMessage) -> None:
        """Drop it."""

    async def aclose(self) -> None:
        """Nothing to close."""
