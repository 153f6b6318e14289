"""The notes of an answer, one line each: how the query was read, what no text has, what was corrected.

In: how a query was read and planned; the results.  Out: lines for people and agents.
Always: there is a note only if the answer differs from what the words of the query let one expect.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from smart_context.access.roots import shown
from smart_context.engine import names
from smart_context.engine.expression import Group
from smart_context.engine.model import FileRow
from smart_context.engine.port import View
from smart_context.find import corrections
from smart_context.find.filters import Reading
from smart_context.find.model import SearchItem
from smart_context.find.order import Placed
from smart_context.find.plan_model import Plan, has_name

_LONGEST = 200  # letters of a word that a note repeats


def of_query(reading: Reading, planned: Plan, excluded: Sequence[str]) -> tuple[str, ...]:
    """Which filters were read from the query, what it excludes, and which of its words no text has."""
    read = [f"read from the query: {reading.told()}"] if reading.has_read else []
    nowhere = [f"nothing has {_listed(planned.nowhere)}; looked for the other words"] if planned.nowhere else []
    empty = ["the query has no word to look for"] if planned.wanted == Group() and not planned.missing else []
    nowhere += [f"nothing has {_listed(planned.missing)}"] if planned.missing else []
    without = [f"without {_listed(excluded)}: a '-' or NOT before a word excludes it"] if excluded else []
    return (*read, *without, *nowhere, *empty)


def of_phrases(lost: Sequence[str]) -> Iterator[str]:
    """Which phrases no text has, so that their words were looked for."""
    if lost:
        yield f"nothing has {_listed(lost)}; looked for {'its' if len(lost) == 1 else 'their'} words"


def _listed(words: Sequence[str]) -> str:
    # A long one is named whole or not at all: half of a secret could not be redacted.
    return " or ".join(
        f"'{word}'" if len(word) <= _LONGEST else f"a word of more than {_LONGEST} letters" for word in words
    )


def of_vectors(made: int, view: View) -> Iterator[str]:
    """How much of the index has vectors, if not all of it."""
    if made < view.segments:
        yield f"{100 * made // view.segments} % of the index has vectors; the rest is ranked by words"


def of_order(how: str, count: int) -> str:
    """How many passages were sorted by date or name; only a few of one file are shown."""
    return f"sorted by {how}: the {count:,} passages that are at least half as good as the best"


def of_ocr(page: Sequence[Placed], offset: int) -> Iterator[str]:
    """Which results were read by OCR."""
    seen = [
        f"{number} ({one.segment.certainty} %)"
        for number, one in enumerate(page, offset + 1)
        if one.segment.certainty is not None
    ]
    if seen:
        yield f"read by OCR, which makes mistakes: {'result' if len(seen) == 1 else 'results'} {', '.join(seen)}"


def of_corrections(planned: Plan, items: Sequence[SearchItem]) -> Iterator[str]:
    """What was looked for in place of words that no text, or hardly any, has; as it is written in the results."""
    if has_name(planned.sought):
        return  # the query is a file's name: nobody misses its words
    replaced = [word for word in planned.sought if word.instead]
    marked = Counter(item.snippet[a:b].lower() for item in items for a, b in item.highlights) if replaced else Counter()
    for word in replaced:
        if word.name:
            found = {os.path.basename(item.path): None for item in items if set(names.of_file(item.path)) & word.terms}
            yield f"nothing is called '{word.name}'; looked for {_listed(tuple(found))} instead"
            continue
        others = _listed(tuple(dict.fromkeys(corrections.written(term, marked, word.text) for term in word.instead)))
        if word.typed:
            yield f"hardly anything has '{word.text}'; looked for {others} as well"
        else:
            yield f"nothing has '{word.text}'; looked for {others} instead"


def of_files_without_text(files: Sequence[FileRow]) -> Iterator[str]:
    """Which files have the name that was typed, and no text that a search could find."""
    for file in files:
        why = "; ".join(filter(None, (file.detail, *file.notes))) or file.reason
        yield f"{shown(file.path)} has no text to search" + (f" ({why})" if why != "no text" else "")


def of_addresses(query: str) -> Iterator[str]:
    """Which e-mail addresses of a query no text has. `whole.asked` has replaced the others by their terms: an address is found as a whole only."""
    if "@" not in query:
        return
    from smart_context.redact import gate

    for span in gate.spans(query):
        if span.kind == "email":
            yield f"nothing has the address '{query[span.start : span.end]}'; looked for its words"
