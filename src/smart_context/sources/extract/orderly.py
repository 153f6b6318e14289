"""Read a page whose tags nest correctly without an HTML parser, which would build a tree and serialize it again.

In: the markup of a page.  Out: the metadata of its head, and its body as `flow` reads it; None for a page that needs the parser.
Always: the result is that of the parser's tree. Most pages are written by programs, with correct nesting; without the compiled module, the parser reads them all.
"""

from __future__ import annotations

from html.entities import html5

from smart_context.sources.extract import tame

try:
    from smart_context.sources.extract import _orderly as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the parser gives the same


def parts(markup: str) -> tuple[list[tuple[str, str]], str] | None:
    """The metadata of the head, as pairs of name ("" for the title) and text, both as the parser would serialize them; and the body."""
    found = compiled.parts(markup, html5) if compiled else None
    if found is None:
        return None
    head, body, is_tame = found
    return (head, body) if is_tame or tame.tamed(markup) == markup else None
