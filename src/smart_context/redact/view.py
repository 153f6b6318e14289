"""Text as the detectors read it: folded to plain characters, with a way back to where each stood.

In: the text, and what is hidden already.  Out: a `View`.
Always: what was hidden, now or by an earlier run, is one `MASK` in the view. A second run over cleaned text therefore
sees exactly what the last look of the first run saw, and finds nothing.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from smart_context import later
from smart_context.redact import escapes
from smart_context.redact.escapes import Cut

try:
    from smart_context.redact import _view as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

MASK = "\ufffc"

# Soft hyphens, zero-width and direction marks, variation selectors, fillers, and what else Unicode shows as nothing: invisible on paper, so they split nothing here.
_INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
# Accents, lines and rings that are drawn over the letter before them: names and tokens are read without them.
_DRAWN = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_IS_DRAWN = later.pattern(f"[{_DRAWN}]")
# Where other scripts have their marks, among their letters. Between Latin letters or digits, where no language has them, such marks are there to split something.
_OF_SCRIPTS = "\u0483-\u0489\u0591-\u1aaf\u1b00-\u1dbf\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua6f1\ua802-\uabed\ufb1e\U000101fd-\U00011fff\U00016af0-\U00016f92\U0001bc9d-\U0001bc9e\U0001cf00-\U0001d244\U0001da00-\U0001e94a"
_IS_OF_SCRIPT = later.pattern(f"[{_OF_SCRIPTS}]")
_BETWEEN = later.pattern(rf"(?<=[A-Za-z0-9_\-])[{_OF_SCRIPTS}{_DRAWN}{_INVISIBLE}]{{1,16}}+(?=[A-Za-z0-9_\-])")
_HIDDEN_OR_DRAWN = later.pattern(rf"\[redacted:[a-z]{{1,16}}\]|[{_INVISIBLE}{_DRAWN}]++")
_HIDDEN = later.pattern(rf"\[redacted:[a-z]{{1,16}}\]|[{_INVISIBLE}]++")
_HIDDEN_ASCII = later.pattern(r"\[redacted:[a-z]{1,16}\]")
_IS_INVISIBLE = later.pattern(f"[{_INVISIBLE}]")

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DASHES = "\u058a\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u207b\u208b\u2212\ufe58\ufe63\uff0d"
_DOTS = "\u3002\uff61\u2024\ufe52"
_COLONS = "\u2236\ua789\ufe55\ufe13\u205a\u2982"
_EQUALS = "\ufe66\ua78a\u2254\u2a74\u225d\u2261"
_BARS = "\u2502\u2503\u2551\u2506\u250a\u254e\u2758\u2016\u2223\u00a6\u23d0"
_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"', "\u201e": '"'}
# The zero of every script's decimal digits, as of Unicode 17; the nine others follow it.
_ZEROS = (
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50, 0x0ED0,
    0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0,
    0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0,
    0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50, 0x11DA0, 0x11DE0, 0x11F50, 0x16130, 0x16A60,
    0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
)  # fmt: skip
_FOLD = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **{zero + n: str(n) for zero in _ZEROS for n in range(10)},
    **dict.fromkeys(map(ord, _SPACES), " "),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _DOTS), "."),
    **dict.fromkeys(map(ord, _COLONS), ":"),
    **dict.fromkeys(map(ord, _EQUALS), "="),
    **dict.fromkeys(map(ord, _BARS), "|"),
    **{ord(quote): plain for quote, plain in _QUOTES.items()},
    0x2028: "\n",
    0x2029: "\n",
    0x0085: "\n",
    0xFE6B: "@",
}
_FOLDED = frozenset(map(chr, _FOLD))
_FEW = 20  # kinds of characters to replace one after the other; with more of them one pass over all is faster
_ASCII = bytes(range(128))
# Letters of other scripts that are drawn like Latin ones; read as those where they stand among them, as in no word of any language.
_ALIKE = str.maketrans(
    "асеорхуіѕјһԁԛԝɡıқԍӏАВЕКМНОРСТХУІЅЈαορνικτυεηАΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aceopxyisjhdqwgikglABEKMHOPCTXYISJaopvikтueнAABEZHIKMNOPTYX".replace("т", "t").replace("н", "n"),
)
_ALIKE_LETTERS = "".join(map(chr, _ALIKE))
_IS_ALIKE = frozenset(_ALIKE_LETTERS)
# A word with one of them; looked for where a word begins, so that one without is passed over once.
_MIXED_WORD = later.pattern(f"(?<![A-Za-z{_ALIKE_LETTERS}])[A-Za-z]*+[{_ALIKE_LETTERS}][A-Za-z{_ALIKE_LETTERS}]*+")
_LATIN = later.pattern(r"[A-Za-z]")
_LONGER = "\u0130"
_STYLED = later.pattern("[\U0001d400-\U0001d7cb\u24b6-\u24e9\u249c-\u24b5\U0001f130-\U0001f189]")


class View:
    """Folded text. others: the characters beyond ASCII that it may hold. The rest pairs offsets of view and text."""

    __slots__ = ("_low", "_text_at", "_view_at", "others", "text")

    def __init__(self, text: str, others: frozenset[str], view_at: Sequence[int], text_at: Sequence[int]) -> None:
        self.text, self.others = text, others
        self._view_at, self._text_at = view_at, text_at
        self._low = ""

    @property
    def low(self) -> str:
        """The same in lower case, character by character; made when a detector asks for it."""
        if not self._low:
            self._low = _lower(self.text)
        return self._low

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where in the original text a stretch of the view stands."""
        return self._back(start), self._back_after(end - 1)

    def _back(self, offset: int) -> int:
        step = bisect_right(self._view_at, offset) - 1
        return self._text_at[step] + offset - self._view_at[step]

    def _back_after(self, offset: int) -> int:
        """Where the original of a character ends; one of the view may stand for several."""
        step = bisect_right(self._view_at, offset)
        if step < len(self._view_at) and self._view_at[step - 1] == offset and self._view_at[step] == offset + 1:
            return self._text_at[step]
        return self._back(offset) + 1


