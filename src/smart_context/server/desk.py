"""The server's side of the page for people: its callers, and calls that pass the same guard as those of tools.

In: a verb or the name of a tool.  Out: its result.
Always: a call counts for rates, audit and metrics; an error shows no more than a tool's answer would.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from smart_context.access import tokens
from smart_context.errors import (
    CANONICAL_MESSAGES,
    CallTimeout,
    ContextError,
    InternalError,
    SearchError,
)
from smart_context.model import OWNER, Caller, Stop, silent
from smart_context.page.desk import Finding, Visit
from smart_context.server.calls import Stopper, Workers
from smart_context.server.gate import is_loopback
from smart_context.server.identity import CALLER, peer
from smart_context.server.tools import Call, Guard, Reply, Tool, Work, perform, unforeseen

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.server.context_tools import Caches
    from smart_context.server.listen import Listen

T = TypeVar("T")
_THREADS = 8
_CLIENT = "page"
_FORWARDED = {b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"}


class ServerDesk:
    """The server, as the page sees it."""

    def __init__(
        self,
        app: App,
        caches: Caches,
        rows: Sequence[Tool],
        guard: Guard,
        clean: Callable[[str], str],
        listen: Listen,
    ) -> None:
        self.app = app
        self._caches = caches
        self._rows = {row.name: row for row in rows}
        self._guard = guard
        self._clean = clean
        self._listen = listen
        self._workers = Workers(_THREADS)

    def caller(self, scope: Mapping[str, Any]) -> Caller | None:
        """The caller, if the gate has identified it."""
        found: Caller | None = scope[CALLER]
        return found

    def known(self, token: bytes) -> Caller | str:
        """The caller with a token, or why it is refused."""
        return self._listen.tokens.caller(token) if self._listen.tokens else OWNER

    def own_token(self) -> str:
        """The server's own token."""
        settings = self.app.settings
        return tokens.own(Path(settings.data_dir), settings.http.token_file or None)

    def address(self, scope: Mapping[str, Any]) -> str:
        """The address of the peer."""
        return peer(scope)

    def is_local(self, scope: Mapping[str, Any]) -> bool:
        """Whether the browser runs on this machine; False wherever a proxy may stand between."""
        headers = dict(scope["headers"])
        host = urlsplit("//" + headers.get(b"host", b"").decode("latin-1")).hostname or ""
        ends = (self._listen.host, peer(scope), host)
        return all(is_loopback(end) for end in ends) and not _FORWARDED & headers.keys()

    def examine(self) -> Sequence[Finding]:
        """Look over the installation."""
        return self._listen.examine() if self._listen.examine else ()

    def cache(self, caller: Caller, name: str) -> os.PathLike[str]:
        """Where a cache is, for a caller that may see it."""
        return self._caches.inside(name, caller)

    async def call(
        self,
        visit: Visit,
        name: str,
        arguments: Mapping[str, Any],
        verb: Callable[[Stop], T],
        counts: Callable[[T], dict[str, Any]] = lambda _result: {},
    ) -> T:
        """Run a verb under the name of a tool."""
        kept: list[T] = []
        failed: list[ContextError] = []

        def run(_arguments: Mapping[str, Any], work: Work) -> Reply:
            kept.append(verb(work.stop))
            return Reply("", counts(kept[0]))

        def refuse(error: ContextError) -> Reply:
            failed.append(error)
            return Reply("", code=error.code)

        seconds = self.app.settings.timeout(name)
        await self._perform(visit, Tool(name, "", "", {}, run, refuse, seconds=seconds), arguments)
        if failed:
            raise self._safe(failed[-1])
        return kept[0]

    async def tool(self, visit: Visit, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool of the table."""
        reply = await self._perform(visit, self._rows[name], arguments)
        answer: dict[str, Any] = json.loads(reply.text)
        if reply.code:
            raise SearchError(str(answer["error"]["message"]))
        return answer

    async def _perform(self, visit: Visit, tool: Tool, arguments: Mapping[str, Any]) -> Reply:
        call = Call(tool, arguments, visit.caller, _CLIENT, visit.address)

        def work(stop: Stopper) -> Reply:
            return perform(call, Work(stop, silent, visit.caller), self._guard)

        try:
            return await self._workers.run(work, tool.seconds)
        except CallTimeout as error:
            return tool.refuse(error)

    def _safe(self, error: ContextError) -> ContextError:
        """The error as a tool would tell it."""
        if error.code in CANONICAL_MESSAGES and not isinstance(error, InternalError | CallTimeout):
            return SearchError(CANONICAL_MESSAGES[error.code])
        if not isinstance(error, SearchError | InternalError | CallTimeout):
            error = unforeseen("the page", error)
        error.message = self._clean(error.message)
        error.hint = self._clean(error.hint) if error.hint else None
        return error
