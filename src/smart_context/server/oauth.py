"""Access tokens of an issuer: this server as an OAuth resource server (RFC 9728, and RFC 9068's checks).

In: the settings of `[oauth]`; a token as it came with a request.  Out: the caller and how long the token holds, or a refusal that tells a client where to get one.
Always: a token counts only if the configured issuer signed it for this server by a listed algorithm, and its time is now; nobody is let in because something
cannot be checked. Without the setting nothing of this is loaded.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import jwt

from smart_context.access.claims import Claims, Rules, values
from smart_context.access.tokens import TokenStore
from smart_context.data import replace
from smart_context.errors import ConfigError, ContextError
from smart_context.server.gate import Accepted, Refusal, is_loopback
from smart_context.server.oauth_keys import LEEWAY, IssuerAway, Keys
from smart_context.settings.tables import OauthSettings

METADATA = "/.well-known/oauth-protected-resource"
_LONGEST = 16 * 1024  # bytes of a token
_MOST_TICKETS = 10_000
_INVALID = "invalid_token"


class Issuer:
    """The issuer that a configuration names."""

    def __init__(
        self,
        settings: OauthSettings,
        keys: Keys | None = None,
        shared: TokenStore | None = None,
    ) -> None:
        """shared: where a record that machines share decides itself what a caller sees.

        Raises: ConfigError.
        """
        _check(settings)
        self._settings = settings
        self._keys = keys or Keys(settings)
        self._rules = Rules(settings)
        self._shared = shared
        self._tickets: OrderedDict[tuple[tuple[str, ...], float], str] = OrderedDict()
        self._audience = settings.audience or settings.resource
        parts = urlsplit(settings.resource)
        self.host = parts.hostname or ""
        path = parts.path.rstrip("/")
        self.paths = frozenset({METADATA, METADATA + path})
        self._address = f"{parts.scheme}://{parts.netloc}{METADATA}{path}"

    def metadata(self) -> bytes:
        """The metadata for clients about the issuer of tokens."""
        said: dict[str, object] = {
            "resource": self._settings.resource,
            "authorization_servers": [self._settings.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Smart Context",
        }
        if self._settings.scopes:
            said["scopes_supported"] = list(self._settings.scopes)
        return json.dumps(said).encode() + b"\n"

    def refusal(self, status: int, why: str, error: str = "") -> Refusal:
        """A refusal with what a client needs to ask for a token."""
        parts = [f'resource_metadata="{self._address}"']
        if error:
            parts += [f'error="{error}"', f'error_description="{why.replace(chr(34), chr(39))}"']
        if self._settings.scopes:
            parts.append(f'scope="{" ".join(self._settings.scopes)}"')
        return Refusal(status, why, f"Bearer {', '.join(parts)}")

    async def caller(self, given: bytes) -> Accepted | Refusal:
        """Who has this token."""
        try:
            claims = await self._checked(given)
        except IssuerAway as error:
            return Refusal(503, f"the issuer {self._settings.issuer} cannot be asked for its keys: {error}")
        if isinstance(claims, str):
            return self.refusal(401, claims, _INVALID)
        seconds = claims["exp"] + LEEWAY - time.time()
        missing = [scope for scope in self._settings.scopes if scope not in _scopes(claims)]
        if missing:
            return self.refusal(403, f"this token lacks the scope {' '.join(missing)}", "insufficient_scope")
        found = self._rules.caller(claims)
        if isinstance(found, str):
            return Refusal(403, found)
        try:
            key = await self._ticket(self._rules.fulfilled(claims), claims["exp"] + LEEWAY)
        except ContextError as error:
            return Refusal(503, error.in_one_line)
        if key is None:
            return Refusal(
                403,
                "no rule of the shared record names this token; `context engine init` keeps those of oauth.roots there",
            )
        return Accepted(replace(found, key=key), seconds)

    async def _ticket(self, fulfilled: tuple[str, ...], ends: float) -> str | None:
        """The caller's ticket for a shared record; asked for once per token, so that known tokens work while the database is away."""
        if self._shared is None:
            return ""
        known = self._tickets.get((fulfilled, ends))
        if known is not None:
            return known
        found = await anyio.to_thread.run_sync(self._shared.ticket, fulfilled, ends)
        if found is not None:
            self._tickets[fulfilled, ends] = found
            while len(self._tickets) > _MOST_TICKETS:
                self._tickets.popitem(last=False)
        return found

    async def _checked(self, given: bytes) -> Claims | str:
        """The claims of a token that counts, or why it does not."""
        try:
            header = jwt.get_unverified_header(given) if len(given) <= _LONGEST else {}
        except (jwt.PyJWTError, ValueError, RecursionError):
            header = {}
        algorithm, name = header.get("alg"), header.get("kid")
        if not header or "crit" in header:
            return "this is no access token that can be read"
        if algorithm not in self._settings.algorithms:
            return "this token is signed by an algorithm that is not accepted"
        if not isinstance(name, str):
            return "this token does not say which key signed it"
        key = await self._keys.find(name, str(algorithm))
        if key is None:
            return "this token is signed with a key that its issuer does not publish"
        try:
            claims = jwt.decode(given, key, [str(algorithm)], options=_OPTIONS)
        except (jwt.PyJWTError, ValueError, RecursionError):
            return "the signature of this token is wrong"
        return self._flaw(claims) or claims

    def _flaw(self, claims: Claims) -> str:
        now = time.time()
        ends, begins, issued = claims.get("exp"), claims.get("nbf", 0), claims.get("iat", 0)
        if claims.get("iss") != self._settings.issuer:
            return "this token is of another issuer"
        if self._audience not in values(claims, "aud"):
            return "this token is for another server"
        if not _is_number(ends) or not _is_number(begins) or not _is_number(issued):
            return "this token does not say until when it holds"
        if now >= ends + LEEWAY:
            return "this token has ended; ask for a new one"
        if issued > now + LEEWAY:
            return (
                f"this token was issued {issued - now:,.0f} seconds from now: the clock here or the issuer's is wrong"
            )
        return "this token does not hold yet" if now < begins - LEEWAY else ""


# The times are compared here, with the clock that we are given; the rest of the claims, too.
_OPTIONS: Any = {
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def _scopes(claims: Claims) -> list[str]:
    """The scopes of a token: words in one string (`scope`), or a list (`scp`)."""
    return [word for name in ("scope", "scp") for text in values(claims, name) for word in text.split()]


def _check(settings: OauthSettings) -> None:
    if not settings.resource:
        raise ConfigError(
            "oauth.issuer needs oauth.resource", hint='the address for clients: "https://search.example.org/mcp"'
        )
    if not settings.algorithms:
        raise ConfigError("oauth.algorithms must name at least one")
    for name in ("issuer", "resource", "jwks_url"):
        text: str = getattr(settings, name)
        try:
            parts = urlsplit(text)
            is_fine = parts.scheme == "https" or is_loopback(parts.hostname or "")
            is_fine = is_fine and bool(parts.hostname) and not (parts.query or parts.fragment or parts.username)
        except ValueError:
            is_fine = False
        if text and (not is_fine or '"' in text):
            raise ConfigError(f"oauth.{name} is no address of a server: {text}", hint="it begins with https://")
