"""Ask whichever model is configured, within the day's budget.

In: settings and messages.  Out: a `Reply`, its tokens counted.
Always: without a provider nobody is asked; every call is counted before it is made.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from smart_context.errors import LlmUpstream, RateLimited
from smart_context.llm import budget, compose
from smart_context.llm.model import Message, Reply, Sample
from smart_context.model import Stop
from smart_context.redact import Redactor
from smart_context.settings.tables import LlmSettings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Counted:
    """An answer with what it cost. estimated: the provider did not say, and we counted. is_cut: it reached its limit of tokens."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    estimated: bool
    is_cut: bool = False


def name(settings: LlmSettings) -> str:
    """The provider's name in the budget."""
    return "the client" if settings.provider == "sampling" else f"{settings.base_url} {settings.model}"


def is_there(settings: LlmSettings, sample: Sample | None) -> bool:
    """Tell whether there is a model to ask."""
    return settings.provider == "openai" or (settings.provider == "sampling" and sample is not None)


def ask(
    messages: Sequence[Message],
    max_tokens: int,
    *,
    settings: LlmSettings,
    data_dir: Path,
    redactor: Redactor,
    stop: Stop,
    sample: Sample | None = None,
) -> Counted:
    """Ask the configured model.

    Raises: LlmUpstream, RateLimited, ConfigError, StorageFailed, and what `stop` raises.
    """
    who = name(settings)
    budget.enter(data_dir, who, settings.calls_per_day, settings.tokens_per_day, time.time())
    try:
        reply = _asked(messages, max_tokens, settings, redactor, stop, sample)
    except RateLimited:
        raise  # it answered: it is alive
    except LlmUpstream:
        budget.failed(data_dir, who, time.time())
        raise
    counted = _counted(messages, reply)
    budget.spent(data_dir, who, counted.prompt_tokens + counted.completion_tokens, time.time())
    if reply.declined:  # it is alive, and will not answer this
        raise LlmUpstream(
            f"the language model declined to answer: {redactor.clean(reply.declined)}",
            hint="ask in other words, or use the results as they are",
        )
    return counted


def _asked(
    messages: Sequence[Message],
    max_tokens: int,
    settings: LlmSettings,
    redactor: Redactor,
    stop: Stop,
    sample: Sample | None,
) -> Reply:
    if settings.provider == "sampling":
        assert sample is not None
        return sample(messages, max_tokens)
    from smart_context.llm import client, endpoint
    from smart_context.settings import config

    place = endpoint.of(settings, config.api_key(settings))
    return client.ask(place, messages, max_tokens, stop=stop, clean=redactor.clean)


def _counted(messages: Sequence[Message], reply: Reply) -> Counted:
    estimated = reply.prompt_tokens is None or reply.completion_tokens is None
    prompt = sum(compose.tokens(message.content) for message in messages)
    counted = Counted(
        reply.text,
        prompt if reply.prompt_tokens is None else reply.prompt_tokens,
        compose.tokens(reply.text) if reply.completion_tokens is None else reply.completion_tokens,
        estimated,
        reply.is_cut,
    )
    _log.info(
        "language model: %d tokens asked, %d answered%s",
        counted.prompt_tokens,
        counted.completion_tokens,
        " (an estimate)" if estimated else "",
    )
    return counted
