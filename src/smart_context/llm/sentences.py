"""Cut text into sentences, in any script.

In: plain text.  Out: its sentences, in order, each on one line.
Always: only white space is lost or changed; a heading and a line of a list or table are sentences of their own.
"""

from __future__ import annotations

import re

_LINE = re.compile(
    r"(?:\r?\n){2,}|\r?\n(?=[ \t]*(?:[-*•‣–|#>]|\d{1,3}[.)]\s|[A-Z][^\n]{0,60}:\s*$))|\t{2,}", re.MULTILINE
)
ROW = re.compile(r"\t|\S \| \S|^\|")
_MARKED = re.compile(r"[ \t]*#{1,6} ")
_MAX_HEADING = 60  # characters; a line of wrapped text is longer
_END = re.compile(r"[。！？｡]+[」』）”\"']*|[.!?…؟।۔]+[\"'”’»)\]]*(?=\s|$)")
_ABBREVIATIONS = frozenset(
    """
    dr mr mrs ms prof st cf al vs etc approx dept est inc ltd co corp jr sr gen col sgt
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun e.g i.e a.m p.m u.s u.k
    bzw ca evtl ggf inkl max min mio mrd str usw vgl z.b d.h u.a s o.g u sog
    m mme mlle av env p.ex sr sra ud sig dott ing
    """.split()  # noqa: SIM905
)
_BEFORE_NUMBERS = frozenset("no nos nr vol pp p fig figs eq sec ch abs art pág núm n".split())  # noqa: SIM905
_LAST_WORD = re.compile(r"(?:^|[\s(\"'“„«\[])([^\s(\"'“„«\[]{1,12})\.$")


def split(text: str) -> list[str]:
    """Return the sentences of a text."""
    found: list[str] = []
    for block in _LINE.split(text):
        for piece in _pieces(block or ""):
            found += _in_block(" ".join(piece.split()))
    return found


def _pieces(block: str) -> list[str]:
    """Part headings and rows of a table from the text that follows them."""
    lines = block.splitlines(keepends=True)
    pieces, flowing = [], ""
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if ROW.search(line) or (not flowing and _is_heading(line.strip(), following)):
            pieces += [flowing, line]
            flowing = ""
        else:
            flowing += line
    return [piece for piece in (*pieces, flowing) if piece and not piece.isspace()]


def _is_heading(line: str, following: str) -> bool:
    if not line or not following.strip():
        return False
    if _MARKED.match(line):
        return True
    starts = line[0].isupper() or line[0].isdigit()
    return starts and len(line) <= _MAX_HEADING and line[-1].isalnum() and following.lstrip()[:1].isupper()


def _in_block(block: str) -> list[str]:
    out: list[str] = []
    start = 0
    for end in _END.finditer(block):
        if not _closes(block, start, end):
            continue
        if sentence := block[start : end.end()].strip():
            out.append(sentence)
        start = end.end()
    if rest := block[start:].strip():
        out.append(rest)
    return out


def _closes(block: str, start: int, end: re.Match[str]) -> bool:
    if end[0][0] != ".":
        # An ellipsis at the edge of a snippet stands for what was cut off, and closes nothing by itself.
        return end[0][0] != "…" or end.start() > start
    following = block[end.end() : end.end() + 2].strip()
    if following and following[0].islower():
        return False
    word = _LAST_WORD.search(block, max(start, end.start() - 14), end.start() + 1)
    if word is None:
        return True
    bare = word[1].lower()
    if bare in _ABBREVIATIONS or (len(bare) == 1 and bare.isalpha()):
        return not following  # an initial, or an abbreviation before a name or number
    if bare in _BEFORE_NUMBERS and following[:1].isdigit():
        return False
    # "am 3. März", "1. Introduction": a number with a dot is an ordinal where a sentence would be very short.
    return not (bare.isdigit() and len(bare) <= 2 and (end.start() - start < 25 or not following[:1].isupper()))
