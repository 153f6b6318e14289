"""A question that nobody waits for any more is not worked on."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request

from smart_context.errors import CallCancelled
from smart_context.page import waiting


def test_the_work_is_cancelled_when_the_browser_goes():
    async def session():
        gone, began, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        heard = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive():
            if heard:
                return heard.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def work():
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        answering = asyncio.ensure_future(waiting.unless_left(Request({"type": "http"}, receive), work()))
        await began.wait()
        gone.set()
        with pytest.raises(CallCancelled):
            await answering
        await ended.wait()

    asyncio.run(session())


def test_what_the_work_gives_or_raises_comes_through():
    async def session():
        async def receive():
            await asyncio.Event().wait()

        async def given(value):
            if value is None:
                raise KeyError
            return value

        request = Request({"type": "http"}, receive)
        assert await waiting.unless_left(request, given(3)) == 3
        with pytest.raises(KeyError):
            await waiting.unless_left(request, given(None))

    asyncio.run(session())
