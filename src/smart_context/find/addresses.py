"""Tell the e-mail addresses of a query that stand nowhere.

In: a query in which whole addresses that the index has were replaced by their terms.  Out: notes.
Always: an address is found by its whole value only, so that what is left of one in a query is looked for by its words, which say little of it.
"""

from __future__ import annotations

from collections.abc import Iterator


def nowhere(query: str) -> Iterator[str]:
    """Notes on the addresses of a query that no text has."""
    if "@" not in query:
        return
    from smart_context.redact import gate

    for span in gate.spans(query):
        if span.kind == "email":
            yield f"nothing has the address '{query[span.start : span.end]}'; looked for its words"
