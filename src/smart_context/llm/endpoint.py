"""Where a model answers: an address that was checked, and the key to it.

Always: the key is in no repr, no message and no log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from smart_context.errors import ConfigError
from smart_context.settings.tables import LlmSettings

OPENAI = "https://api.openai.com/v1"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible chat endpoint."""

    base_url: str
    model: str
    timeout: float
    retries: int
    proxy: str = field(default="", repr=False)  # it may hold a password
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """The host that everything is sent to."""
        return urlsplit(self.base_url).netloc

    @property
    def is_local(self) -> bool:
        """Whether the host is this machine."""
        return (urlsplit(self.base_url).hostname or "") in _LOOPBACK

    @property
    def is_plain(self) -> bool:
        """Whether text and key would travel unencrypted to another machine."""
        return not self.is_local and urlsplit(self.base_url).scheme == "http"


def of(settings: LlmSettings, key: str) -> Endpoint:
    """Check the settings' endpoint.

    Raises: ConfigError.
    """
    url = (settings.base_url or OPENAI).rstrip("/")
    for name, address in (("base_url", url), ("proxy", settings.proxy)):
        # Line breaks would be dropped without a word by some readers of addresses, and end a header for others.
        if any(not 32 < ord(c) < 127 for c in address):
            raise ConfigError(
                f"`llm.{name}` has characters that no address has", hint="look for blanks and line breaks"
            )
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for one that is no number
    except ValueError:
        raise ConfigError("`llm.base_url` is not an address", hint="for example http://localhost:11434/v1") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(
            "`llm.base_url` is not an http or https address", hint="for example http://localhost:11434/v1"
        )
    if parts.username is not None or parts.password is not None:
        raise ConfigError("`llm.base_url` must hold no user or password", hint="set the key by `llm.api_key_env`")
    if not key and url == OPENAI:
        raise ConfigError(
            "no key for the language model",
            hint=f"put it into the environment variable {settings.api_key_env}, or a file named by `llm.api_key_file`",
        )
    # Header values cannot hold these; the transport would say so with the key in its message.
    if any(not 32 < ord(c) < 127 for c in key):
        raise ConfigError(
            "the key for the language model has characters that no key has", hint="look for blanks or quotes"
        )
    return Endpoint(url, settings.model, settings.timeout, settings.retries, settings.proxy, key)
