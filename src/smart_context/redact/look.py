"""One look at a text: every detector that the text gives a reason to run.

In: a `View` and the patterns of a configuration.  Out: where something must be hidden, and its kind, in no order.
Always: a detector is loaded and run only where the text holds something that it could begin with; most text holds nothing of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smart_context.redact import names, tokens
from smart_context.redact import shape as shapes
from smart_context.redact import view as views
from smart_context.redact import words as vocabulary

Found = tuple[int, int, str]

_MAIL_SIGNS = ("@", "at]", "at)", "at}", "at>", "ät]", "ät)", "arroba", "dot", "[a]", "(a)", "{a}", "&#64", "&#x40", "%40", "\\u0040", "&commat")  # fmt: skip
_ACCESS_SIGNS = (
    "://", "basic", "bearer", "authori", "token", "apikey", "digest", "negotiate", "cookie", "curl", "mysql", "mariadb", "sshpass",
    "identified", "machine", "redis-cli", "requirepass", "masterauth", "convertto-", "smb", "rpcclient", "jdbc:", "sql", "expdp", "impdp",
    '"auth"', '"kty"',
)  # fmt: skip
_MIN_DIGITS = 6  # of a telephone number, the shortest of all


def at(view: views.View, extra: Sequence[re.Pattern[str]]) -> Iterator[Found]:
    """Yield what one look finds."""
    text, low = view.text, view.low
    for pattern in extra:
        for start, end in _custom(text, pattern):
            yield start, end, "custom"
    words = vocabulary.of(text)
    for start, end in _secrets(text, low, words):
        yield start, end, "secret"
    if any(sign in words.low for sign in _MAIL_SIGNS) or "at ]" in low or "at )" in low:
        from smart_context.redact import mail

        for start, end in mail.find(text, low, words.low):
            yield start, end, "email"
    yield from _numbers(text, low, shapes.of(text))


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


def _secrets(text: str, low: str, words: vocabulary.Words) -> Iterator[tuple[int, int]]:
    yield from tokens.find(text, words)
    if "private" in words.low:
        from smart_context.redact import private

        yield from private.find(text, low)
    if any(sign in words.low for sign in _ACCESS_SIGNS):
        from smart_context.redact import access

        yield from access.find(text, low, words.low)
    if found := names.find(low, words.low):
        from smart_context.redact import assigned, columns

        yield from assigned.find(text, low, found)
        yield from columns.find(text, low, (name.start for name in found))


def _numbers(text: str, low: str, shape: bytes) -> Iterator[Found]:
    accounts = list(shapes.accounts(shape))
    numbers = list(shapes.numbers(shape, _MIN_DIGITS))
    if not accounts and not numbers:
        return
    from smart_context.redact import codes, phones

    for start, end in codes.ibans(text, accounts):
        yield start, end, "iban"
    for start, end in codes.cards(text, low, shape, numbers):
        yield start, end, "card"
    for start, end in phones.find(text, low, shape, numbers):
        yield start, end, "phone"
