"""The tools of Smart File Search: from a row of the table and a verb of the app, in their envelope.

In: arguments as the client sent them.  Out: one object, as compact JSON text and as structured content.
Always: `mcp_version` is the last key of every answer, errors included; an error says what to do next in `details.hint`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from smart_context import tool_table
from smart_context.errors import CallTimeout, ContextError, InternalError, RateLimited, SearchError
from smart_context.server import arguments as take
from smart_context.server.tools import Arguments, Reply, Tool, Work, unforeseen
from smart_context.tool_schemas import MCP_VERSION
from smart_context.tool_table import Offer, Row

if TYPE_CHECKING:
    from smart_context.api import App

Answer = dict[str, Any]
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_HINTS = {
    "BAD_REQUEST": "see the tool's input schema",
    "NOT_FOUND": "search again, or index the folder first",
    "FORBIDDEN": "listRoots names the folders that may be read",
    "CONFLICT": "wait until the running job is done, then try again",
    "LLM_UPSTREAM": "try again later, or use the results as they are",
    "INTERNAL_ERROR": "the server's log has the reason",
}


def table(app: App, clean: Callable[[str], str], seconds: Callable[[str], float], *offers: Offer) -> tuple[Tool, ...]:
    """The tools of these offers over `app`; `clean` redacts error messages, `seconds` limits a tool's calls by its name."""
    return tuple(_tool(row, app, clean, seconds) for row in tool_table.offered(*offers))


def _tool(row: Row, app: App, clean: Callable[[str], str], seconds: Callable[[str], float]) -> Tool:
    verb: Callable[..., Answer] = getattr(app, row.verb)

    def run(arguments: Arguments, work: Work) -> Reply:
        given = take.everything(arguments, row.takes)
        return reply(verb(*given, **{need: getattr(work, need) for need in row.needs}))

    def refuse(error: ContextError) -> Reply:
        return refusal(error, clean)

    return Tool.of(row, run, refuse, None if row.seconds is None else seconds(row.name), knows_arguments=True)


def reply(answer: Answer, code: str = "") -> Reply:
    """Put an answer into the envelope."""
    body = {**answer, "mcp_version": MCP_VERSION}
    text = _ENCODER.encode(body)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair from some file: no client could read the frame
        text = text.encode(errors="replace").decode()
        body = json.loads(text)
    return Reply(text, body, code, is_compact=True)


def refusal(error: ContextError, clean: Callable[[str], str]) -> Reply:
    """Put an error into the envelope; `clean` redacts its message."""
    if not isinstance(error, SearchError | InternalError | CallTimeout):
        # A failure below that was not put in the tools' words may name what a client must not see.
        error = unforeseen("Smart File Search", error)
    code = error.code if isinstance(error, SearchError) else "INTERNAL_ERROR"
    body = {"code": code, "message": clean(error.message), "details": {"hint": clean(_hint(error, code))}}
    return reply({"error": body}, code)


def _hint(error: ContextError, code: str) -> str:
    if error.hint:
        return error.hint
    if isinstance(error, RateLimited):
        return f"try again in {math.ceil(error.retry_after)} seconds"
    if isinstance(error, CallTimeout):
        return "ask for less at once, or raise the time limit of the server"
    return _HINTS[code]