def of(text: str, hidden: Sequence[tuple[int, int]] = ()) -> View:
    """Make the view of a text, with the `hidden` stretches (in order, apart) masked."""
    others = frozenset() if text.isascii() else _beyond_ascii(text)
    cuts = _cuts(text, others)
    if escaped := {instead for _, _, instead in cuts if not instead.isascii()} - {MASK}:
        others |= escaped
    if hidden:
        cuts = _outside(cuts, hidden) + [(start, end, MASK) for start, end in hidden]
        cuts.sort()
    folded, view_at, text_at = _without(text, cuts)
    if "\f" in folded or "\v" in folded:  # a line ends there as well
        folded = folded.replace("\f", "\n").replace("\v", "\n")
    if not folded.isascii():
        folded = _folded(folded, others)
        if _STYLED.search("".join(others)):  # what they are drawn as may be Greek
            others = _beyond_ascii(folded)
    return View(folded, others, view_at, text_at)


def cut(text: str, cuts: Sequence[Cut]) -> View:
    """Make a view of a text in which a character, or nothing, is read in the place of each of these stretches (in order, apart)."""
    read, view_at, text_at = _without(text, cuts)
    return View(read, frozenset(), view_at, text_at)


def _without(text: str, cuts: Sequence[Cut]) -> tuple[str, list[int], list[int]]:
    """The text with what is read in the place of the cuts; and where in it and in the text the stretches begin between which nothing is cut."""
    parts: list[str] = []
    view_at, text_at, length, at = [0], [0], 0, 0
    for start, end, instead in cuts:
        parts += (text[at:start], instead)
        length += start - at
        if instead:
            view_at.append(length)
            text_at.append(start)
            length += 1
        view_at.append(length)
        text_at.append(end)
        at = end
    return "".join((*parts, text[at:])), view_at, text_at


