"""What packing gives: passages, where they stand, and how they were chosen."""

from __future__ import annotations

from smart_context.data import NamedTuple


class Excerpt(NamedTuple):
    """Consecutive passages of one document.

    lines: first and last, from 1.  span: the bytes of the document's content, the end not included.  score: in units of
    1/1000.  tokens: of the excerpt with its heading line, as Markdown.  also: ids of documents that have nearly the same passage.
    """

    id: str
    version: str
    heading: str
    lines: tuple[int, int]
    span: tuple[int, int]
    score: int
    tokens: int
    text: str
    also: tuple[str, ...]


class Packed(NamedTuple):
    """The answer to a question: excerpts, best document first, those of one document together and in the order of its text."""

    excerpts: list[Excerpt]
    cache_version: str
    query: str
    budget: int
    counting: str
    tokens_used: int
    documents_considered: int
    documents_matching: int
