"""Find e-mail addresses: plain, in any script, quoted, written out ("name [at] host [dot] org"), or broken over lines.

In: folded text.  Always: work starts at an "@" or what stands for it, and goes a bounded way to both sides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from smart_context import later
from smart_context.redact import stems

_LOCAL_MAX, _DOMAIN_MAX = 128, 255
_SIGNS = ("@", "%40", "&commat;")
# How "at" in brackets ends, and how the brackets open.
_WRITTEN_SIGNS = (
    *(word + closer for word in ("at", "ät", "a", "@", "arroba") for closer in "])}"),
    *("at ]", "at )", "at }", "at>", "at >"),
)
_OPENERS = ("[", "(", "{", "<")
_WRITTEN = later.pattern(
    r"(?<![\w.])(?P<local>[\w.+'\-]{1,64}+)[ ]{0,2}(?:[\[({<][ ]?(?:at|ät|a|@|arroba)[ ]?[\])}>]|(?P<bare>[ ]at[ ]))[ ]{0,2}"
    r"(?P<domain>\w[\w\-]{0,62}+(?:(?:[ ]{0,2}[\[({<][ ]?(?:dot|punkt|punto|point|\.)[ ]?[\])}>][ ]{0,2}|(?P<dot>[ ]dot[ ])|\.)\w[\w\-]{0,62}+){1,5})"
)
_BRACKETED = later.pattern(r"[\[({<][ ]?(?:at|ät|a|@|arroba)[ ]?[\])}>]")
_FAR = 1024  # characters after an "at": more than two domains have
_DOMAIN_GAP = later.pattern(r"[ \t]{0,4}\r?\n[ \t>|*#]{0,20}")
_LABELS = re.compile(r"\w[\w\-]{0,62}+(?:\.\w[\w\-]{0,62}+){0,8}+")
_LITERAL = later.pattern(r"\[(?:IPv6:[0-9A-Fa-f:.]{2,45}|\d{1,3}(?:\.\d{1,3}){3})\]")
_QUOTED = later.pattern(r'"[^"\n]{1,64}"$')
_FILES = frozenset(
    """
    png jpg jpeg gif svg webp ico bmp tiff css scss js mjs ts tsx jsx py json yml yaml md txt pdf zip gz
    """.split()  # noqa: SIM905
)
_COMMON = frozenset(
    """
    com org net edu gov mil int io ai app dev info biz eu uk de fr es it nl be ch at se no dk fi pl cz ru us
    ca mx br ar in cn jp kr au nz za
    """.split()  # noqa: SIM905
)
_WIDE = later.pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


def find(text: str, low: str, seen: stems.Seen) -> Iterator[tuple[int, int]]:
    """Yield where e-mail addresses stand. seen: the signs that the text holds."""
    for sign in _SIGNS:
        if sign in seen:
            told = seen[sign] if sign == "@" else None  # others are told of in capitals as well
            for at in _places(text, sign) if told is None else told:
                span = _around(text, at, at + len(sign))
                if span is not None:
                    yield span
    signs = [sign for sign in _WRITTEN_SIGNS if sign in seen]
    for sign in (*signs, " at ") if " dot " in seen else signs:
        yield from _written(low, sign, seen.get(sign))


def _written(low: str, sign: str, places: Sequence[int] | None) -> Iterator[tuple[int, int]]:
    """Addresses that are written out, with this sign for "at"."""
    done = 0
    is_bare = sign == " at "
    # Plain words are an address only with a "dot" near; without any bracket around an "at", nothing else can be found beside them.
    needs_dot = is_bare and _BRACKETED.search(low) is None
    for at in _places(low, sign) if places is None else places:
        if at < done:
            continue
        if needs_dot and low.find(" dot ", max(0, at - _LOCAL_MAX), at + _FAR) < 0:
            continue
        if not is_bare and low[at - 1 : at] not in _OPENERS and low[at - 2 : at - 1] not in _OPENERS:
            continue
        for match in _WRITTEN.finditer(low, max(done, at - _LOCAL_MAX), at + _DOMAIN_MAX + 32):
            if match.start() > at:
                break
            done = match.end()
            # Two plain words, "at" and "dot", are an address only together: "look at example.com" is not one.
            if not match["bare"] or match["dot"]:
                yield match.span()


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + len(sign))


def _around(text: str, start_of_sign: int, end_of_sign: int) -> tuple[int, int] | None:
    # "return None\n\n@decorator.name": with space beside the sign, only a domain that is surely one counts.
    spaced = text[start_of_sign - 1 : start_of_sign].isspace() or text[end_of_sign : end_of_sign + 1] == " "
    end = _domain_end(text, end_of_sign, spaced=spaced)
    if end is None:
        return None
    start = _local_start(text, start_of_sign)
    if start is None:
        return None
    if start and text[start - 1] in "${}%":
        return None  # a template's variable
    local = text[start:start_of_sign]
    if local == "git" and (text[end : end + 1] == ":" or text[:start].endswith("://")):
        return None  # an account of a code host, the same for everybody
    return start, end


def _domain_end(text: str, start: int, *, spaced: bool) -> int | None:
    literal = _LITERAL.match(text, start)
    if literal:
        return literal.end()
    gap = _DOMAIN_GAP.match(text, start)
    at = gap.end() if gap else start + (text[start : start + 1] == " ")
    labels = _LABELS.match(text, at, at + _DOMAIN_MAX)
    if labels is None:
        return None
    wide = not labels[0].isascii() and bool(_WIDE.match(labels[0]))
    end = _narrow_end(text, at, labels.end(), wide=wide)
    end = _over_lines(text, at, end)
    domain = re.sub(r"-?\s+[>|*#]*\s*", "", text[at:end])
    last = domain.rpartition(".")[2].lower()
    if (
        "." not in domain
        or not _is_top(last)
        or re.match(r"\d+x\.", domain)
        or (last in _FILES and last not in _COMMON)
    ):
        return None
    return None if spaced and last not in _COMMON else end


def _narrow_end(text: str, start: int, end: int, *, wide: bool) -> int:
    """Text in a script without spaces follows an address directly; it is not part of it."""
    if not wide and not text[start:end].isascii():
        stop = _WIDE.search(text, start, end)
        if stop and text[stop.start() - 1] != ".":
            return stop.start()
    return end


def _over_lines(text: str, start: int, end: int) -> int:
    """Follow a domain that a line break cuts: after a dot or hyphen, or before any dot came."""
    for _ in range(3):
        dotted = text[end : end + 1] == "."
        gap = _DOMAIN_GAP.match(text, end + dotted)
        if gap is None:
            return end
        more = _LABELS.match(text, gap.end(), gap.end() + _DOMAIN_MAX)
        if more is None:
            return end
        is_first = "." not in text[start:end]
        if not (dotted and more[0].islower()) and not (is_first and "." in more[0]) and text[end - 1] != "-":
            return end
        end = more.end()
    return end


def _is_top(label: str) -> bool:
    return label.startswith("xn--") or (len(label) >= 2 and label.replace("\u0301", "").isalpha())


def _local_start(text: str, end: int) -> int | None:
    quoted = _QUOTED.search(text, max(0, end - 66), end) if text[end - 1 : end] == '"' else None
    if quoted:
        return quoted.start()
    spaced = text[end - 1 : end] == " " or text[end - 1 : end] == "\n"
    at = stop = end - len(text[max(0, end - 8) : end]) + len(text[max(0, end - 8) : end].rstrip()) if spaced else end
    if at <= 0:
        return None
    wide = not text[at - 1].isascii() and bool(_WIDE.match(text[at - 1]))
    while at > 0 and stop - at < _LOCAL_MAX and _is_local(text[at - 1], wide=wide):
        at -= 1
    at = _before_break(text, at)
    while at < stop and text[at] in ".'-&%":
        at += 1
    return at if at < stop else None


def _is_local(c: str, *, wide: bool) -> bool:
    if c.isascii():
        return c.isalnum() or c in "._%+'-&"
    return (wide or not _WIDE.match(c)) and (c.isalnum() or unicodedata.category(c)[0] == "M")


def _before_break(text: str, at: int) -> int:
    """Take in the end of the line before, where it stops inside a local part: at a dot, hyphen, underscore or plus."""
    if "\n" not in text[max(0, at - 17) : at]:
        return at
    before = text[max(0, at - 90) : at]
    match = re.search(r"[A-Za-z0-9._+\-]{0,63}[A-Za-z0-9][._+\-]\r?\n[ \t>|*#]{0,16}$", before)
    return at - len(before) + match.start() if match else at
