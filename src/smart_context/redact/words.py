"""The words of a text, each once: what is not among them is not in the text.

In: folded text.  Out: `Words`.
Always: a sign without white space is in the text if and only if it is in the words; there are far fewer of them to look through.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """Every word once, in the order of the text; `text` is all of them, `low` the same in lower case."""

    unique: tuple[str, ...]
    text: str
    low: str


def of(text: str) -> Words:
    """Collect the words of a text."""
    unique = tuple(dict.fromkeys(text.split()))
    joined = "\n".join(unique)
    return Words(unique, joined, joined.lower())
