"""One pass over a text: run every detector that could find something in it.

In: a `View` and the patterns of a configuration.  Out: where something must be hidden, and its kind, in no order.
Always: a detector is loaded and run only if the text holds something that it could begin with; most texts do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smart_context.redact import glance as glances
from smart_context.redact import names, pins, tokens, words
from smart_context.redact import shape as shapes
from smart_context.redact import view as views

Found = tuple[int, int, str]

_MAIL_SIGNS = frozenset(("@", "at]", "at)", "at}", "at>", "ät]", "ät)", "arroba", "dot", "[a]", "(a)", "{a}", "%40", "&commat", "at ]", "at )"))  # fmt: skip
_ACCESS_SIGNS = frozenset((
    "://", "basic", "bearer", "authori", "token", "apikey", "digest", "negotiate", "aws4-hmac-sha256", "cookie", '"auth"', '"kty"',
))  # fmt: skip


def at(view: views.View, extra: Sequence[re.Pattern[str]]) -> Iterator[Found]:
    """Yield what one look finds."""
    text = view.text
    for pattern in extra:
        for start, end in _custom(text, pattern):
            yield start, end, "custom"
    glance = glances.at(view)
    if glance is None:
        return
    for start, end in _secrets(view, glance):
        yield start, end, "secret"
    if not glance.seen.keys().isdisjoint(_MAIL_SIGNS):
        from smart_context.redact import mail

        for start, end in mail.find(text, view.low, glance.seen):
            yield start, end, "email"
    if glance.numbers or glance.accounts:
        yield from _numbers(view, glance)


def _custom(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Matches of a pattern; those that touch are one, so that a pattern for everything gives one span and not one per character."""
    start = end = -1
    for match in pattern.finditer(text):
        if match.end() == match.start() or views.MASK in match[0]:
            continue
        if match.start() != end:
            if end > start:
                yield start, end
            start = match.start()
        end = match.end()
    if end > start:
        yield start, end


def _secrets(view: views.View, glance: glances.Glance) -> Iterator[tuple[int, int]]:
    text, seen = view.text, glance.seen
    yield from tokens.find(text, glance)
    if not seen and not glance.letters:
        return
    low = view.low
    if "private" in seen or "openvpn" in seen:
        from smart_context.redact import private

        yield from private.find(text, low)
    if not seen.keys().isdisjoint(_ACCESS_SIGNS):
        from smart_context.redact import access

        yield from access.find(text, low, seen)
    if not seen.keys().isdisjoint(words.OF_COMMANDS):
        from smart_context.redact import commands

        yield from commands.find(text, low, seen)
    if glance.letters or not seen.keys().isdisjoint(pins.SIGNS):
        yield from pins.find(text, low, seen, glance.letters)
    if "secret" in seen:
        from smart_context.redact import manifests

        yield from manifests.find(text, low, seen["secret"])
    if "pass" in seen:
        from smart_context.redact import markup

        yield from markup.glued(text, low, seen["pass"])
    if found := names.find(low, seen, glance.letters):
        from smart_context.redact import assigned, columns

        yield from assigned.find(text, low, found)
        yield from columns.find(text, low, (name.start for name in found))
        if "<" in text:
            from smart_context.redact import markup

            yield from markup.find(text, low, found, has_rows="<tr" in seen)


def _numbers(view: views.View, glance: glances.Glance) -> Iterator[Found]:
    text, numbers = view.text, glance.numbers
    from smart_context.redact import codes, phones

    for start, end in codes.ibans(text, glance.accounts):
        yield start, end, "iban"
    if not numbers:
        return
    low, shape = view.low, shapes.of(text)
    for start, end in codes.cards(text, low, shape, numbers):
        yield start, end, "card"
    for start, end in phones.find(text, low, shape, numbers):
        yield start, end, "phone"
