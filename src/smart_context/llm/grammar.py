"""Check that a query written by a model follows the grammar of the query language.

`find.query` reads anything, because people may type anything. A model is held to the grammar: operators with something on both
sides, brackets and quotation marks in pairs, a star at the end of a word.
"""

from __future__ import annotations

import re

from smart_context.plain import quoted

MAX_CHARS = 1000
_TOKEN = re.compile(r'\s+|(?P<quote>-?"[^"]*")|(?P<open>-?\()|(?P<close>\))|(?P<word>[^\s()"]+)|(?P<stray>")')
_NEAR = re.compile(r"NEAR(?:/[1-9][0-9]?)?")
_WORD = re.compile(r"-?[^\W_][\w.,:'’&/+#@-]*\*?")
_MAX_DEPTH = 12


def problem(text: str) -> str:
    """Say what is wrong with a query, or "" for a good one."""
    if not text.strip():
        return "the query is empty"
    if len(text) > MAX_CHARS:
        return f"the query is longer than {MAX_CHARS} characters"
    tokens = [(token.lastgroup, token[0]) for token in _TOKEN.finditer(text) if token.lastgroup]
    for kind, piece in tokens:
        if kind == "stray":
            return "a quotation mark has no partner"
        if kind == "quote" and not re.search(r"\w", piece):
            return "a phrase is empty"
        if kind == "word" and not _NEAR.fullmatch(piece) and (piece.startswith("NEAR/") or not _WORD.fullmatch(piece)):
            return f"{quoted(piece)} is no word"
    return _structure(tokens)


def _structure(tokens: list[tuple[str, str]]) -> str:
    wants, depth = True, 0  # wants: something to look for must come next
    for kind, piece in tokens:
        if kind == "open":
            wants, depth = True, depth + 1
        elif kind == "close":
            if wants or not depth:
                return "a bracket closes nothing, or an empty group"
            depth -= 1
        elif piece in {"AND", "OR"} or _NEAR.fullmatch(piece):
            if wants:
                return f"the operator {piece} has nothing before it"
            wants = True
        else:
            wants = piece == "NOT"
        if depth > _MAX_DEPTH:
            return "brackets are nested too deep"
    if depth:
        return "a bracket is not closed"
    return "an operator has nothing after it" if wants else ""
