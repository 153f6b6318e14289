"""Read what a chat endpoint answered.

In: the body of an answer, or of a refusal.  Out: a `Reply`, or the provider's own words on why there is none.
Always: the text is no longer than what was asked for; an answer that was declined or cut off says so.
"""

from __future__ import annotations

import json
from typing import Any

from smart_context.errors import LlmUpstream
from smart_context.llm.model import Reply

_CHARS_A_TOKEN = 12  # no tokenizer has more on average; what is longer did not keep to max_tokens
_MAX_REASON = 300
_FILTERED = "its content filter stopped the answer"


def read(body: bytes, max_tokens: int) -> Reply:
    """Read a good answer.

    Raises: LlmUpstream for what is none.
    """
    unreadable = LlmUpstream("the language model gave an answer that cannot be read", hint="is it a chat endpoint?")
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
        ended, usage = choice.get("finish_reason"), answer.get("usage")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise unreadable from None
    counts = usage if isinstance(usage, dict) else {}
    used = _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))
    if ended == "content_filter":
        return Reply("", *used, declined=_FILTERED)
    if isinstance(refusal, str) and refusal.strip():
        return Reply("", *used, declined=_line(refusal))
    if isinstance(content, list):  # some servers give parts
        parts = [part for part in content if isinstance(part, dict)]
        if said := [str(part["refusal"]) for part in parts if part.get("type") == "refusal" and part.get("refusal")]:
            return Reply("", *used, declined=_line(" ".join(said)))
        content = "".join(str(part.get("text", "")) for part in parts)
    if not isinstance(content, str):
        raise unreadable
    text = _without_thoughts(content)
    most = _CHARS_A_TOKEN * max_tokens
    is_cut = ended == "length" or len(text) > most
    if not text.strip():
        why = f"it had used up {max_tokens} tokens before it said anything" if is_cut else None
        raise LlmUpstream(
            "the language model gave an empty answer", reason=why, hint="raise `max_tokens`, or try again"
        )
    return Reply(text[:most].strip(), *used, is_cut=is_cut)


def reason(body: bytes, key: str) -> str:
    """Give the provider's own words on a failure, on one line, without the key; "" where it has none."""
    try:
        told: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail", "title"):  # one inside the other, as providers do
        if isinstance(told, dict) and name in told:
            told = told[name]
    if not isinstance(told, str):
        return ""
    return _line(told.replace(key, "[key]") if key else told)


def _line(text: str) -> str:
    """A message of another program, as part of a line of ours."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= _MAX_REASON else plain[:_MAX_REASON].rstrip() + "…"


def _without_thoughts(content: str) -> str:
    """Models that think aloud put their thoughts first, between two marks."""
    head, mark, tail = content.partition("</think>")
    if not mark and content.lstrip().startswith("<think>"):
        return ""  # cut off while still thinking
    return tail if mark and head.lstrip().startswith("<think>") else content


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None
