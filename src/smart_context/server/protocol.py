"""Offer a table of tools through the SDK's `Server`. Knows the protocol, and no transport.

In: tools, and how calls run.  Out: a `Server` that any transport of the SDK, or ours, can serve.
Always: a tool's failure is an answer of the tool; a protocol error is a JSON-RPC error; no exception of ours reaches the SDK.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool

from smart_context import __version__
from smart_context.errors import CallTimeout
from smart_context.model import OWNER, Caller, OnProgress, Progress, Stop
from smart_context.server import apps, sampling
from smart_context.server.calls import Stopper, Workers
from smart_context.server.identity import CALLER, peer
from smart_context.server.tools import (
    Arguments,
    Call,
    Guard,
    Program,
    Reply,
    Tool,
    ToolNames,
    Work,
    perform,
    unguarded,
)

if TYPE_CHECKING:
    from smart_context.llm.model import Sample
    from smart_context.server.processes import Processes

Context = ServerRequestContext[Any, Any]

_THREADS = 16  # calls at work at the same time; further ones wait their turn within their time
_PATIENT_THREADS = 64  # calls without a time limit, which mostly wait for another process
_PROGRESS_EVERY = 0.25  # seconds


ANSWERED = "smart_context.answered"
"""The key under which a request's scope has what a call was answered with."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A tool's answer over HTTP, and the client's name for itself."""

    reply: Reply
    client: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server says of itself, what it offers, who guards it, and the threads that do the work.

    caller: who calls over standard input and output; over HTTP each request has its own.
    elsewhere: the processes that answer calls; None where this one does.
    """

    program: Program
    tools: Sequence[Tool]
    guard: Guard = unguarded
    tool_names: ToolNames = "dotted"
    caller: Caller = OWNER
    workers: Workers = field(default_factory=lambda: Workers(_THREADS))
    patient_workers: Workers = field(default_factory=lambda: Workers(_PATIENT_THREADS))
    elsewhere: Processes | None = None


def build(offer: Offer) -> Server[Any]:
    """Make the SDK's server for an offer."""
    by_name = {name: tool for tool in offer.tools for name in (tool.name, tool.alias)}
    listed = ListToolsResult(tools=[_listed(tool, offer.tool_names) for tool in offer.tools])

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return listed

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        arguments = params.arguments or {}
        if not tool.knows_arguments and (unknown := tool.unknown(arguments)):
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown argument: {unknown[0]}")
        call = _call(tool, arguments, context, offer.caller)
        reply = await _run(offer, call, context)
        if context.request is not None:
            context.request.scope[ANSWERED] = HttpAnswer(reply, call.client)
        return CallToolResult(
            content=[TextContent(type="text", text=reply.text)],
            structured_content=reply.structured,
            is_error=bool(reply.code),
        )

    server = Server(
        offer.program.name,
        version=__version__,
        title=offer.program.title,
        instructions=offer.program.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # Without it the SDK lists all tools anew for each call over HTTP, to look up one. (Before 2.3 it knew no such thing.)
    schemas = {name: tool.input_schema for name, tool in by_name.items()}
    server.get_tool_input_schema = schemas.get
    if views := apps.views(offer.tools):
        server.middleware.append(apps.middleware(views))
    return server


async def _run(offer: Offer, call: Call, context: Context) -> Reply:
    relay = ProgressRelay(context)
    try:
        if offer.elsewhere is not None and offer.elsewhere.takes(call.tool):
            return (await offer.elsewhere.answer(call)).reply
        reply = await in_thread(offer, call, relay, sampling.of(context))
    except CallTimeout as error:
        return call.tool.refuse(error)
    await relay.finish()
    return reply


async def in_thread(offer: Offer, call: Call, on_progress: OnProgress, model: Callable[[Stop], Sample] | None) -> Reply:
    """Run a call in a thread. Raises: CallTimeout when its time is up."""

    def work(stop: Stopper) -> Reply:
        return perform(call, Work(stop, on_progress, call.caller, model(stop) if model else None), offer.guard)

    # Calls without a limit get threads of their own, so that they never hold up those that have one.
    workers = offer.patient_workers if call.tool.seconds is None else offer.workers
    return await workers.run(work, call.tool.seconds, is_brief=call.tool.is_brief)


class ProgressRelay:
    """Passes progress on to the client, from the call's thread, no more often than anybody can read, and the last of it always."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._next = 0.0
        self._done = -1  # what the client has heard of
        self._held: Progress | None = None
        self._sending: asyncio.Task[None] | None = None

    def __call__(self, step: Progress) -> None:
        """Send the progress if it is due, else keep it."""
        now = time.monotonic()
        self._held = step
        if now < self._next or step.done <= self._done:
            return
        self._next, self._done = now + _PROGRESS_EVERY, step.done
        try:
            self._loop.call_soon_threadsafe(self._send, step)
        except RuntimeError:  # the loop has ended: nobody listens any more
            return

    async def finish(self) -> None:
        """Send what was held back last, and see that every notice goes before the answer."""
        if self._held is not None and self._held.done > self._done:
            self._send(self._held)
        if self._sending is not None:
            await asyncio.wait([self._sending])

    def _send(self, step: Progress) -> None:
        report = self._context.session.report_progress(step.done, step.total, step.what or None)
        self._sending = self._loop.create_task(report)


def _listed(tool: Tool, names: ToolNames) -> ListedTool:
    return ListedTool(
        name=tool.alias if names == "underscore" else tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.is_read_only,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=not tool.is_closed_world,
        ),
    )


def _call(tool: Tool, arguments: Arguments, context: Context, caller: Caller) -> Call:
    """Identify the caller: over HTTP, from the request's scope, where the gate put it."""
    params = context.session.client_params
    client = params.client_info.name if params is not None else ""
    if context.request is None:
        return Call(tool, arguments, caller, client)
    scope = context.request.scope
    return Call(tool, arguments, scope[CALLER], client, peer(scope))
