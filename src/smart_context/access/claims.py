"""What the claims of an access token let its bearer see.

In: rules of the settings, `claim=value:folder`; the claims of a token that was checked.  Out: the `Caller`.
Always: a token that no rule names sees nothing; a claim of another shape than text, or a list of texts, matches no rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from smart_context.access.tokens import ClaimRule
from smart_context.data import dataclass
from smart_context.errors import ConfigError
from smart_context.model import Caller
from smart_context.settings.tables import OauthSettings

EVERYTHING = "*"
_ROOT = re.compile(r"(?P<claim>[^=]+)=(?P<value>.+):(?P<folder>/.*|\*)", re.DOTALL)
_ADMIN = re.compile(r"(?P<claim>[^=]+)=(?P<value>.+)", re.DOTALL)
_PREFIX = "oauth:"  # no token of ours has such a name
_LONGEST = 128

Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Rule:
    claim: str
    value: str
    folder: str = ""

    @property
    def asked(self) -> str:
        return f"{self.claim}={self.value}"

    def holds(self, claims: Claims) -> bool:
        return self.value in values(claims, self.claim)


class Rules:
    """The rules of a configuration."""

    def __init__(self, settings: OauthSettings) -> None:
        """Raises: ConfigError for what is no rule."""
        self._name = settings.name_claim
        self._roots = [_rule(text, _ROOT, "oauth.roots", "groups=sales:/srv/share/sales") for text in settings.roots]
        self._admins = [_rule(text, _ADMIN, "oauth.admins", "groups=operators") for text in settings.admins]

    def caller(self, claims: Claims) -> Caller | str:
        """The caller of a token with what it may see, or why the token is refused."""
        name = claims.get(self._name)
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST or not name.isprintable():
            return f"this token names nobody in `{self._name}`"
        folders = {rule.folder for rule in self._roots if rule.holds(claims)}
        if not folders:
            return "this token gives access to no folder here"
        roots = None if EVERYTHING in folders else tuple(sorted(os.path.normpath(folder) for folder in folders))
        return Caller(_PREFIX + name, roots, any(rule.holds(claims) for rule in self._admins))

    def fulfilled(self, claims: Claims) -> tuple[str, ...]:
        """The folder rules that a token fulfils, as a shared record stores them."""
        return tuple(sorted({rule.asked for rule in self._roots if rule.holds(claims)}))

    def kept(self) -> list[ClaimRule]:
        """The folder rules, as a shared record stores them."""
        return [
            ClaimRule(rule.asked, "" if rule.folder == EVERYTHING else os.path.normpath(rule.folder))
            for rule in self._roots
        ]


def values(claims: Claims, name: str) -> list[str]:
    """The values of a claim: by its whole name, or else by a path of names (`realm_access.roles`)."""
    found: Any = claims.get(name)
    if found is None and "." in name:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    if isinstance(found, str):
        return [found]
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _rule(text: str, form: re.Pattern[str], setting: str, example: str) -> _Rule:
    found = form.fullmatch(text)
    if found is None:
        raise ConfigError(f"{setting}: {text!r} is no rule", hint=f'write "{example}"')
    return _Rule(**found.groupdict())
