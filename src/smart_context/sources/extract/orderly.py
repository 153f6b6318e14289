"""Read a page whose tags are in order without a parser, which would make a tree of it and write that down again.

In: the markup of a page.  Out: what its head says, and its body as `flow` reads it; None for a page that only a parser can tell.
Always: what is read so is what the parser's tree gives. Most pages are written by programs, and in order; where this could not be compiled, the parser reads them all.
"""

from __future__ import annotations

from html.entities import html5

from smart_context.sources.extract import tame

try:
    from smart_context.sources.extract import _orderly as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the parser says the same


def parts(markup: str) -> tuple[list[tuple[str, str]], str] | None:
    """What the head says, as the name of a description, "" for the title, and its text, both as the parser would write them; and the body."""
    found = compiled.parts(markup, html5) if compiled else None
    if found is None:
        return None
    head, body, is_tame = found
    return (head, body) if is_tame or tame.tamed(markup) == markup else None
