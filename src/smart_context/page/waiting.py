"""Work only as long as the browser waits: while somebody types, it drops older requests.

In: a request, and the work that answers it.  Out: what the work gives.
Always: when the browser has gone, the work is cancelled and told so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import Request

from smart_context.errors import CallCancelled

T = TypeVar("T")


async def unless_left(request: Request, work: Awaitable[T]) -> T:
    """Do the work, and stop when the browser goes.

    Raises: CallCancelled then; what the work raises.
    """
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise CallCancelled("nobody waits for this any more")
    finally:
        doing.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
