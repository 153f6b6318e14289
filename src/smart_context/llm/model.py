"""Frozen data of summaries and rewriting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a model."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer; the counts are None where nobody counted.

    is_cut: it reached its limit of tokens and goes no further. declined: why there is no answer, in the provider's words.
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    is_cut: bool = False
    declined: str = ""


Sample = Callable[[Sequence[Message], int], Reply]
"""Ask the client's own model: messages, and the most tokens of the answer. Raises ContextError when it cannot."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a file's text, and where it is from."""

    path: str
    text: str
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary with its sources, and the tokens that a model used for it: none offline."""

    summary: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question as a query with filters, and how it came about."""

    fts: str
    exts: tuple[str, ...]
    years: tuple[str, ...]
    notes: str
