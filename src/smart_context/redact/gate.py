"""The gate that text passes on its way out: every detector, one answer.

In: any text.  Out: `Span`s to hide, or the text without them.
Always: detectors look again until nothing more is found, each time at what the look before left over. A detector is loaded
and run only where the text holds something that it could begin with; most text holds nothing of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from smart_context.redact import names, patterns, tokens
from smart_context.redact import view as views

# The first kind wins where two detectors see the same characters.
KINDS = ("custom", "secret", "iban", "card", "email", "phone")
_MAIL_SIGNS = (
    "@",
    "at]",
    "at)",
    "at}",
    "at>",
    "at ]",
    "at )",
    "ät]",
    "ät)",
    "arroba",
    " dot ",
    "&#64",
    "&#x40",
    "%40",
    "\\u0040",
    "&commat",
)
_ACCESS_SIGNS = (
    "://", "basic", "bearer", "authori", "token", "apikey", "digest", "negotiate", "cookie", "curl", "mysql", "mariadb", "sshpass",
    "identified", "machine", "redis-cli", "requirepass", "masterauth",
)  # fmt: skip
# Six digits, as close together as in a number of any kind; a letter may stand among them (an IBAN).
_DIGITS = re.compile(r"\d(?:[^\d]{0,12}\d){5}")
_MAX_LOOKS = 6


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
        self._extra = tuple(patterns.compiled(pattern) for pattern in extra)

    def clean(self, text: str) -> str:
        """Return the text with everything that must not leave replaced."""
        return part(text, self.spans(text), 0, len(text))

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return what `clean` would replace, in text order, apart from each other."""
        found: list[Span] = []
        for _ in range(_MAX_LOOKS):
            view = views.of(text, [(span.start, span.end) for span in found])
            more = [Span(*view.origin(start, end), kind) for start, end, kind in self._look(view)]
            if not more:
                break
            found = _merged(found + more)
        return tuple(found)

    def _look(self, view: views.View) -> Iterator[tuple[int, int, str]]:
        text, low = view.text, view.low
        for pattern in self._extra:
            for match in pattern.finditer(text):
                if match.end() > match.start() and views.MASK not in match[0]:
                    yield *match.span(), "custom"
        for start, end in _secrets(text, low):
            yield start, end, "secret"
        if any(sign in low for sign in _MAIL_SIGNS):
            from smart_context.redact import mail

            for start, end in mail.find(text, low):
                yield start, end, "email"
        if _DIGITS.search(text):
            yield from _numbers(text, low)


def _secrets(text: str, low: str) -> Iterator[tuple[int, int]]:
    yield from tokens.find(text)
    if "private" in low:
        from smart_context.redact import private

        yield from private.find(text)
    if any(sign in low for sign in _ACCESS_SIGNS):
        from smart_context.redact import access

        yield from access.find(text, low)
    if found := names.find(low):
        from smart_context.redact import assigned, columns

        yield from assigned.find(text, low, found)
        yield from columns.find(text, low)


def _numbers(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    from smart_context.redact import codes, phones

    for start, end in codes.ibans(text):
        yield start, end, "iban"
    for start, end in codes.cards(text, low):
        yield start, end, "card"
    for start, end in phones.find(text, low):
        yield start, end, "phone"


def part(text: str, spans: Sequence[Span], start: int, end: int) -> str:
    """Return what may be shown of a part of a text: a span that reaches into it is replaced as a whole."""
    parts: list[str] = []
    at = start
    for span in spans:
        if span.start >= end:
            break
        if span.end > start:
            parts += (text[at : span.start], f"[redacted:{span.kind}]")
            at = span.end
    return "".join((*parts, text[at:end]))


_PLAIN = Redactor()


def clean(text: str) -> str:
    """Return the text with everything that must not leave replaced, by the built-in patterns."""
    return _PLAIN.clean(text)


def spans(text: str) -> tuple[Span, ...]:
    """Return what `clean` would replace."""
    return _PLAIN.spans(text)


def _merged(found: list[Span]) -> list[Span]:
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
