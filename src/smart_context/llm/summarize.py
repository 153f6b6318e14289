"""Summarize snippets for a query: by the configured model, or offline.

In: a query and snippets, in the order of their relevance.  Out: a `Summary` that names its sources.
Always: what is sent is redacted and cut here, whatever the caller passed; what comes back is checked and redacted too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smart_context import defaults, plain
from smart_context.errors import BadRequest
from smart_context.llm import compose, extractive, joined, prompt, provider, sanitize
from smart_context.llm.model import Sample, Snippet, Summary
from smart_context.model import Stop
from smart_context.redact import Redactor
from smart_context.settings.tables import LlmSettings

__all__ = ["Snippet", "Summary", "results"]

DEFAULT_TOKENS, MAX_TOKENS = 400, 4000
_MAX_SNIPPETS = 100


def results(
    query: str,
    snippets: Sequence[Snippet],
    style: str = defaults.STYLE,
    max_tokens: int | None = None,
    *,
    settings: LlmSettings,
    redactor: Redactor,
    data_dir: Path,
    stop: Stop,
    sample: Sample | None = None,
) -> Summary:
    """Summarize what the snippets say about the query.

    sample: asks the client's own model, where the client offers it. It is used if the provider is `sampling`.
    Raises: BadRequest, LlmUpstream, RateLimited.
    """
    _check(query, snippets, style, max_tokens)
    # Nothing below sees more than this: the last snippets of a long list are the least relevant.
    kept = snippets[:_MAX_SNIPPETS]
    most = min(max_tokens or DEFAULT_TOKENS, MAX_TOKENS)
    if provider.is_there(settings, sample):
        asked = prompt.summary(query, kept, style, redactor)
        told = provider.ask(
            asked, most, settings=settings, data_dir=data_dir, redactor=redactor, stop=stop, sample=sample
        )
        named = kept[: len(prompt.sent(kept, redactor))]
        text = sanitize.summary(told.text, len(named), redactor.clean) + (compose.CUT if told.is_cut else "")
        return Summary(compose.with_sources(text, named), told.prompt_tokens, told.completion_tokens)
    stop()
    texts = joined.clean([one.text for one in kept], redactor)
    clean = [
        Snippet(one.path, text[: prompt.MAX_SNIPPET_CHARS], one.pointer) for one, text in zip(kept, texts, strict=True)
    ]
    picked = extractive.pick(query, clean)
    if not picked:
        return Summary(compose.no_answer([redactor.clean(word) for word in extractive.absent(query, clean)], most))
    return Summary(compose.extract(picked, clean, style, most))


def _check(query: str, snippets: Sequence[Snippet], style: str, max_tokens: int | None) -> None:
    if not query.strip():
        raise BadRequest("the query is empty", hint="say what the summary should answer")
    if not snippets:
        raise BadRequest("`results` is empty", hint="pass items of `searchFiles`, each with path and snippet")
    if style not in defaults.STYLES:
        raise BadRequest(f"`style` must be one of {', '.join(defaults.STYLES)}", hint=f"it is {plain.quoted(style)}")
    if max_tokens is not None and max_tokens < 1:
        raise BadRequest(
            "`max_tokens` must be at least 1", hint=f"the default is {DEFAULT_TOKENS}, the most {MAX_TOKENS}"
        )