def _lower(text: str) -> str:
    if compiled and not text.isascii() and (made := compiled.lowered(text)) is not None:
        return made
    low = text.lower()
    if len(low) != len(text):  # one capital lowers to two characters, which would shift every offset after it
        low = _LONGER.join([part.lower() for part in text.split(_LONGER)])
    return low


def _beyond_ascii(text: str) -> frozenset[str]:
    """The characters of a text that are not ASCII, each once."""
    if compiled:
        return frozenset(compiled.others(text))
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return frozenset(rest.decode("utf-8", "surrogatepass"))


def _cuts(text: str, others: frozenset[str]) -> list[Cut]:
    """What is not read as it stands, and what is read in its place. others: the characters beyond ASCII."""
    cuts: list[Cut] = []
    unusual = "".join(others)
    invisible = _IS_INVISIBLE.search(unusual)
    drawn = _IS_DRAWN.search(unusual)
    if invisible or drawn or "[redacted:" in text:
        pattern = _HIDDEN_OR_DRAWN if drawn else _HIDDEN if invisible else _HIDDEN_ASCII
        cuts = [(m.start(), m.end(), MASK if m[0][0] == "[" else "") for m in pattern.finditer(text)]
    if _IS_OF_SCRIPT.search(unusual) and (between := [m.span() for m in _BETWEEN.finditer(text) if _are_marks(m[0])]):
        cuts = _apart(sorted([*cuts, *((start, end, "") for start, end in between)]))
    if written := list(escapes.find(text)):
        cuts += [(start, end, "" if _IS_INVISIBLE.match(read) else read) for start, end, read in written]
        cuts.sort()
    return cuts


def _apart(cuts: list[Cut]) -> list[Cut]:
    """The cuts with those as one that overlap: both cut something that cannot be seen."""
    apart: list[Cut] = []
    for start, end, instead in cuts:
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1]), ""
        else:
            apart.append((start, end, instead))
    return apart


def _are_marks(characters: str) -> bool:
    return all(unicodedata.category(c).startswith("M") or _IS_INVISIBLE.match(c) for c in characters)


def _folded(text: str, others: frozenset[str]) -> str:
    """The same text, character by character, in plain letters, digits and signs."""
    folded = sorted(others & _FOLDED)
    if folded and compiled:
        text = compiled.replaced(text, "".join(folded), "".join([_FOLD[ord(c)] for c in folded]))
    elif len(folded) > _FEW:
        text = text.translate(_FOLD)
    else:
        for c in folded:
            text = text.replace(c, _FOLD[ord(c)])
    if _STYLED.search("".join(others)):
        text = _STYLED.sub(_plain_letter, text)
    if not others.isdisjoint(_IS_ALIKE):
        text = _in_latin(text)
    return text


def _in_latin(text: str) -> str:
    """The same with Latin letters for those that are drawn like them, in words that have Latin ones as well."""
    if not compiled:
        return _MIXED_WORD.sub(lambda m: m[0].translate(_ALIKE) if _LATIN.search(m[0]) else m[0], text)
    parts: list[str] = []
    last = 0
    for start, end in compiled.mixed(text, _ALIKE_LETTERS):
        parts += (text[last:start], text[start:end].translate(_ALIKE))
        last = end
    return "".join((*parts, text[last:]))


def _plain_letter(styled: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFKC", styled[0]).strip("()")
    return plain if len(plain) == 1 else styled[0]


def _outside(cuts: list[Cut], hidden: Sequence[tuple[int, int]]) -> list[Cut]:
    """The cuts without what is hidden; one that reaches into that is left out, but for its invisible signs beside it."""
    starts = [start for start, _ in hidden]
    kept: list[Cut] = []
    for start, end, instead in cuts:
        at, i = start, max(0, bisect_right(starts, start) - 1)
        while i < len(hidden) and hidden[i][0] < end:
            low, high = hidden[i]
            if not instead and at < low:
                kept.append((at, low, instead))
            at = max(at, high)
            i += 1
        if at == start or (not instead and at < end):
            kept.append((at, end, instead))
    return kept
