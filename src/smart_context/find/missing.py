"""List the words and phrases of a query that no segment has.

In: a query tree, and its words as looked up.  Out: words and phrases as they were typed, for `notes`.
Always: nothing for a sentence, of which some words are always missing; no word that was replaced by a correction, and no address, which have notes of their
own. A number or an identifier of several words is missing if no segment has these words one after the other, whatever joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from smart_context.find import query
from smart_context.find.plan_model import Sought
from smart_context.find.query import Query
from smart_context.text import analysis

_MOST = 5


def of(
    tree: Query,
    words: Mapping[str, Sought],
    units: Callable[[str], Sequence[str]],
    has_line: Callable[[str], bool],
    files: Set[str],
) -> tuple[str, ...]:
    """The words and phrases that no segment has.

    words: those that were looked up; units: cuts a text into words; has_line: whether any segment has a text as a phrase; files: names of files among them.
    """
    if isinstance(tree, query.Some) and tree.is_prose:
        return ()
    out: dict[str, None] = {}
    for item in tree.items if isinstance(tree, query.Some | query.And | query.Or) else (tree,):
        if isinstance(item, query.Phrase | query.Word) and item.text in files:
            continue
        if isinstance(item, query.Phrase) and len(analysis.units(item.text)) > 1 and not has_line(item.text):
            out[f'"{item.text}"'] = None
        elif isinstance(item, query.Word) and not analysis.has_no_spaces(item.text):
            own = units(item.text)
            word = words.get(own[0]) if len(own) == 1 else None
            is_joined = len(own) > 1 and "@" not in item.text and f"{item.text} (whole)" not in words
            if (word is not None and not word.count and not word.instead) or (is_joined and not has_line(item.text)):
                out[item.text] = None
    return tuple(out)[:_MOST]
