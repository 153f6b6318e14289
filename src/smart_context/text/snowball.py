"""The Snowball stemmers of tantivy: compiled, and installed with it anyway.

In: a language's English name.  Out: a function from words joined by spaces to their stems.
Always: tantivy is loaded when the first stem is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


@cache
def stemmer(name: str) -> Callable[[str], list[str]]:
    """The Snowball stemmer of a language, by its English name: from words joined by spaces to their stems."""
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer(name)).build().analyze
