"""Mask what is hidden in a text before it is indexed, so that no part of it can be searched.

In: a text and what is hidden in it; a query.  Out: the text as it may be indexed, and the query in the same terms.
Always: a secret, a card, an account and matches of configured patterns become a break that no phrase crosses. An address or a number becomes one
opaque term that only its whole value finds: it reveals nothing about its parts, and no query can spell it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

from smart_context import later
from smart_context.digest import blake2b
from smart_context.model import Hidden

# Letters of Linear A, an undeciphered script: all of them in an index are ours, because they are removed from texts and queries.
BREAK = "\U00010600"
_WHOLE = "\U00010601"
_LETTERS = [chr(code) for code in range(0x10610, 0x10630)]
_BEGIN = BREAK.encode()[:2]
_OURS = later.pattern("[\U00010600-\U0001077f]+")
_MARK = later.pattern(r"\[redacted:[a-z]{1,16}\]")
_FOUND_WHOLE = frozenset({"email", "phone"})
_DIGEST = 10  # bytes: two letters for each ten bits

_ADDRESS = later.pattern(r"[^\s\"'<>()\[\]]{1,254}@[^\s\"'<>()\[\]]{1,254}")
_NUMBER = later.pattern(r"\+?\(?\d(?:[\s()./-]{0,3}\d){5,24}")
_EDGE = later.pattern(r"^[^\w]+|[^\w]+$")


def masked(text: str, hidden: Hidden) -> str:
    """A text as it may be indexed."""
    if not hidden:
        return _without_ours(text)
    parts: list[str] = []
    at = 0
    for start, end, kind in hidden:
        parts += (_without_ours(text[at:start]), f" {_stand_in(kind, text[start:end])} ")
        at = end
    return "".join((*parts, _without_ours(text[at:])))


def left(text: str, hidden: Hidden) -> str:
    """A text without its hidden parts."""
    parts: list[str] = []
    at = 0
    for start, end, _ in hidden:
        parts += (text[at:start], " … ")
        at = end
    return "".join((*parts, text[at:]))


def head(text: str) -> str:
    """A title or heading, already redacted, as it may be indexed."""
    text = masked(text, ())
    return _MARK.sub(f" {BREAK} ", text) if "[redacted:" in text else text


def term(kind: str, value: str) -> str:
    """The one term of an address or a number."""
    plain = unicodedata.normalize("NFKC", value).lower()
    if kind == "phone":
        digits = "".join(filter(str.isdigit, plain))
        plain = digits.removeprefix("00")
    else:
        plain = _EDGE.sub("", "".join(plain.split()))
    number = int.from_bytes(blake2b(f"{kind}:{plain}".encode("utf-8", "replace"), digest_size=_DIGEST).digest())
    return _WHOLE + "".join(_LETTERS[number >> shift & 31] for shift in range(0, 8 * _DIGEST, 5))


def asked(query: str, having: Callable[[str], int]) -> tuple[str, dict[str, str]]:
    """A query with the whole addresses and numbers in it that the index has as terms; and how each of them was typed."""
    query = query if query.isascii() else _OURS.sub(" ", query)
    typed: dict[str, str] = {}
    parts: list[str] = []
    at = 0
    for start, end, known in _known(query, having):
        typed[known] = query[start:end]
        parts += (query[at:start], known)
        at = end
    return "".join((*parts, query[at:])), typed


def as_typed(line: str, typed: dict[str, str]) -> str:
    """A line for people, with what they typed in the place of our terms."""
    for known, text in typed.items():
        line = line.replace(known, text)
    return _OURS.sub("…", line) if not line.isascii() else line


def _known(query: str, having: Callable[[str], int]) -> Iterator[tuple[int, int, str]]:
    found = [("email", match.span()) for match in _ADDRESS.finditer(query)] if "@" in query else []
    found += [("phone", match.span()) for match in _NUMBER.finditer(query)]
    last = 0
    for kind, (start, end) in sorted(found, key=lambda one: one[1]):
        inner = _EDGE.sub("", query[start:end]) if kind == "email" else query[start:end]
        start += query[start:end].find(inner)  # noqa: PLW2901
        known = term(kind, inner)
        if start >= last and inner and having(known):
            last = start + len(inner)
            yield start, last, known


def _without_ours(text: str) -> str:
    # Searching for their common UTF-8 prefix takes a twentieth of the time of the pattern.
    if text.isascii() or _BEGIN not in text.encode("utf-8", "surrogatepass"):
        return text
    return _OURS.sub(" ", text)


def _stand_in(kind: str, value: str) -> str:
    return term(kind, value) if kind in _FOUND_WHOLE else BREAK
