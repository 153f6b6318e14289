"""The keys that an issuer of access tokens publishes.

In: where the issuer is.  Out: its public key of a name, for one algorithm.
Always: nothing is fetched before a token asks for a key; one fetch at a time, never more often than `FLOOR` however many unknown names are asked
for; redirects, large answers and keys that are not public signature keys are refused. Fetched keys stay valid for a day while the issuer is away.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt

from smart_context import talk
from smart_context.settings.tables import OauthSettings

FLOOR = 30.0  # seconds between two fetches
AGAIN = 5.0  # after one that failed
LEEWAY = 30.0  # seconds that the issuer's clock and ours may differ
_FRESH = 3600.0  # seconds after which keys are fetched again, for those that the issuer took back
_KEPT = 24 * 3600.0  # that they hold while it cannot be reached
_SECONDS = 5.0  # for one fetch
_MOST_BYTES = 256 * 1024
_MOST_KEYS = 100
_LEAST_BITS = 2048
_KINDS = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "EdDSA": "Ed25519"}

Jwk = Mapping[str, Any]


class IssuerAway(Exception):
    """The issuer's keys cannot be fetched; its text says why."""


class Keys:
    """The keys of one issuer."""

    def __init__(self, settings: OauthSettings, now: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._now = now
        self._known: dict[str, Jwk] = {}
        self._ready: dict[tuple[str, str], jwt.PyJWK] = {}
        self._fetched = self._tried = float("-inf")
        self._failure = ""
        self._turn = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None

    async def find(self, name: str, algorithm: str) -> jwt.PyJWK | None:
        """The key of a name, if the issuer publishes one that an algorithm can use.

        Raises: IssuerAway where that cannot be known now.
        """
        age = self._now() - self._fetched
        if name not in self._known or age >= _KEPT:
            await self._fetch()
        elif age >= _FRESH and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._fetch())
        if name in self._known and self._now() - self._fetched < _KEPT:
            return self._key(name, algorithm)
        if self._failure:
            raise IssuerAway(self._failure)
        return None

    def _key(self, name: str, algorithm: str) -> jwt.PyJWK | None:
        found = self._ready.get((name, algorithm))
        if found is None and _fits(self._known[name], algorithm):
            try:
                found = jwt.PyJWK(dict(self._known[name]), algorithm)
            except jwt.PyJWTError:
                return None
            if getattr(found.key, "key_size", _LEAST_BITS) < _LEAST_BITS and found.key_type == "RSA":
                return None
            self._ready[name, algorithm] = found
        return found

    async def _fetch(self) -> None:
        """Fetch the keys, unless that was just done or tried."""
        async with self._turn:
            if self._now() - self._tried < (AGAIN if self._failure else FLOOR):
                return
            try:
                with anyio.fail_after(_SECONDS):
                    self._known = await self._published()
                self._ready, self._failure, self._fetched = {}, "", self._now()
            except (IssuerAway, TimeoutError, OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
                self._failure = str(error) or "it does not answer in time"
                talk.warn(f"no keys from the issuer {self._settings.issuer}: {self._failure}")
            finally:
                self._tried = self._now()

    async def _published(self) -> dict[str, Jwk]:
        async with httpx2.AsyncClient(timeout=_SECONDS, verify=self._trust(), trust_env=False) as http:
            where = self._settings.jwks_url or await self._said(http)
            found = (await _json(http, where)).get("keys")
            if not isinstance(found, list):
                raise IssuerAway(f"{where} is no set of keys")
            named = [key for key in found[:_MOST_KEYS] if isinstance(key, dict) and isinstance(key.get("kid"), str)]
            return {key["kid"]: key for key in named}

    async def _said(self, http: httpx2.AsyncClient) -> str:
        """Where the keys are, as the issuer's metadata say: OpenID Connect's, or else OAuth's own."""
        issuer = self._settings.issuer
        parts = urlsplit(issuer)
        bare = issuer.rstrip("/")
        places = [f"{bare}/.well-known/openid-configuration"]
        path = parts.path.rstrip("/")
        places.append(f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}")
        why = ""
        for place in places:
            try:
                said = await _json(http, place)
            except IssuerAway as error:
                why = why or str(error)
                continue
            if said.get("issuer") != issuer:
                raise IssuerAway(f"{place} is of another issuer")
            where = said.get("jwks_uri")
            if not isinstance(where, str) or not where.startswith((f"{parts.scheme}://", "https://")):
                raise IssuerAway(f"{place} names no place of keys")
            return where
        raise IssuerAway(why)

    def _trust(self) -> ssl.SSLContext:
        ca_file = self._settings.ca_file
        return ssl.create_default_context(cafile=ca_file) if ca_file else httpx2.create_ssl_context()


def _fits(key: Jwk, algorithm: str) -> bool:
    """Whether a published key is one for signatures by an algorithm."""
    return (
        key.get("kty") == _KINDS.get(algorithm[:2])
        and key.get("alg", algorithm) == algorithm
        and key.get("use", "sig") == "sig"
        and key.get("crv", "") == _CURVES.get(algorithm, key.get("crv", ""))
        and "d" not in key
    )


def _compare_clocks(where: str, date: str) -> None:
    """Warn where a server's clock is so far from ours that good tokens are refused: only who runs this server can mend that."""
    try:
        ahead = parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return
    if abs(ahead) > LEEWAY:
        how = "behind" if ahead > 0 else "ahead of"
        talk.warn(
            f"the clock of this machine is {abs(ahead):,.0f} seconds {how} that of {where}; access tokens may be refused for it"
        )


async def _json(http: httpx2.AsyncClient, where: str) -> dict[str, Any]:
    data = b""
    async with http.stream("GET", where, headers={"accept": "application/json"}) as answer:
        _compare_clocks(urlsplit(where).netloc, answer.headers.get("date", ""))
        if answer.status_code != 200:
            raise IssuerAway(f"{where} answers {answer.status_code}")
        async for part in answer.aiter_bytes():
            data += part
            if len(data) > _MOST_BYTES:
                raise IssuerAway(f"{where} answers with more than {_MOST_BYTES:,} bytes")
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise IssuerAway(f"{where} answers with what is no JSON") from error
    if not isinstance(said, dict):
        raise IssuerAway(f"{where} answers with what is no object")
    return said
