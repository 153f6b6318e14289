"""Find tokens that their issuer marks, and strings so mixed that only a machine can have made them.

In: folded text.  Out: where tokens stand.
Always: a mark is looked for in the text only where a long mixed word holds it, or what stands beside a line break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smart_context.redact import glance as glances
from smart_context.redact import issuers, values, wrap

_OPENS = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})$")
_GAP = re.compile(r"[\"']?[ ]{0,2}(?:[,;|\t]|<br[ ]?/?>)[ ]{0,2}[\"']?|[ ]{1,4}")
_DIGIT = re.compile(r"[0-9]")
_MOST_PIECES = 4  # in which spaces cut a token
_LONG_MARK = 6  # characters of a mark that no word begins with
_MIN_PART = 16  # characters of the longest part between underscores, after a mark that names of programs have as well
_MIN_FIRST = 6  # characters of the first one after a mark that names of programs have as well
_BESIDE_DATA, _MAX_INDENT = " \t\r\"'+,;\\#*>|", 40  # what may stand before and after a line of a base64 block
_RUN = re.compile(r"(?<![A-Za-z0-9+/_\-.=])[A-Za-z0-9+/_\-]{32,128}+={0,2}(?![A-Za-z0-9+/_\-=])")
# A checksum, a public key, a certificate, a picture: known by how they begin or by what stands before them.
_PUBLIC = re.compile(r"AAAA[BCE]|MII|iVBOR|R0lGOD|/9j/|[ST]ha\d|sha\d|LS0tLS1CRUdJTiBDRVJU|aHR0c(?:HM6|Dov)")
_PUBLIC_BEFORE = re.compile(
    r"(?:base64,|sha\d{1,3}[:=\-]|ssh-\S{1,30}|https?:\S*|[/\\.@#]|ecdsa\S{0,30})\s?$", re.IGNORECASE
)


def find(text: str, glance: glances.Glance) -> Iterator[tuple[int, int]]:
    """Yield where tokens stand."""
    marks = glance.marks
    marks |= {mark for sign, mark in issuers.SHORT_MARKS.items() if sign in glance.seen}
    if glance.breaks:  # a token that a line break cuts may begin with a short word
        marks |= glances.marks_in("\n".join([text[seam.start : seam.end] for seam in glance.breaks]))
    if marks:
        for mark in marks:
            for marked in issuers.BY_PREFIX.get(mark, ()):
                yield from _marked(text, marked)
        yield from ((start, end) for start, end, _ in _shaped(text, marks, glances.long_words(text, issuers.LONG)))
    for first, last in wrap.regions(glance.breaks):
        yield from _shaped_over_lines(text, first, last)
    yield from _bare(text, glance.bare)


def _shaped(text: str, marks: frozenset[str], long: str) -> Iterator[tuple[int, int, issuers.Shape]]:
    """Tokens of a shape. long: what holds every long word of the text; a form that is not in it need not be looked for in all of the text."""
    for shape in issuers.SHAPED:
        if shape.sign not in marks:
            continue
        before, form = shape.patterns()
        if shape.sign not in issuers.SHORT and not form.search(long):
            continue
        for match in form.finditer(text):
            start, end = match.span()
            if before is not None:
                lead = before.search(text, max(0, start - issuers.REACH), start)
                if lead is None:
                    continue
                start = lead.start() if shape.lead else start
            if shape.sign == issuers.RSA:
                yield start, wrap.follow(text, end, issuers.B64), shape
            elif values.is_random(text[start:end]) and (shape.sign != "00" or values.is_generated(text[start:end])):
                yield start, end, shape


def _shaped_over_lines(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    if last - first < issuers.SHORTEST:
        return
    joined = wrap.joined(text[first:last])
    long = glances.long_words(joined.text, issuers.LONG)
    if not long and not any(sign in joined.text for sign in issuers.SHORT):  # as nearly always
        return
    for start, end, shape in _shaped(joined.text, glances.marks_in(joined.text), long):
        whole = joined.over_break(start, end)
        # Of a shape without a fixed length, a plain word on the next line is no part.
        if whole and shape.sign != issuers.RSA:
            a, b = first + whole[0], first + whole[1]
            if shape.fixed or values.is_random(text[a:b].rsplit(None, 1)[-1]):
                yield a, b


def _marked(text: str, marked: issuers.Marked) -> Iterator[tuple[int, int]]:
    prefix, at = marked.prefix, 0
    anywhere = len(prefix) > 4 and not prefix.isalnum()
    while (start := text.find(prefix, at)) >= 0:
        at = start + len(prefix)
        if (
            not anywhere
            and start
            and _sticks(text[start - 1], marked)
            and not _OPENS.search(text, max(0, start - 3), start)
        ):
            continue
        end, is_token = _end(text, at, marked)
        if is_token:
            yield start, end
        at = max(at, end)


def _sticks(c: str, marked: issuers.Marked) -> bool:
    return c.isascii() and (c.isalnum() or (marked.is_weak and c in "_-"))


def _end(text: str, start: int, marked: issuers.Marked) -> tuple[int, bool]:
    """Where what follows a prefix ends, and whether it is a token."""
    body = marked.body.match(text, start)
    end = body.end() if body else start
    had = end - start
    if had >= 4096:  # the rest of an endless run goes with it
        while more := marked.body.match(text, end):
            end = more.end()
        return end, True
    whole = end
    if marked.whole is None or had < marked.whole:
        missing = None if marked.whole is None else marked.whole - had
        whole = wrap.follow(text, end, marked.body, missing, lacking=marked.least - had)
    if whole == end and had < (marked.whole or marked.least):
        whole = _over_space(text, end, had, marked)
    if whole == end:  # a full stop after a token ends the sentence; only before a line break may it be the token's own
        while whole > start and text[whole - 1] in ".:?":
            whole -= 1
    found = "".join(text[start:whole].split())
    if len(found) < marked.least:
        return whole, False
    if marked.is_weak and "_" in found and max(map(len, found.split("_"))) < _MIN_PART:
        return whole, False
    return whole, marked.may_hold_words or (values.is_random(found) and values.oddness(found) >= marked.oddness)


def _over_space(text: str, end: int, had: int, marked: issuers.Marked) -> int:
    """Where a token really ends that a space cuts, as readers make one of a line break in a heading, or the border of a cell: what follows makes it whole, and looks generated."""
    if marked.whole is None:
        gap = _GAP.match(text, end)
        rest = marked.body.match(text, gap.end()) if gap else None
        is_rest = rest is not None and had + len(rest[0]) >= marked.least and values.is_generated(rest[0])
        return rest.end() if rest and is_rest and _may_begin(text[end - had : end], marked) else end
    at, lacks = end, marked.whole - had
    for _ in range(_MOST_PIECES):
        gap = _GAP.match(text, at)
        rest = marked.body.match(text, gap.end()) if gap else None
        if rest is None or len(rest[0]) > lacks or not (marked.may_hold_words or values.is_random(rest[0])):
            break
        at, lacks = rest.end(), lacks - len(rest[0])
        if not lacks:
            return at if _DIGIT.search(text, end - had, at) else end
    return end


def _may_begin(first: str, marked: issuers.Marked) -> bool:
    """Tell whether what follows a mark may be the first piece of a token: `sk-ab3d` may, `fc-list` may not."""
    if len(marked.prefix) >= _LONG_MARK and not marked.is_weak:
        return True
    return _DIGIT.search(first) is not None and len(first) >= (_MIN_FIRST if marked.is_weak else 1)


def _bare(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Strings of no known issuer: capitals, small letters and digits, mixed as in no name and no number."""
    made = {run[0] for word in words for run in _RUN.finditer(word) if values.is_mixed(run[0])}
    for run in _RUN.finditer(text) if made else ():
        if (
            run[0] in made
            and not _PUBLIC.match(run[0])
            and not _PUBLIC_BEFORE.search(text, max(0, run.start() - 40), run.start())
            and not _in_block(text, *run.span())
        ):
            yield run.span()


def _in_block(text: str, start: int, end: int) -> bool:
    """Whether a line of base64 stands above or below: data, not a token."""
    above = text.rfind("\n", max(0, start - _MAX_INDENT), start)
    if len(text[above + 1 : start].strip(_BESIDE_DATA)) > 1:  # more than the `b` of a string
        above = -1
    below = text.find("\n", end, end + 8)
    return (above >= 0 and _is_data(text[max(0, above - 100) : above].rpartition("\n")[2])) or (
        below >= 0 and _is_data(text[below + 1 : below + 101].partition("\n")[0])
    )


def _is_data(line: str) -> bool:
    bare = line.strip(_BESIDE_DATA)
    return len(bare) >= 24 and " " not in bare and values.is_random(bare)
