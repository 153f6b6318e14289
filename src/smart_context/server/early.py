"""Answer what every client asks first, before the SDK is loaded: `initialize`, `ping`, `tools/list`.

In: the wire, and what the server offers.  Out: the lines that are left to the SDK, which is loaded meanwhile.
Always: an answer has the bytes that the SDK gives; a message of any other shape, and everything after it, is left to the SDK.
The SDK then gets the client's `initialize` once more, under an id of ours, and its answer to that is dropped.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from smart_context import __version__
from smart_context.data import dataclass
from smart_context.server import apps, json_line
from smart_context.server.tools import Program, Tool, ToolNames
from smart_context.server.wire import Wire

GREETING_ID = "smart-context-greeting"
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

_CHUNK = 64 * 1024
_PARENT_EVERY = 1.0  # seconds
_STARTED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


@dataclass(frozen=True, slots=True)
class Left:
    """What is left to the SDK: lines to take before any other. is_greeted: the first of them is a greeting that was answered."""

    lines: bytes = b""
    is_greeted: bool = False


def serve(
    program: Program, tools: Sequence[Tool], names: ToolNames, wire: Wire, load: Callable[[], object]
) -> Left | None:
    """Answer as long as possible without the SDK; None when the client has left. `load` runs in parallel once a client has sent `initialize`."""
    if sys.platform == "win32" or not program.instructions:
        return Left()
    with _Signals():
        try:
            return _Early(program, tools, names, wire, load).run()
        except _Leaving:
            return None


class _Early:
    def __init__(
        self, program: Program, tools: Sequence[Tool], names: ToolNames, wire: Wire, load: Callable[[], object]
    ) -> None:
        self._program, self._tools, self._names, self._wire, self._load = program, tools, names, wire, load
        self._greeting: bytes | None = None
        self._views: Mapping[str, str] = {}
        self._has_started = False
        self._loading: threading.Thread | None = None
        self._held = b""

    def run(self) -> Left | None:
        while True:
            while b"\n" in self._held:
                line, _, rest = self._held.partition(b"\n")
                result = self._answer(line)
                if result is None:
                    return self._left(self._held)
                self._held = rest
                if result:
                    self._write(result)
            if len(self._held) > _CHUNK:
                return self._left(self._held)
            chunk = self._read()
            if not chunk:
                # A last line without its end, or a client that never asked for more.
                return self._left(self._held) if self._held.strip() else None
            self._held += chunk

    def _left(self, rest: bytes) -> Left:
        if self._greeting is None:
            return Left(rest)
        return Left(self._greeting + (_STARTED if self._has_started else b"") + rest, is_greeted=True)

    def _read(self) -> bytes:
        if (
            self._greeting is not None
            and self._loading is None
            and not select.select([self._wire.read_fd], [], [], 0)[0]
        ):
            # Not before the client pauses: one that only lists the tools and leaves needs no SDK.
            self._loading = threading.Thread(target=self._load, name="load", daemon=True)
            self._loading.start()
        while not select.select([self._wire.read_fd], [], [], _PARENT_EVERY)[0]:
            if os.getppid() != self._wire.parent:
                raise _Leaving
        try:
            return os.read(self._wire.read_fd, _CHUNK)
        except OSError:
            return b""

    def _write(self, frame: bytes) -> None:
        try:
            while frame:
                frame = frame[os.write(self._wire.write_fd, frame) :]
        except OSError:
            raise _Leaving from None

    def _answer(self, line: bytes) -> bytes | None:
        """The frame that answers a line, empty where it wants no answer; None for what is not answered here."""
        message = _plain_message(line)
        if message is None:
            return None
        method, params = message["method"], message.get("params", {})
        if "id" not in message:
            if method != "notifications/initialized" or params or self._greeting is None or self._has_started:
                return None
            self._has_started = True
            return b""
        if self._greeting is None:
            if method != "initialize" or not _is_plain_greeting(params):
                return None
            self._greeting = _once_more(message)
            if self._greeting is None:
                return None
            self._views = apps.views(self._tools) if apps.are_shown_by(params["capabilities"]) else {}
            return _frame(message["id"], _welcome(self._program, params["protocolVersion"], self._views))
        if params or method not in {"ping", "tools/list"}:
            return None
        if method == "ping":
            return _frame(message["id"], {})
        return _frame(message["id"], apps.listed(listing(self._tools, self._names), self._views))


def _plain_message(line: bytes) -> dict[str, Any] | None:
    """A request or notification without anything unusual about it."""
    try:
        message = json_line.read(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.keys() - {"jsonrpc", "id", "method", "params"}:
        return None
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return None
    is_id = "id" not in message or (isinstance(message["id"], str | int) and not isinstance(message["id"], bool))
    return message if is_id and isinstance(message.get("params", {}), dict) else None


def _is_plain_greeting(params: dict[str, Any]) -> bool:
    if params.keys() != {"protocolVersion", "capabilities", "clientInfo"} or params["protocolVersion"] not in VERSIONS:
        return False
    who, offers = params["clientInfo"], params["capabilities"]
    is_named = isinstance(who, dict) and who.keys() >= {"name", "version"} and all(map(_is_text, who.values()))
    return is_named and isinstance(offers, dict) and all(isinstance(offer, dict) for offer in offers.values())


def _once_more(greeting: dict[str, Any]) -> bytes | None:
    """The `initialize` for the SDK; None if it has a number that cannot be serialised unchanged."""
    try:
        return json.dumps({**greeting, "id": GREETING_ID}, allow_nan=False).encode() + b"\n"
    except (ValueError, RecursionError):
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _welcome(program: Program, version: str, views: Mapping[str, str]) -> dict[str, Any]:
    result = {
        "capabilities": {"tools": {"listChanged": False}},
        "instructions": program.instructions,
        "protocolVersion": version,
        "serverInfo": {"name": program.name, "title": program.title, "version": __version__},
    }
    return apps.welcomed(result) if views else result


def listing(tools: Sequence[Tool], names: ToolNames) -> dict[str, Any]:
    """The result of `tools/list`."""
    return {"tools": [_listed(tool, tool.alias if names == "underscore" else tool.name) for tool in tools]}


def _listed(tool: Tool, name: str) -> dict[str, Any]:
    return {
        "annotations": {
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": not tool.is_closed_world,
            "readOnlyHint": tool.is_read_only,
            "title": tool.title,
        },
        "description": tool.description,
        "inputSchema": _in_order(tool.input_schema),
        "name": name,
        **({"outputSchema": _in_order(tool.output_schema)} if tool.output_schema else {}),
        "title": tool.title,
    }


def _in_order(schema: dict[str, Any]) -> dict[str, Any]:
    """What the SDK has fields for comes first."""
    first = {key: schema[key] for key in ("properties", "required", "type") if key in schema}
    return first | schema


def _frame(request_id: object, result: dict[str, Any]) -> bytes:
    body = {"jsonrpc": "2.0", "id": request_id, "result": result}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


class _Leaving(Exception):
    """The client has left, or a signal asks us to end."""


class _Signals:
    """While the block runs: being asked to end raises `_Leaving`; a terminal that hangs up does nothing."""

    def __enter__(self) -> None:
        def leave(*_: object) -> None:
            raise _Leaving

        handlers = {signal.SIGTERM: leave, signal.SIGINT: leave, signal.SIGHUP: lambda *_: None}
        self._before = {number: signal.signal(number, handler) for number, handler in handlers.items()}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
