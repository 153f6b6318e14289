"""Redact texts that follow each other as if they were one.

In: texts, in order.  Out: each text, redacted.
Always: whatever is redacted in a text alone is redacted; so is a secret that is cut in two by the border between two texts, and one
whose label is at the end of the text before.
"""

from __future__ import annotations

from collections.abc import Sequence

from smart_context import redact
from smart_context.redact import Redactor, Span

_SEAMS = ("", "\n")  # a cut inside a word, and one between two lines


def clean(texts: Sequence[str], redactor: Redactor) -> list[str]:
    """Redact the texts."""
    found = [list(redactor.spans(text)) for text in texts]
    for seam in _SEAMS if len(texts) > 1 else ():
        spans = redactor.spans(seam.join(texts))
        start = 0
        for text, own in zip(texts, found, strict=True):
            end = start + len(text)
            own += [
                Span(max(span.start, start) - start, min(span.end, end) - start, span.kind)
                for span in spans
                if span.start < end and span.end > start
            ]
            start = end + len(seam)
    return [redact.part(text, _apart(own), 0, len(text)) for text, own in zip(texts, found, strict=True)]


def _apart(spans: Sequence[Span]) -> list[Span]:
    apart: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if apart and span.start < apart[-1].end:
            apart[-1] = Span(apart[-1].start, max(apart[-1].end, span.end), apart[-1].kind)
        else:
            apart.append(span)
    return apart
