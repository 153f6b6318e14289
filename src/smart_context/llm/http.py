"""Make one request to a chat endpoint.

In: an endpoint and a body.  Out: an `Answer`: a status and a body, or why there is none.
Always: only one host is contacted, redirects are refused; the body is bounded; nothing of the environment is sent; the key is in no
message.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smart_context.errors import ConfigError
from smart_context.llm.endpoint import Endpoint

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES = 4 * 1024 * 1024
_MAX_REFUSAL_BYTES = 10_000
_MAX_CLIENTS = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status with the headers that matter and the body, or why nothing did."""

    status: int = 0
    body: bytes = b""
    retry_after: float | None = None
    why: str = ""
    may_pass: bool = False


def post(endpoint: Endpoint, body: Mapping[str, Any], deadline: float) -> Answer:
    """Send the body and read the answer; each wait ends with the deadline."""
    import httpx2

    try:
        with clients.get(endpoint).stream(
            "POST", f"{endpoint.base_url}/chat/completions", json=body, timeout=max(0.1, deadline - time.monotonic())
        ) as response:
            return _read(response)
    except httpx2.TimeoutException:
        return Answer(why=f"did not answer within {endpoint.timeout:g} seconds", may_pass=True)
    except (httpx2.ConnectError, httpx2.ProxyError):
        return Answer(why="could not be reached", may_pass=True)
    except httpx2.TransportError:
        return Answer(why="broke off its answer", may_pass=True)
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, ValueError):
        return Answer(why="gave an answer that cannot be read")


def _read(response: httpx2.Response) -> Answer:
    if 300 <= response.status_code < 400:
        return Answer(why="wants to redirect to another address, which is refused")
    is_good = response.status_code == 200
    most = MAX_ANSWER_BYTES if is_good else _MAX_REFUSAL_BYTES
    taken = bytearray()
    for chunk in response.iter_raw():
        taken += chunk
        if len(taken) > most and is_good:
            return Answer(why=f"sent more than {most // 1024 // 1024} MB")
        if len(taken) > most:
            break
    return Answer(response.status_code, bytes(taken[:most]), _retry_after(response.headers.get("retry-after", "")))


def _retry_after(said: str) -> float | None:
    """Seconds that the provider wants to wait; it may say so as a number or as a date."""
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, min(float(said), 86_400.0))
    except ValueError:
        pass
    try:
        return max(0.0, min(parsedate_to_datetime(said).timestamp() - time.time(), 86_400.0))
    except (ValueError, TypeError, OverflowError):
        return None


class Clients:
    """One cached client per endpoint, because creating one takes longer than a request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[Endpoint, httpx2.Client] = {}

    def get(self, endpoint: Endpoint) -> httpx2.Client:
        """The client of an endpoint.

        Raises: ConfigError for a proxy that is no address.
        """
        with self._lock:
            if endpoint not in self._made:
                while len(self._made) >= _MAX_CLIENTS:
                    self._made.pop(next(iter(self._made))).close()
                self._made[endpoint] = _client(endpoint)
            return self._made[endpoint]

    def drop(self, endpoint: Endpoint) -> None:
        """Close the connections of an endpoint, also those in use."""
        with self._lock:
            client = self._made.pop(endpoint, None)
        if client is not None:
            client.close()


clients = Clients()


def _client(endpoint: Endpoint) -> httpx2.Client:
    import httpx2

    # Not compressed: a few bytes on the wire could be many in memory.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "smart-context"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    try:
        return httpx2.Client(
            headers=headers,
            follow_redirects=False,
            trust_env=False,  # proxies as configured, and no others
            proxy=endpoint.proxy or None,
        )
    except (ValueError, httpx2.InvalidURL):
        raise ConfigError("`llm.proxy` is not an address", hint="for example http://proxy.example.org:3128") from None
