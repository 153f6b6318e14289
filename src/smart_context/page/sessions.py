"""Who is signed in: one-time links, and sessions behind a cookie.

In: a ticket or a token.  Out: a session's id, and later the caller it stands for.
Always: a ticket opens one session, within a minute; the cookie holds a random id and no token; a session ends with its token.

A ticket is made by whoever can read the server's own token (`context ui`): a nonce and an end, signed with that token. So the token itself
is never sent, and another program on the port learns nothing that it could use with this server.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from smart_context.model import Caller

COOKIE = "smart_context"
TICKET_SECONDS = 60
_MOST = 1000  # sessions; the one that was used longest ago makes way
_IDLE_SECONDS = 12 * 3600.0


def ticket(own_token: str, now: float) -> str:
    """Make a ticket that is valid for a minute."""
    text = f"{secrets.token_hex(16)}.{int(now) + TICKET_SECONDS}"
    return f"{text}.{_signed(own_token, 'ticket', text)}"


def proof(own_token: str, nonce: str) -> str:
    """Prove knowledge of the token without revealing it: the answer of a server to the nonce of `context ui`."""
    return _signed(own_token, "server", nonce)


def _signed(own_token: str, purpose: str, text: str) -> str:
    return hmac.new(own_token.encode(), f"smart-context page {purpose}\n{text}".encode(), hashlib.sha256).hexdigest()


@dataclass(slots=True)
class _Session:
    token: bytes
    used: float


class BrowserSessions:
    """The open sessions of one server, in memory alone: they end with it."""

    def __init__(self, known: Callable[[bytes], Caller | str], own_token: Callable[[], str]) -> None:
        self._known = known
        self._own_token = own_token
        self._secret = secrets.token_bytes(32)
        self._open: dict[str, _Session] = {}
        self._used_tickets: dict[str, float] = {}

    def enter_by_ticket(self, given: str) -> str | None:
        """Open a session of the owner; None for a ticket that is not valid, or not any more."""
        text, _, signature = given.rpartition(".")
        own = self._own_token()
        if not hmac.compare_digest(signature.encode(), _signed(own, "ticket", text).encode()):
            return None
        now, end = time.time(), float(text.rpartition(".")[2])
        self._used_tickets = {used: until for used, until in self._used_tickets.items() if until >= now}
        if now > end or text in self._used_tickets:
            return None
        self._used_tickets[text] = end
        return self._begin(own.encode())

    def enter_by_token(self, token: bytes) -> str | None:
        """Open a session with a token; None if it is refused."""
        return None if isinstance(self._known(token), str) else self._begin(token)

    def caller(self, session: str) -> Caller | None:
        """Who a session belongs to; None when it, or the token behind it, has ended."""
        found = self._open.get(_key(session))
        if found is None:
            return None
        known = self._known(found.token)
        if isinstance(known, str) or time.time() - found.used > _IDLE_SECONDS:
            self.leave(session)
            return None
        found.used = time.time()
        return known

    def leave(self, session: str) -> None:
        """End a session."""
        self._open.pop(_key(session), None)

    def form_token(self, session: str) -> str:
        """What a form of this session carries, and no form of another site can."""
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest()

    def _begin(self, token: bytes) -> str:
        while len(self._open) >= _MOST:
            self._open.pop(min(self._open, key=lambda each: self._open[each].used))
        session = secrets.token_urlsafe(32)
        self._open[_key(session)] = _Session(token, time.time())
        return session


def _key(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()
