"""The guard of every tool call: rates, audit, metrics.

In: a call and the work it asks for.  Out: the reply, counted and logged.
Always: a refused call is logged as well; a log that cannot be written is reported on stderr, once until it works again, and stops no
call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from smart_context.access import audit
from smart_context.access.audit import LoggedCall
from smart_context.access.rates import RateLimits
from smart_context.errors import ContextError
from smart_context.server.metrics import Metrics
from smart_context.server.tools import Call, Reply
from smart_context.settings.config import Settings
from smart_context.talk import say

_COUNTED = ("indexed", "skipped", "removed", "failed")


class Guards:
    """The `Guard` of `context serve`."""

    def __init__(self, settings: Settings, clean: Callable[[str], str], metrics: Metrics) -> None:
        self._rates = RateLimits(settings.data_dir, settings.rate_limits)
        self._metrics = metrics
        self._logs_context = settings.audit.context_tools
        self._log = audit.configured(settings, clean)
        self._log_works = True

    def __call__(self, call: Call, answer: Callable[[], Reply]) -> Reply:
        """Let a call through within its rate, then count and log how it ended."""
        self._metrics.begin()
        reply, code = None, ""
        try:
            self._rates.take(call.caller.name, call.tool.name)
            reply = answer()
            code = reply.code
        except ContextError as error:
            code = error.code
            raise
        finally:
            seconds = time.monotonic() - call.came  # with the time that it waited for its turn
            self._metrics.end(call.tool.name, code or "ok", seconds)
            self._write(call, reply, code, seconds)
        return reply

    def failed(self, call: Call, code: str, seconds: float) -> None:
        """Log a call that another process did not finish."""
        self._write(call, None, code, seconds)

    def _write(self, call: Call, reply: Reply | None, code: str, seconds: float) -> None:
        if self._log is None or (call.tool.name.startswith("context.") and not self._logs_context):
            return
        query = call.arguments.get("query")
        counts = _counts(reply.structured) if reply and reply.structured else {}
        entry = LoggedCall(
            call.tool.name,
            call.caller.name,
            seconds * 1000,
            code,
            query if isinstance(query, str) else None,
            counts,
            client=call.client,
            address=call.address,
        )
        try:
            self._log.write(entry)
            self._log_works = True
        except ContextError as error:
            self._metrics.lose_line()
            if self._log_works:
                say(f"warning: {error.message}: {error.reason}; calls are not logged until it can be written\n")
            self._log_works = False


def _counts(answer: dict[str, Any]) -> dict[str, int]:
    """The counts of an answer for the log; never its text."""
    found = {name: answer[name] for name in _COUNTED if isinstance(answer.get(name), int)}
    if isinstance(answer.get("items"), list):
        found["results"] = len(answer["items"])
    if isinstance(answer.get("preview"), str):
        found["bytes"] = len(answer["preview"].encode())
    tokens = answer.get("tokens_used")
    if isinstance(tokens, dict):
        found |= {f"{name}_tokens": count for name, count in tokens.items() if isinstance(count, int)}
    return found
