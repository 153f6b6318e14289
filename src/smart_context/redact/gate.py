"""Run all detectors on a text: before text is shown, and on a whole file when it is indexed.

In: any text, a sentence or a file of many megabytes.  Out: `Span`s to hide, or the text without them.
Always: detectors run again, on what is left, until they find nothing more. The first pass reads all of
the text; further passes read only around what was found, because nothing else has changed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import ModuleType

from smart_context.data import dataclass
from smart_context.redact import rules

# The first kind wins where two detectors see the same characters.
KINDS = ("custom", "secret", "iban", "card", "email", "phone")
MAX_SPANS = 300_000
"""Of one text. What follows the last of them is hidden as a whole: no file needs more, and a hostile one shall not fill the memory."""
_MAX_LOOKS = 6
_SHORT = 20_000  # characters of a text that is always looked at again as a whole around each find
_BESIDE = frozenset(["", " ", "\t", "\n", "<", ">", "(", ")", ","])
_AROUND, _NEAR = 600, 250  # characters beside a find that a further look sees; and in which it may find something


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text to hide, and its kind."""

    start: int
    end: int
    kind: str


Spans = Callable[[str], Sequence[Span]]
"""What must not show in a text: in text order, apart from each other."""


class Redactor:
    """Redaction with a configuration's extra patterns, which become `[redacted:custom]`."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self._sources = tuple(extra)
        self._extra: tuple[re.Pattern[str], ...] = ()
        if extra:
            from smart_context.redact import patterns

            self._extra = tuple(patterns.compiled(pattern) for pattern in extra)

    def identity(self) -> str:
        """Name the rules that this redactor applies: the same name, the same spans for the same text."""
        return rules.identity(self._sources)

    def clean(self, text: str) -> str:
        """Return the text with everything that must not leave replaced."""
        return part(text, self.spans(text), 0, len(text))

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return what `clean` would replace, in text order, apart from each other."""
        found = self._looked(text, ())
        if not found:  # as nearly always
            return ()
        found = merged(found)
        fresh = found if len(text) <= _SHORT else [span for span in found if not _stands_apart(text, span)]
        for _ in range(_MAX_LOOKS - 1):
            fresh = [span for window in _around(fresh, len(text)) for span in self._again(text, found, *window)]
            if not fresh:
                break
            found = merged(found + fresh)
        return tuple(_bounded(found, len(text)))

    def _looked(self, text: str, hidden: Sequence[tuple[int, int]], offset: int = 0) -> list[Span]:
        look, views = _detectors()
        view = views.of(text, hidden)
        return [
            Span(offset + start, offset + end, kind)
            for first, last, kind in look.at(view, self._extra)
            for start, end in (view.origin(first, last),)
        ]

    def _again(self, text: str, found: Sequence[Span], start: int, end: int) -> Iterator[Span]:
        """Look again at a part of the text; what is found at its ends, where a word may be cut in two, does not count."""
        first = bisect_right(found, start, key=lambda span: span.end)
        last = bisect_right(found, end - 1, key=lambda span: span.start)
        hidden = [(max(span.start, start) - start, min(span.end, end) - start) for span in found[first:last]]
        low = start + _AROUND - _NEAR if start else 0
        high = end - _AROUND + _NEAR if end < len(text) else end
        for span in self._looked(text[start:end], hidden, start):
            if span.end > low and span.start < high:
                yield span


def _stands_apart(text: str, span: Span) -> bool:
    """Tell whether hiding an e-mail address leaves everything beside it as it was: nothing touches it."""
    before, after = text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]
    return span.kind == "email" and before in _BESIDE and after in _BESIDE


def _around(found: Sequence[Span], length: int) -> list[tuple[int, int]]:
    """The stretches of text around what was found, in order, apart from each other."""
    windows: list[tuple[int, int]] = []
    for span in found:
        start, end = max(0, span.start - _AROUND), min(length, span.end + _AROUND)
        if windows and start <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(end, windows[-1][1])
        else:
            windows.append((start, end))
    return windows


def part(text: str, spans: Sequence[Span], start: int, end: int) -> str:
    """Return what may be shown of a part of a text: a span that reaches into it is replaced as a whole."""
    if not spans:
        return text[start:end]
    parts: list[str] = []
    at = start
    for span in spans:
        if span.start >= end:
            break
        if span.end > start:
            parts += (text[at : span.start], f"[redacted:{span.kind}]")
            at = span.end
    return "".join((*parts, text[at:end]))


@cache
def _detectors() -> tuple[ModuleType, ModuleType]:
    """The detectors, when there is something to judge: a search mostly looks up what was judged before."""
    from smart_context.redact import look, view

    return look, view


_PLAIN = Redactor()


def clean(text: str) -> str:
    """Return the text with everything that must not leave replaced, by the built-in patterns."""
    return _PLAIN.clean(text)


def spans(text: str) -> tuple[Span, ...]:
    """Return what `clean` would replace."""
    return _PLAIN.spans(text)


def merged(found: list[Span]) -> list[Span]:
    """The spans in text order, with those that overlap as one; it sorts what it is given."""
    found.sort(key=lambda span: (span.start, -span.end, KINDS.index(span.kind)))
    apart: list[Span] = []
    for span in found:
        if apart and span.start < apart[-1].end:
            last = apart[-1]
            kind = min(last.kind, span.kind, key=KINDS.index)
            apart[-1] = Span(last.start, max(last.end, span.end), kind)
        else:
            apart.append(span)
    return apart


def _bounded(found: list[Span], length: int) -> list[Span]:
    if len(found) <= MAX_SPANS:
        return found
    rest = found[MAX_SPANS - 1]
    return [*found[: MAX_SPANS - 1], Span(rest.start, length, "secret")]
