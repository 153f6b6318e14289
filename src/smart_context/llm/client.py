"""Ask an OpenAI-compatible chat endpoint.

In: an endpoint and messages.  Out: a `Reply`.
Always: an answer is bounded in time, however slowly it comes; temporary failures are retried, never longer than the endpoint's time;
no error names the key or repeats an answer at length; the provider's own reason is passed on, cleaned by the caller's redactor.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from smart_context import redact
from smart_context.errors import LlmUpstream, RateLimited
from smart_context.llm import http, reply
from smart_context.llm.endpoint import Endpoint
from smart_context.llm.http import Answer
from smart_context.llm.model import Message, Reply
from smart_context.model import Stop

_POLL_SECONDS = 0.05
_LOOK = "see that it runs, and that `llm.base_url` is right; `context llm check --send` tries it"
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 8.0
_RATE_PAUSE = 30.0  # told to the caller if the provider does not say when to retry
_MAY_PASS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

Clean = Callable[[str], str]
"""Hide what must not be shown."""
Wait = Callable[[float], None]
"""Let this many seconds pass; raises when the call should end."""


def ask(
    endpoint: Endpoint,
    messages: Sequence[Message],
    max_tokens: int,
    *,
    stop: Stop,
    clean: Clean = redact.clean,
    wait: Wait | None = None,
) -> Reply:
    """Ask, and ask again where that may help, within the endpoint's time.

    Raises: LlmUpstream, RateLimited, ConfigError, and what `stop` raises.
    """
    http.clients.get(endpoint)  # the first time this may take longer than an answer, and is no fault of the provider's
    deadline = time.monotonic() + endpoint.timeout
    pause = wait or (lambda seconds: _wait(seconds, stop))
    body = {
        "model": endpoint.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "max_tokens": max_tokens,
        "temperature": 0,
    }
    for attempt in range(endpoint.retries + 1):
        answer = _watched(endpoint, body, deadline, stop)
        if answer.status == 200:
            return reply.read(answer.body, max_tokens)
        delay = answer.retry_after if answer.retry_after is not None else min(_FIRST_PAUSE * 2**attempt, _MAX_PAUSE)
        last = attempt == endpoint.retries or time.monotonic() + delay >= deadline
        if last or not (answer.may_pass or answer.status in _MAY_PASS) or _is_out_of_quota(answer):
            raise _error(endpoint, answer, clean)
        pause(delay)
    raise AssertionError  # the last attempt returns or raises


def _watched(endpoint: Endpoint, body: dict[str, Any], deadline: float, stop: Stop) -> Answer:
    """Make one attempt in a thread, so that a server that drips a byte a second cannot hold the call beyond its time."""
    answers: queue.SimpleQueue[Answer | BaseException] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            answers.put(http.post(endpoint, body, deadline))
        except BaseException as error:  # noqa: BLE001  carried to the caller's thread
            answers.put(error)

    threading.Thread(target=attempt, name="llm", daemon=True).start()
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                http.clients.drop(endpoint)
                return Answer(why=f"did not answer within {endpoint.timeout:g} seconds")
            try:
                answer = answers.get(timeout=min(_POLL_SECONDS, left))
            except queue.Empty:
                stop()
                continue
            if isinstance(answer, BaseException):
                raise answer
            return answer
    except BaseException:
        http.clients.drop(endpoint)
        raise


def _wait(seconds: float, stop: Stop) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        stop()
        time.sleep(min(_POLL_SECONDS, left))
    stop()


def _is_out_of_quota(answer: Answer) -> bool:
    return answer.status == 429 and b"insufficient_quota" in answer.body


def _error(endpoint: Endpoint, answer: Answer, clean: Clean) -> LlmUpstream | RateLimited:
    who = f"the language model at {endpoint.host}"
    if not answer.status:
        return LlmUpstream(f"{who} {answer.why}", hint=_LOOK)
    told = clean(reply.reason(answer.body, endpoint.key))
    why = f": {told}" if told else ""
    if answer.status == 429:
        after = _RATE_PAUSE if answer.retry_after is None else answer.retry_after
        hint = (
            "the account has no quota left"
            if _is_out_of_quota(answer)
            else f"try again in {max(1, round(after))} seconds"
        )
        return RateLimited(f"{who} takes no more calls for now{why}", retry_after=after, hint=hint)
    if answer.status in {401, 403}:
        said, hint = f"{who} refused the key ({answer.status})", "`context llm check` shows where it is from"
    elif answer.status == 404:
        said, hint = (
            f"{who} does not know the address or the model {endpoint.model!r}",
            "see `llm.base_url`, `llm.model`",
        )
    else:
        said, hint = f"{who} failed with status {answer.status}", "try again later, or without a model"
    return LlmUpstream(said + why, hint=hint)
