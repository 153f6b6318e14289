"""Ask the client's own model, from the thread of a call.

In: messages.  Out: the model's answer.
Always: only a client that offers it and can be asked is: not over 2026-07-28, where servers send no requests. Waiting ends
when the call should.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    SamplingMessage,
    TextContent,
)
from pydantic import ValidationError

from smart_context.errors import LlmUpstream
from smart_context.model import Stop

if TYPE_CHECKING:
    from smart_context.llm.model import Message, Reply, Sample

Context = ServerRequestContext[Any, Any]

_LOOK_EVERY = 0.1  # seconds between looks at whether to stop


def of(context: Context) -> Callable[[Stop], Sample] | None:
    """A function that asks the client's model; None if the client offers none."""
    offered = context.session.client_capabilities
    if offered is None or offered.sampling is None or not context.session.can_send_request:
        return None
    loop = asyncio.get_running_loop()

    def until(stop: Stop) -> Sample:
        def sample(messages: Sequence[Message], max_tokens: int) -> Reply:
            return _wait(asyncio.run_coroutine_threadsafe(_ask(context, messages, max_tokens), loop), stop)

        return sample

    return until


async def _ask(context: Context, messages: Sequence[Message], max_tokens: int) -> Reply:
    from smart_context.llm.model import Reply

    system = "\n\n".join(message.content for message in messages if message.role == "system")
    asked = [
        SamplingMessage(role="user", content=TextContent(type="text", text=message.content))
        for message in messages
        if message.role != "system"
    ]
    params = CreateMessageRequestParams(messages=asked, max_tokens=max_tokens, system_prompt=system or None)
    try:
        result = await context.session.send_request(CreateMessageRequest(params=params), CreateMessageResult)
    except (MCPError, ValidationError) as error:
        raise LlmUpstream("the client's model gave no answer") from error
    if not isinstance(result.content, TextContent):
        raise LlmUpstream("the client's model answered with something other than text")
    return Reply(result.content.text, is_cut=result.stop_reason == "maxTokens")


def _wait(answer: Future[Reply], stop: Stop) -> Reply:
    while True:
        try:
            return answer.result(_LOOK_EVERY)
        except TimeoutError:
            pass
        try:
            stop()
        except BaseException:
            answer.cancel()
            raise
