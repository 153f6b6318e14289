"""Signing in and out: one-time links, the form for a token, and the check before anything is changed.

In: a request.  Out: the `Visit` behind it, or the page on which one signs in.
Always: every request has a known caller, or gets the sign-in page; a request that changes something comes from a form of this page.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from smart_context.errors import Forbidden
from smart_context.page import render
from smart_context.page.desk import Desk, Visit
from smart_context.page.sessions import COOKIE, BrowserSessions, proof

_LONGEST_NONCE = 200
_SAFE_METHODS = {"GET", "HEAD"}


class SignIn:
    """Signs people in and out."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.sessions = BrowserSessions(desk.known, desk.own_token)

    def visit(self, request: Request) -> Visit | None:
        """The visit behind a request; None if the caller is unknown."""
        session = ""
        caller = self._desk.caller(request.scope)
        if caller is None:
            session = request.cookies.get(COOKIE, "")
            caller = self.sessions.caller(session) if session else None
        if caller is None:
            return None
        is_local = caller.is_owner and self._desk.is_local(request.scope)
        return Visit(caller, self._desk.address(request.scope), session, is_local)

    async def enter(self, request: Request) -> Response:
        """Sign in with the link of `context ui`, or with a token."""
        if request.method in _SAFE_METHODS:
            ticket = request.query_params.get("ticket")
            if ticket is None:
                return self.sign_in_page()
            session = self.sessions.enter_by_ticket(ticket)
            why = "This link was used already, or is older than a minute. Run context ui again."
        else:
            _check_site(request)
            token = str((await request.form()).get("token", "")).strip()
            session = self.sessions.enter_by_token(token.encode("utf-8", "replace"))
            why = "Nobody is let in with this token."
        if session is None:
            return self.sign_in_page(why, 403)
        answer = RedirectResponse("/", 303, render.PRIVATE)
        is_secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=is_secure, path="/")
        return answer

    async def leave(self, request: Request) -> Response:
        """Sign out."""
        await self.form(request)
        self.sessions.leave(request.cookies.get(COOKIE, ""))
        answer = RedirectResponse("/enter", 303, render.PRIVATE)
        answer.delete_cookie(COOKIE, path="/")
        return answer

    async def hello(self, request: Request) -> Response:
        """Prove to `context ui` that this is the server of the token that it can read."""
        nonce = request.query_params.get("nonce", "")[:_LONGEST_NONCE]
        return PlainTextResponse(proof(self._desk.own_token(), nonce), headers=render.PRIVATE)

    def sign_in_page(self, why: str = "", status: int = 401) -> Response:
        """The page on which one signs in."""
        return render.page("sign-in.html", status, why=why)

    async def form(self, request: Request) -> FormData:
        """The fields of a form that changes something, after checking that it comes from this page.

        Raises: Forbidden.
        """
        _check_site(request)
        visit = self.visit(request)
        sent = await request.form()
        if visit is None or sent.get("form") != self.sessions.form_token(visit.session):
            raise Forbidden("this form is not of this session", hint="load the page again, and send it once more")
        return sent


def _check_site(request: Request) -> None:
    """Check the origin of a request, which browsers send; one without it does not come from our form."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_ours = site == "same-origin" if site else bool(origin)
    if origin is not None:
        is_ours = is_ours and urlsplit(origin).netloc == request.headers.get("host")
    if not is_ours:
        raise Forbidden("requests from other sites are not allowed", hint="use the form on this page")
