"""Put the page together: its routes, and what every one of them has in common.

In: what the server gives (`Desk`).  Out: an ASGI application, and the paths it answers.
Always: whoever is not signed in sees the door and nothing else; an error is a page that says what to do.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from smart_context.errors import BadRequest, ContextError, Forbidden, RateLimited
from smart_context.page import desktop, render, search, see
from smart_context.page.desk import Desk, Visit
from smart_context.page.entry import Entry

Handler = Callable[[Request, Visit], Awaitable[Response]]

_STATUS = {"BAD_REQUEST": 400, "FORBIDDEN": 403, "NOT_FOUND": 404, "CONFLICT": 409, "RATE_LIMITED": 429}


class Page:
    """The ASGI application, and the paths that it answers without a token from the gate."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._entry = Entry(desk)
        routes = [
            Route("/", self._signed_in(self._search)),
            Route("/see", self._signed_in(self._see)),
            Route("/picture", self._signed_in(self._picture)),
            Route("/open", self._signed_in(self._open), methods=["POST"]),
            Route("/enter", self._shown(self._entry.enter), methods=["GET", "POST"]),
            Route("/leave", self._shown(self._entry.leave), methods=["POST"]),
            Route("/hello", self._entry.hello),
            *(Route(path, render.serve_static) for path in sorted(render.STATIC)),
        ]
        self.paths = frozenset(route.path for route in routes)
        self.application = Starlette(routes=routes)

    def _signed_in(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            visit = self._entry.visit(request)
            if visit is not None:
                return await handler(request, visit)
            return self._entry.door() if request.url.path == "/" else RedirectResponse("/", 303, render.PRIVATE)

        return self._shown(answer)

    def _shown(self, handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except ContextError as error:
                return self._error(request, error)

        return answer

    def _error(self, request: Request, error: ContextError) -> Response:
        wait = {"Retry-After": str(math.ceil(error.retry_after))} if isinstance(error, RateLimited) else {}
        name = "error-part.html" if request.query_params.get("part") else "error.html"
        shown = {"message": error.message, "hint": error.hint or "", **self._common(self._entry.visit(request))}
        return render.page(name, _STATUS.get(error.code, 500), wait, asked=search.asked(request.query_params), **shown)

    def _common(self, visit: Visit | None) -> dict[str, Any]:
        """What the frame around every view shows."""
        session = visit.session if visit else ""
        return {"visit": visit, "form": self._entry.sessions.form_token(session)}

    async def _search(self, request: Request, visit: Visit) -> Response:
        wanted = search.asked(request.query_params)
        part = request.query_params.get("part", "")
        if not wanted.q:
            view = await self._desk.call(
                visit, "listRoots", {}, lambda _stop: search.welcome(self._desk.app, wanted, visit.caller)
            )
        else:
            is_typed = part == "typed"
            view = await self._desk.call(
                visit,
                "searchAsTyped" if is_typed else "searchFiles",
                {"query": wanted.q},
                lambda stop: search.view(self._desk.app, wanted, visit.caller, stop, is_typed=is_typed),
                lambda found: {"items": list(found.results)},
            )
        name = "search-part.html" if part else "search.html"
        return render.page(name, view=view, asked=wanted, **self._common(visit))

    async def _see(self, request: Request, visit: Visit) -> Response:
        asked = search.asked(request.query_params)
        path, pointer = request.query_params.get("path", ""), request.query_params.get("pointer", "")
        seen = await self._desk.call(
            visit,
            "openFile",
            {"path": path},
            lambda stop: see.view(self._desk.app, path, pointer, asked, visit.caller, stop),
        )
        here = f"/see?{request.url.query}"
        told = "Opened." if request.query_params.get("opened") else ""
        return render.page("see.html", seen=seen, asked=asked, here=here, told=told, **self._common(visit))

    async def _picture(self, request: Request, visit: Visit) -> Response:
        path, page = request.query_params.get("path", ""), request.query_params.get("page", "")
        if not (page.isascii() and page.isdigit() and len(page) < 7):
            raise BadRequest("that is no page")
        picture = await self._desk.call(
            visit,
            "showPage",
            {"path": path},
            lambda stop: self._desk.app.picture_of(
                path, int(page), request.query_params.get("q", ""), stop=stop, caller=visit.caller
            ),
        )
        return Response(picture.png, headers={**render.PRIVATE, "Content-Type": "image/png"})

    async def _open(self, request: Request, visit: Visit) -> Response:
        sent = await self._entry.form(request)
        if not visit.is_local:
            raise Forbidden("files are opened only for the owner, on the machine where they are")
        path, back = str(sent.get("path", "")), str(sent.get("back", ""))

        def act(_stop: object) -> None:
            found = self._desk.app.locate(path, caller=visit.caller)
            desktop.show(found, folder=sent.get("what") == "folder")

        await self._desk.call(visit, "openFile", {"path": path}, act)
        return RedirectResponse(back + "&opened=1" if back.startswith("/see?") else "/", 303, render.PRIVATE)
