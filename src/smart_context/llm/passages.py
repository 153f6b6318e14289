"""Tell what kind of text a sentence of a snippet is: a statement, a heading, or a piece of a table.

In: a snippet.  Out: its `Piece`s in order.
Always: a heading is parted from the sentence after it where the pointer names it or the text marks it; snippets of search have no
line breaks, so that nothing else can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from smart_context.llm import sentences
from smart_context.llm.model import Snippet

Kind = Literal["statement", "heading", "table"]

_SECTION = re.compile(r"section '((?:[^']|'')*)'")
_MARK = re.compile(r"(?:(?<=\s)|^)#{1,6}\s+(?=\S)")
_ENDS = re.compile(r"[.!?…。！？؟।:;][\"'”’»)\]]*$")
_CELLS = re.compile(r"\t|\S,(?=[^\s\d])|\S;(?=\S)|\s\|(?=\s|$)")
_ITEM = re.compile(r"(?:[-*•‣–>]|\d{1,3}[.)])\s")
_TITLE_WORDS = 10
_FEWEST_CELLS = 3
_TABLE_WORDS = 16  # of a table, that a summary shows


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence and its kind."""

    text: str
    kind: Kind


def read(snippet: Snippet) -> Iterator[Piece]:
    """Give the pieces of a snippet."""
    heading, text = _parted(snippet)
    if heading:
        yield Piece(heading, "heading")
    for number, part in enumerate(_MARK.split(text)):
        head, rest = _after_mark(part) if number else ("", part)
        if head:
            yield Piece(head, "heading")
        found = sentences.split(rest)
        rows = {" ".join(line.split()) for line in rest.splitlines() if sentences.ROW.search(line)}
        for place, sentence in enumerate(found):
            kind: Kind = "table" if sentence in rows else _kind(sentence, is_last=place + 1 == len(found))
            yield Piece(sentence, kind)


def _parted(snippet: Snippet) -> tuple[str, str]:
    """Part the heading that the pointer names from the text that begins with it."""
    named = _SECTION.findall(snippet.pointer)
    name = " ".join(named[-1].replace("''", "'").split()) if named else ""
    text = snippet.text.lstrip("#… ") if name else snippet.text
    return (name, text[len(name) :].lstrip()) if name and text.startswith(name) else ("", snippet.text)


def _after_mark(text: str) -> tuple[str, str]:
    """Part a marked heading from what follows: at its line's end, or where a new sentence seems to begin."""
    line, newline, rest = text.partition("\n")
    if newline:
        return line.strip(), rest
    words = text.split()
    for at in range(1, min(len(words), _TITLE_WORDS)):
        if _ENDS.search(words[at - 1]):
            break
        if words[at][:1].isupper() and (at == 1 or words[at - 1][:1].islower()) and words[at + 1 : at + 2]:
            return " ".join(words[:at]), " ".join(words[at:])
    return "", text


def _kind(sentence: str, *, is_last: bool) -> Kind:
    words = sentence.split()
    if len(_CELLS.findall(sentence)) >= _FEWEST_CELLS:
        return "table"
    if _ENDS.search(sentence) or _ITEM.match(sentence):
        return "statement"
    bare = [word for word in words if not word[:1].islower()]
    numbers = sum(any(c.isdigit() for c in word) for word in words)
    if len(words) >= 2 * _FEWEST_CELLS and numbers >= 2 and len(bare) == len(words) and sentence.isascii():
        return "table"
    is_title = len(words) <= _TITLE_WORDS and not numbers and not is_last and len(words) > 0
    return "heading" if is_title and sentence[:1].isupper() else "statement"


def clipped(text: str, hits: frozenset[str]) -> str:
    """The part of a table around the first of the words that were asked for; `hits` in lower case."""
    words = text.split()
    if len(words) <= _TABLE_WORDS:
        return text
    at = next((place for place, word in enumerate(words) if any(hit in word.lower() for hit in hits)), 0)
    start = max(0, min(at - _TABLE_WORDS // 4, len(words) - _TABLE_WORDS))
    end = start + _TABLE_WORDS
    return ("… " if start else "") + " ".join(words[start:end]) + (" …" if end < len(words) else "")
