"""Decide quickly which detectors must run on a text, and where.

In: a `View`.  Out: a `Glance`, or None where no detector has anything to look at.
Always: it misses nothing: what it does not report is not in the text. Part of it is compiled (`_glance.c`); without that, it is the same by `words`, `shape` and `wrap`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import starmap

from smart_context.data import dataclass
from smart_context.redact import issuers, names, pins, stems, words, wrap
from smart_context.redact import shape as shapes
from smart_context.redact.view import View

try:
    from smart_context.redact import _glance as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

SPACED = (
    "at ]",
    "at )",
    "at }",
    "at >",
    " dot ",
    "key content",
    "recovery code",
    "backup code",
    *pins.SPACED,
    *(word for word in words.COMMANDS if " " in word),
)
"""Signs that no word holds."""
_MIN_DIGITS = 6  # of a telephone number, the shortest of all


@dataclass(frozen=True, slots=True)
class Glance:
    """What is in a text, as far as a glance tells.

    seen: of `words.SIGNS` and `SPACED`, in lower case; where they begin only as it is compiled, and not of one that is there very often. letters: of `names.LETTERS`. marks: of `issuers.MARKS`, in words that may be tokens, or before one.
    bare: words that may be tokens of no known issuer. numbers: stretches of at least as many digits as a telephone number has. accounts: where
    two letters stand that two digits follow. breaks: line breaks that may cut a token.
    """

    seen: stems.Seen
    letters: frozenset[str]
    marks: frozenset[str]
    bare: Sequence[str]
    numbers: Sequence[tuple[int, int]]
    accounts: Sequence[int]
    breaks: Sequence[wrap.Break]


def at(view: View) -> Glance | None:
    """Glance at a text."""
    text = view.text
    if compiled:
        seen, marks, bare, numbers, accounts, cuts = compiled.glance(text, *_automata(), _MIN_DIGITS)
        breaks = list(starmap(wrap.Break, cuts))
    else:
        held = words.of(text)
        found = [sign for sign in words.SIGNS if sign in held.low] + [sign for sign in SPACED if sign in view.low]
        seen = dict.fromkeys(found)
        tokens = list(filter(words.may_be_token, held.unique))
        marks, bare = (
            marks_in("\n".join((*tokens, *words.before_tokens(text, tokens)))),
            list(filter(words.may_be_bare, tokens)),
        )
        shape = shapes.of(text)
        numbers, accounts = list(shapes.numbers(shape, _MIN_DIGITS)), list(shapes.accounts(shape))
        breaks = wrap.breaks(text)
    letters = view.others & names.LETTERS
    if not (seen or letters or marks or bare or numbers or accounts or breaks):
        return None
    return Glance(seen, letters, marks, bare, numbers, accounts, breaks)


def marks_in(text: str) -> frozenset[str]:
    """The marks of tokens that stand in a text."""
    if compiled:
        return compiled.seen(_automata()[1], text)
    return frozenset([mark for mark in issuers.MARKS if mark in text])


def long_words(text: str, least: int) -> str:
    """The words of a text that have at least so many characters, a line each."""
    if compiled:
        return "\n".join(compiled.long_words(text, least))
    return "\n".join([word for word in text.split() if len(word) >= least])


@cache
def _automata() -> tuple[object, object]:
    """What finds every sign, whatever its case, and every mark."""
    return compiled.automaton((*words.SIGNS, *SPACED), True), compiled.automaton(issuers.MARKS, False)
