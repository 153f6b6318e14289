"""Ask an OpenAI-compatible chat endpoint.

In: an endpoint and messages.  Out: a `Reply`.
Always: one host is spoken to, redirects are refused; an answer is bounded in size and time, however slowly it drips; what may
pass is tried again, never longer than the endpoint's time; no error names the key or repeats an answer at length.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from smart_context.errors import ConfigError, LlmUpstream, RateLimited, how_to_add
from smart_context.llm.endpoint import Endpoint
from smart_context.llm.model import Message, Reply
from smart_context.model import Stop

MAX_ANSWER_BYTES = 4 * 1024 * 1024
_POLL_SECONDS = 0.05
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 8.0
_RATE_PAUSE = 30.0  # what is said to the caller where the provider does not say when to come back
_MAY_PASS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_CHARS_A_TOKEN = 12  # no tokenizer has more on average; what is longer did not keep to max_tokens

Wait = Callable[[float], None]
"""Let this many seconds pass; raises when the call should end."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came back: a status with the headers that matter and the body, or why nothing did."""

    status: int = 0
    body: bytes = b""
    retry_after: float | None = None
    why: str = ""
    may_pass: bool = False


def ask(
    endpoint: Endpoint, messages: Sequence[Message], max_tokens: int, *, stop: Stop, wait: Wait | None = None
) -> Reply:
    """Ask, and ask again where that may help, within the endpoint's time.

    Raises: LlmUpstream, RateLimited, ConfigError, and what `stop` raises.
    """
    _clients.get(endpoint)  # the first time this may take longer than an answer, and is no fault of the provider's
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
            return _reply(answer.body, max_tokens)
        delay = answer.retry_after if answer.retry_after is not None else min(_FIRST_PAUSE * 2**attempt, _MAX_PAUSE)
        last = attempt == endpoint.retries or time.monotonic() + delay >= deadline
        if last or not (answer.may_pass or answer.status in _MAY_PASS) or _is_out_of_quota(answer):
            raise _error(endpoint, answer)
        pause(delay)
    raise AssertionError  # the last attempt returns or raises


def _watched(endpoint: Endpoint, body: dict[str, Any], deadline: float, stop: Stop) -> _Answer:
    """Make one attempt in a thread, so that a server that drips a byte a second cannot hold the call beyond its time."""
    answers: queue.SimpleQueue[_Answer | BaseException] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            answers.put(_attempt(endpoint, body, deadline))
        except BaseException as error:  # noqa: BLE001  carried to the caller's thread
            answers.put(error)

    threading.Thread(target=attempt, name="llm", daemon=True).start()
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                _clients.drop(endpoint)
                return _Answer(why=f"did not answer within {endpoint.timeout:g} seconds")
            try:
                answer = answers.get(timeout=min(_POLL_SECONDS, left))
            except queue.Empty:
                stop()
                continue
            if isinstance(answer, BaseException):
                raise answer
            return answer
    except BaseException:
        _clients.drop(endpoint)
        raise


def _attempt(endpoint: Endpoint, body: dict[str, Any], deadline: float) -> _Answer:
    openai = _openai()
    client = _clients.get(endpoint)
    try:
        raw = client.chat.completions.with_raw_response.create(
            **body, timeout=max(0.1, deadline - time.monotonic()), extra_headers={"Accept-Encoding": "identity"}
        )
        return _Answer(raw.status_code, raw.content)
    except openai.APITimeoutError:
        return _Answer(why=f"did not answer within {endpoint.timeout:g} seconds", may_pass=True)
    except openai.APIStatusError as error:
        response = error.response
        return _Answer(response.status_code, response.content[:10_000], _retry_after(response.headers))
    except _Refused as refused:
        return _Answer(why=str(refused))
    except openai.APIConnectionError as error:
        cause = error.__cause__
        if isinstance(cause, _Refused):
            return _Answer(why=str(cause))
        return _Answer(why="could not be reached, or broke off its answer", may_pass=True)
    except (openai.OpenAIError, ValueError):
        return _Answer(why="gave an answer that cannot be read")


class _Refused(Exception):
    """An answer that is not taken; the message says why."""


