"""Find the file names in a query.

In: a query as typed, its texts, a view of the index.  Out: a `Sought` for each name that some file has, mistyped perhaps.
Always: a mistyped name is corrected only if it is the whole query, no file has it and no text says it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from smart_context.data import replace
from smart_context.engine import names
from smart_context.engine.port import View
from smart_context.find import corrections, exact
from smart_context.find.plan_model import Plan, Sought, has_name
from smart_context.sources.formats import FORMATS
from smart_context.text import analysis

_NAME = 2.0  # the weight of a file name of a few words that is the whole query, in words of the highest weight
_NAMED = 1.0  # and of one among other words
_FEW = 3  # words of a file name above which its weight grows
_MOST = 4  # names
_LONGEST = 8  # words
_EXTENSIONS = frozenset((".gif", ".ico", ".heic", ".mp3", ".mp4", ".mov", ".wav")).union(
    *(each.extensions.split() for each in FORMATS)
)


def files(typed: str, texts: Sequence[str], view: View, best: float) -> list[Sought]:
    """The file names in a query: the whole of it, or words of it.

    typed: the query as typed, "" if it excludes something; texts: those of its leaves; best: the highest weight of its words.
    """
    like = [text for text in texts if names.LIKE.search(text)][:_MOST]
    whole = typed.strip().strip("\"'“”").strip() if len(typed.split()) <= _LONGEST else ""
    out: dict[frozenset[str], Sought] = {}
    for text in dict.fromkeys((whole, *like)):
        asked = names.asked(text) if _may_be_name(text) else []
        there = tuple(filter(view.having, asked))[:1]
        meant = _mistyped(text, view) if asked and not there and text == whole and text in like else ()
        terms = frozenset(there or meant)
        if terms and terms not in out:
            count = sum(map(view.having, terms))
            worth = _NAME * max(1.0, len(analysis.units(text)) / _FEW) if text == whole else _NAMED
            word = Sought(f"file {text}", terms, times=worth, count=count, idf=best, stands=False, name=text)
            out[terms] = replace(word, instead=meant) if meant else word
    return list(out.values())


def without_text(typed: str, plan: Plan) -> str:
    """The file name that the whole query is, perhaps below folders, if no file that has text is called so; "" if there is none."""
    name = typed.strip().strip("\"'“”").strip().replace("\\", "/").strip("/")
    if len(name.split()) > _LONGEST or not names.LIKE.search(name):
        return ""
    if has_name(plan.sought):
        return ""
    # Other identifiers look like names too (`os.path`): such a name is looked up only if no text has it.
    return name if os.path.splitext(name)[1].lower() in _EXTENSIONS or typed.strip() in plan.missing else ""


def _may_be_name(text: str) -> bool:
    """No file names: an option; `C++`, which is not the file `c`; `€ 20` and `20`, which are not the file `2.0`."""
    return bool(text) and not (
        text.startswith("-") or text.isdigit() or exact.SIGNED.fullmatch(text) or exact.PRICE.search(text)
    )


def _mistyped(name: str, view: View) -> tuple[str, ...]:
    """The file names that a mistyped one may mean, if no text has it."""
    return () if any(map(view.having, exact.wholes(name))) else corrections.named(name, view)
