"""The page's application: its routes, and what they have in common.

In: what the server gives (`Desk`).  Out: an ASGI application, and the paths it answers.
Always: without signing in one sees only the sign-in page; an error is a page that says what to do.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from smart_context.errors import BadRequest, ContextError, Forbidden, NotFound, RateLimited, SearchError
from smart_context.page import caches, desktop, file, index_view, render, search, waiting
from smart_context.page.desk import Desk, Visit
from smart_context.page.sign_in import SignIn

Handler = Callable[[Request, Visit], Awaitable[Response]]

_STATUS = {"BAD_REQUEST": 400, "FORBIDDEN": 403, "NOT_FOUND": 404, "CONFLICT": 409, "RATE_LIMITED": 429}


class Page:
    """The ASGI application, and the paths that it answers without a token from the gate."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sign_in = SignIn(desk)
        routes = [
            Route("/", self._signed_in(self._search)),
            Route("/see", self._signed_in(self._see)),
            Route("/picture", self._signed_in(self._picture)),
            Route("/open", self._signed_in(self._open), methods=["POST"]),
            Route("/index", self._signed_in(self._index), methods=["GET", "POST"]),
            Route("/caches", self._signed_in(self._caches)),
            Route("/cache", self._signed_in(self._cache)),
            Route("/diff", self._signed_in(self._diff)),
            Route("/freeze", self._signed_in(self._freeze), methods=["POST"]),
            Route("/enter", self._shown(self._sign_in.enter), methods=["GET", "POST"]),
            Route("/leave", self._shown(self._sign_in.leave), methods=["POST"]),
            Route("/hello", self._sign_in.hello),
            *(Route(path, render.serve_static) for path in sorted(render.STATIC)),
        ]
        self.paths = frozenset(route.path for route in routes)
        self.application = Starlette(routes=[*routes, Route("/{unknown:path}", self._signed_in(self._unknown))])

    def _signed_in(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            visit = self._sign_in.visit(request)
            if visit is not None:
                return await handler(request, visit)
            return (
                self._sign_in.sign_in_page() if request.url.path == "/" else RedirectResponse("/", 303, render.PRIVATE)
            )

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
        shown = {"message": error.message, "hint": error.hint or "", **self._common(self._sign_in.visit(request))}
        return render.page(name, _STATUS.get(error.code, 500), wait, asked=search.asked(request.query_params), **shown)

    def _common(self, visit: Visit | None) -> dict[str, Any]:
        """What the frame around every view shows."""
        session = visit.session if visit else ""
        return {"visit": visit, "form": self._sign_in.sessions.form_token(session)}

    async def _unknown(self, _request: Request, _visit: Visit) -> Response:
        raise NotFound("there is no such page", hint="go back to the search")

    async def _search(self, request: Request, visit: Visit) -> Response:
        wanted = search.asked(request.query_params)
        part = request.query_params.get("part", "")
        if not wanted.q:
            view = await self._desk.call(
                visit, "listRoots", {}, lambda _stop: search.welcome(self._desk.app, wanted, visit.caller)
            )
        else:
            is_typed = part == "typed"
            found = self._desk.call(
                visit,
                "searchAsTyped" if is_typed else "searchFiles",
                {"query": wanted.q},
                lambda stop: search.view(self._desk.app, wanted, visit.caller, stop, is_typed=is_typed),
                lambda found: {"items": list(found.results)},
            )
            view = await waiting.unless_left(request, found)
        name = "search-part.html" if part else "search.html"
        may_freeze = bool(view.looked_at) and caches.may_freeze(self._desk, visit)
        return render.page(name, view=view, asked=wanted, may_freeze=may_freeze, **self._common(visit))

    async def _see(self, request: Request, visit: Visit) -> Response:
        asked = search.asked(request.query_params)
        path, pointer = request.query_params.get("path", ""), request.query_params.get("pointer", "")
        seen = await self._desk.call(
            visit,
            "openFile",
            {"path": path},
            lambda stop: file.view(self._desk.app, path, pointer, asked, visit.caller, stop),
        )
        here = f"/see?{request.url.query}"
        told = "Opened." if request.query_params.get("opened") else ""
        return render.page("file.html", seen=seen, asked=asked, here=here, told=told, **self._common(visit))

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
        sent = await self._sign_in.form(request)
        if not visit.is_local:
            raise Forbidden("files are opened only for the owner, on the machine where they are")
        path, back = str(sent.get("path", "")), str(sent.get("back", ""))

        def act(_stop: object) -> None:
            found = self._desk.app.locate(path, caller=visit.caller)
            desktop.show(found, folder=sent.get("what") == "folder")

        await self._desk.call(visit, "openFile", {"path": path}, act)
        return RedirectResponse(back + "&opened=1" if back.startswith("/see?") else "/", 303, render.PRIVATE)

    async def _index(self, request: Request, visit: Visit) -> Response:
        app = self._desk.app
        if request.method == "POST":
            told = await self._change_index(visit, await self._sign_in.form(request))
            return RedirectResponse(f"/index?told={told}", 303, render.PRIVATE)
        wants_check = bool(request.query_params.get("check")) and visit.caller.is_owner

        def look(_stop: object) -> index_view.IndexView:
            return index_view.view(app, visit, self._desk.examine() if wants_check else None)

        name = "index-part.html" if request.query_params.get("part") else "index.html"
        shown = await self._desk.call(visit, "listRoots", {}, look)
        told = index_view.TOLD.get(request.query_params.get("told", ""), "")
        return render.page(name, state=shown, told=told, **self._common(visit))

    async def _change_index(self, visit: Visit, sent: FormData) -> str:
        """Start or stop a run, or add a root; what to tell afterwards."""
        app, what, root = self._desk.app, sent.get("what"), str(sent.get("root", ""))
        if what == "add" and not visit.is_local:
            raise Forbidden("roots are added only by the owner, on the machine where they are")

        def act(_stop: object) -> str:
            if what == "add":
                return "added" if app.add_root(root, caller=visit.caller)[1] else "added-here"
            if what == "stop":
                app.stop_index(root, caller=visit.caller)
                return "stopped"
            app.start_index(root, caller=visit.caller)
            return "started"

        return await self._desk.call(visit, "indexFolder", {"root": root}, act)

    async def _caches(self, request: Request, visit: Visit) -> Response:
        found: tuple[caches.Listed, ...] = ()
        why = ""
        try:
            found = await caches.listed(self._desk, visit)
        except SearchError:
            is_own = visit.caller.is_owner
            why = "No folder of caches is configured." if is_own else "This token may not see a folder of caches."
        return render.page("caches.html", caches=found, why=why, **self._common(visit))

    async def _cache(self, request: Request, visit: Visit) -> Response:
        params = request.query_params
        cache, asked_query, budget = (
            params.get("cache", ""),
            params.get("query", ""),
            caches.budget_of(params.get("budget", "")),
        )
        asked = (self._desk, visit, cache, asked_query, budget)
        packed = await caches.packed(*asked) if params.get("as") == "pack" else None
        resolved = await caches.resolved(*asked) if packed is None else None
        signer = None if params.get("part") else await caches.signer(self._desk, visit, cache)
        return render.page(
            "cache-part.html" if params.get("part") else "cache.html",
            cache=cache,
            asked_query=asked_query,
            budget=budget,
            most=caches.MOST_BUDGET,
            resolved=resolved,
            packed=packed,
            signer=signer,
            **self._common(visit),
        )

    async def _diff(self, request: Request, visit: Visit) -> Response:
        old, new = request.query_params.get("old", ""), request.query_params.get("new", "")
        found = await caches.compared(self._desk, visit, old, new)
        return render.page("diff.html", old=old, new=new, found=found, **self._common(visit))

    async def _freeze(self, request: Request, visit: Visit) -> Response:
        sent = await self._sign_in.form(request)
        asked = search.asked(QueryParams(str(sent.get("view", ""))))
        name = str(sent.get("name", "")).strip()
        await caches.freeze(self._desk, visit, asked, name, [str(one) for one in sent.getlist("pick")])
        return RedirectResponse("/cache?" + render.query([("cache", name), ("query", asked.q)]), 303, render.PRIVATE)