class _Clients:
    """One client an endpoint, kept, because making one takes longer than asking it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Endpoint, Any] = {}

    def get(self, endpoint: Endpoint) -> Any:
        with self._lock:
            if endpoint not in self._made:
                while len(self._made) >= 4:
                    self._made.pop(next(iter(self._made))).close()
                self._made[endpoint] = _client(endpoint)
            return self._made[endpoint]

    def drop(self, endpoint: Endpoint) -> None:
        with self._lock:
            client = self._made.pop(endpoint, None)
        if client is not None:
            client.close()


_clients = _Clients()


def _openai() -> Any:
    try:
        import openai
    except ImportError:
        raise ConfigError("the language model needs a package that is not installed", hint=how_to_add("llm")) from None
    return openai


def _client(endpoint: Endpoint) -> Any:
    openai = _openai()
    # Releases of the package differ in the HTTP library they are built on; what we need is the same in both.
    http = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
    try:
        session = openai.DefaultHttpxClient(
            follow_redirects=False,
            trust_env=False,  # proxies as configured, and no others
            proxy=endpoint.proxy or None,
            event_hooks={"response": [_bounding(http)]},
        )
    except ValueError:
        raise ConfigError("`llm.proxy` is not an address", hint="for example http://proxy.example.org:3128") from None
    client = openai.OpenAI(
        api_key=endpoint.key or "none", base_url=endpoint.base_url, max_retries=0, http_client=session
    )
    # Taken from the environment, these would be sent to whatever host is configured.
    client.organization = client.project = None
    return client


def _bounding(http: Any) -> Callable[[Any], None]:
    class Bounded(http.SyncByteStream):  # type: ignore[misc]  # the library is known only at run time
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __iter__(self) -> Any:
            size = 0
            for chunk in self._inner:
                size += len(chunk)
                if size > MAX_ANSWER_BYTES:
                    raise _Refused(f"sent more than {MAX_ANSWER_BYTES // 1024 // 1024} MB")
                yield chunk

        def close(self) -> None:
            self._inner.close()

    def bound(response: Any) -> None:
        if 300 <= response.status_code < 400:
            raise _Refused("wants to redirect to another address, which is refused")
        response.stream = Bounded(response.stream)

    return bound


def _retry_after(headers: Any) -> float | None:
    """Seconds that the provider wants to wait; it may say so as a number or as a date."""
    from email.utils import parsedate_to_datetime

    said = str(headers.get("retry-after") or "").strip()
    try:
        return max(0.0, min(float(said), 86_400.0))
    except ValueError:
        pass
    try:
        return max(0.0, min(parsedate_to_datetime(said).timestamp() - time.time(), 86_400.0))
    except (ValueError, TypeError, OverflowError):
        return None


def _wait(seconds: float, stop: Stop) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        stop()
        time.sleep(min(_POLL_SECONDS, left))
    stop()


def _is_out_of_quota(answer: _Answer) -> bool:
    return answer.status == 429 and b"insufficient_quota" in answer.body


def _error(endpoint: Endpoint, answer: _Answer) -> LlmUpstream | RateLimited:
    who = f"the language model at {endpoint.host}"
    if answer.status == 429:
        after = _RATE_PAUSE if answer.retry_after is None else answer.retry_after
        hint = (
            "the account has no quota left"
            if _is_out_of_quota(answer)
            else f"try again in {max(1, round(after))} seconds"
        )
        return RateLimited(f"{who} takes no more calls for now", retry_after=after, hint=hint)
    if answer.status in {401, 403}:
        return LlmUpstream(
            f"{who} refused the key ({answer.status})", hint="`context llm check` shows where it is from"
        )
    if answer.status == 404:
        return LlmUpstream(
            f"{who} does not know the address or the model {endpoint.model!r}", hint="see `llm.base_url`, `llm.model`"
        )
    if answer.status:
        return LlmUpstream(f"{who} failed with status {answer.status}", hint="try again later, or without a model")
    return LlmUpstream(f"{who} {answer.why}", hint="`context llm check --send` tries it")


def _reply(body: bytes, max_tokens: int) -> Reply:
    unreadable = LlmUpstream("the language model gave an answer that cannot be read", hint="is it a chat endpoint?")
    try:
        answer = json.loads(body)
        message = answer["choices"][0]["message"]
        content = message.get("content")
        usage = answer.get("usage")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise unreadable from None
    if isinstance(content, list):  # some servers give parts
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise unreadable
    text = _without_thoughts(content)[: _CHARS_A_TOKEN * max_tokens].strip()
    if not text:
        raise LlmUpstream("the language model gave an empty answer", hint="raise `max_tokens`, or try again")
    counts = usage if isinstance(usage, dict) else {}
    return Reply(text, _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def _without_thoughts(content: str) -> str:
    """Models that think aloud put their thoughts first, between two marks."""
    head, mark, tail = content.partition("</think>")
    return tail if mark and head.lstrip().startswith("<think>") else content


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None
