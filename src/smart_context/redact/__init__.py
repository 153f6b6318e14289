"""Hide e-mail addresses, telephone numbers, secrets, card numbers and bank accounts in text.

In: any text, before it is cut.  Out: the same text with each of them replaced by `[redacted:KIND]`.
Always: what is clean stays as it is, byte for byte; `clean(clean(x)) == clean(x)`; the work grows with the text, never faster.

    gate      every detector, one answer; the public entry. look: which detectors one look at a text runs
    view      the text as detectors read it: folded, invisible characters gone, what is hidden already masked. escapes: what `&#119;` and its like are read as
    issuers, tokens, private, access, commands, pins, names, assigned, told, columns, manifests, markup    secrets
    mail, phones, codes                           addresses, numbers, cards and accounts
    values, wrap                                  what a secret looks like, and how it goes on over a line break
    glance, words, shape, stems                   what tells at once that a text holds nothing of a kind
    patterns                                      what a configuration adds
    rules, document, repeats                      the name of all of them; a file judged as a whole; a secret that stands in it again
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smart_context.redact.rules import RULES_VERSION

if TYPE_CHECKING:
    from smart_context.redact.gate import Redactor, Span, Spans, clean, part, spans

__all__ = ["RULES_VERSION", "Redactor", "Span", "Spans", "clean", "part", "spans"]


def __getattr__(name: str) -> Any:
    """Load the detectors when one of them is asked for: most commands redact nothing."""
    if name not in __all__:
        raise AttributeError(name)
    from smart_context.redact import gate

    return getattr(gate, name)
