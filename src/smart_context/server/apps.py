"""Offer a page for answers to clients that support MCP Apps (`io.modelcontextprotocol/ui`).

In: what a client declares, and what the server would answer.  Out: the same, with the page's address if the client supports it.
Always: a client that does not declare it gets the same bytes as if there were no page; a tool's own answer is the same for all clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smart_context.server.tools import Tool

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
    from mcp_types import TextResourceContents

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
_OFFERED = {"resources": {"listChanged": False, "subscribe": False}, "extensions": {EXTENSION: {}}}
# Nothing is loaded from anywhere, so no origin is named. The client draws the border, as around other answers.
_META = {"ui": {"csp": {}, "prefersBorder": True}}
_METHODS = {"server/discover", "tools/list", "resources/list", "resources/read", "resources/templates/list"}

Views = Mapping[str, str]


def views(tools: Sequence[Tool]) -> dict[str, str]:
    """The address of the page of each tool that has one, by either of the tool's names."""
    return {name: tool.view for tool in tools if tool.view for name in (tool.name, tool.alias)}


def are_shown_by(capabilities: object) -> bool:
    """Whether the client's capabilities declare MCP Apps."""
    found = capabilities
    for name in ("extensions", EXTENSION, "mimeTypes"):
        found = found.get(name) if isinstance(found, dict) else None
    return isinstance(found, list) and MIME_TYPE in found


def welcomed(result: dict[str, Any]) -> dict[str, Any]:
    """The answer to `initialize`, with the extension added."""
    return {**result, "capabilities": {**result["capabilities"], **_OFFERED}}


def listed(result: dict[str, Any], views: Views) -> dict[str, Any]:
    """A list of tools, each with the address of its page."""
    tools = [
        {**tool, "_meta": {"ui": {"resourceUri": views[tool["name"]]}}} if tool["name"] in views else tool
        for tool in result["tools"]
    ]
    return {**result, "tools": tools}


def middleware(views: Views) -> ServerMiddleware[Any]:
    """Middleware before the SDK's handlers, which serves the pages."""

    async def answer(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        method = ctx.method
        if method == "initialize":
            is_shown = are_shown_by((ctx.params or {}).get("capabilities"))
        elif method in _METHODS:
            known = ctx.session.client_capabilities
            is_shown = known is not None and are_shown_by(known.model_dump(by_alias=True, exclude_none=True))
        else:
            is_shown = False
        if not is_shown:
            return await call_next(ctx)
        if method.startswith("resources/"):
            return _resources(ctx, method, views)
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return result
        return listed(result, views) if method == "tools/list" else welcomed(result)

    return answer


def _resources(context: ServerRequestContext[Any, Any], method: str, views: Views) -> HandlerResult:
    import mcp_types as types
    from mcp_types.methods import serialize_server_result

    pages = sorted(set(views.values()))
    result: types.ReadResourceResult | types.ListResourcesResult | types.ListResourceTemplatesResult
    if method == "resources/read":
        asked = types.ReadResourceRequestParams.model_validate(context.params or {}, by_name=False)
        result = types.ReadResourceResult(contents=[_page(str(asked.uri), pages)])
    elif method == "resources/list":
        about = [types.Resource(uri=page, name="results", title="Results", mime_type=MIME_TYPE) for page in pages]
        result = types.ListResourcesResult(resources=about)
    else:
        result = types.ListResourceTemplatesResult(resource_templates=[])
    dumped = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return serialize_server_result(method, context.protocol_version, dumped)


def _page(uri: str, pages: Sequence[str]) -> TextResourceContents:
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS, TextResourceContents

    from smart_context.page import in_client

    if uri not in pages:
        raise MCPError(code=INVALID_PARAMS, message="Unknown resource", data={"uri": uri})
    return TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=in_client.html(), _meta=_META)
