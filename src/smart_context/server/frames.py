"""Turn one line into a JSON-RPC message or the error that answers it, and a message into one line.

In: the bytes of a line, without its newline.  Out: what the SDK takes, or a `LineError` to send back.
Always: every line gives exactly one of the two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from smart_context.server import json_line

MAX_LINE = 1024 * 1024  # bytes, the newline not counted


@dataclass(frozen=True, slots=True)
class LineError:
    """The error that answers a line which never becomes a message; `request_id` where it can be known."""

    code: int
    why: str
    request_id: RequestId | None = None

    def message(self) -> JSONRPCError:
        """The answer to send."""
        return JSONRPCError(jsonrpc="2.0", id=self.request_id, error=ErrorData(code=self.code, message=self.why))


def decode(line: bytes) -> JSONRPCMessage | LineError:
    """Read a line."""
    try:
        value = json_line.read(line)
    except (ValueError, RecursionError) as error:
        return LineError(PARSE_ERROR, f"Parse error: {_reason(error)}")
    if isinstance(value, list):
        return LineError(INVALID_REQUEST, "Invalid Request: batches are not supported")
    if not isinstance(value, dict):
        return LineError(INVALID_REQUEST, "Invalid Request: not an object")
    return _message(value)


def encode(message: JSONRPCMessage) -> bytes:
    """Write a message as one line, newline included."""
    body: dict[str, Any]
    if isinstance(message, JSONRPCResponse):
        body = {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    elif isinstance(message, JSONRPCError):
        body = {"jsonrpc": "2.0", "id": message.id, "error": message.error.model_dump(mode="json", exclude_none=True)}
    else:
        body = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _reason(error: Exception) -> str:
    # Positions only: what stood in the line is not repeated.
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8 at byte {error.start}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _message(value: dict[str, Any]) -> JSONRPCMessage | LineError:
    request_id = _request_id(value.get("id"))
    if value.get("jsonrpc") != "2.0":
        return LineError(INVALID_REQUEST, 'Invalid Request: "jsonrpc" must be "2.0"', request_id)
    if "method" not in value:
        return _response(value, request_id)
    method, params = value["method"], value.get("params")
    if not isinstance(method, str):
        return LineError(INVALID_REQUEST, 'Invalid Request: "method" must be a string', request_id)
    if "id" in value and request_id is None:
        return LineError(INVALID_REQUEST, 'Invalid Request: "id" must be a string or an integer')
    if params is not None and not isinstance(params, dict):
        return LineError(INVALID_REQUEST, 'Invalid Request: "params" must be an object', request_id)
    if request_id is None:
        return JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
    return JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=params)


def _request_id(value: object) -> RequestId | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _response(value: dict[str, Any], request_id: RequestId | None) -> JSONRPCMessage | LineError:
    if "result" not in value and "error" not in value:
        return LineError(INVALID_REQUEST, 'Invalid Request: "method" is missing', request_id)
    result, error = value.get("result"), value.get("error")
    if request_id is not None and isinstance(result, dict) and "error" not in value:
        return JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)
    if request_id is not None and isinstance(error, dict) and "result" not in value:
        code, message = error.get("code"), error.get("message")
        if isinstance(code, int) and isinstance(message, str):
            data = ErrorData(code=code, message=message, data=error.get("data"))
            return JSONRPCError(jsonrpc="2.0", id=request_id, error=data)
    # Its id, if any, is one that we gave out, so repeating it would answer the wrong request.
    return LineError(INVALID_REQUEST, "Invalid Request: not a response")
