"""Put sentences and their sources into the form that was asked for, within a number of tokens.

In: picked sentences, the best first.  Out: the text of a summary.
Always: at most `max_tokens` tokens, a token being four bytes of UTF-8; every statement names its source wherever that fits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smart_context.llm.extractive import Picked
from smart_context.llm.model import Snippet

_BYTES_A_TOKEN = 4
_MAX_SENTENCES = 8
_MAX_ABSENT = 5
_NUMBERS = re.compile(r"\[(\d{1,3}(?:, \d{1,3})*)\]")
CUT = "\n\n(The language model reached its limit of tokens here; its answer is not complete.)"


def tokens(text: str) -> int:
    """Count the tokens of a text, as an estimate."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN)


def extract(picked: Sequence[Picked], snippets: Sequence[Snippet], style: str, max_tokens: int) -> str:
    """Write as many of the sentences as fit, in their order."""
    taken: list[Picked] = []
    for sentence in picked:
        if len(taken) == _MAX_SENTENCES:
            break
        if tokens(_written([*taken, sentence], snippets, style)) <= max_tokens:
            taken.append(sentence)
    if taken:
        return _written(taken, snippets, style)
    return _cut(picked[0].text, max_tokens) if picked else ""


def no_answer(absent: Sequence[str], max_tokens: int) -> str:
    """Say that the snippets do not answer, and which of the words that were asked for none of them has."""
    some = ", ".join(f"“{word}”" for word in absent[:_MAX_ABSENT])
    said = f"The passages found do not answer this{f'; none of them mentions {some}' if some else ''}."
    return _cut(said, max_tokens)


def with_sources(text: str, snippets: Sequence[Snippet]) -> str:
    """Add the sources that a model's summary names by number; all of them where it names none."""
    named = sorted({int(number) for numbers in _NUMBERS.findall(text) for number in numbers.split(", ")})
    cited = [number for number in named if 1 <= number <= len(snippets)] or list(range(1, len(snippets) + 1))
    return f"{text}\n\n{_sources([(number, snippets[number - 1]) for number in cited])}"


def _written(taken: Sequence[Picked], snippets: Sequence[Snippet], style: str) -> str:
    if style == "table":
        rows = [f"| {_cell(one.text)} | {_cell(_source(snippets[one.snippet]))} |" for one in taken]
        return "\n".join(["| Finding | Source |", "|---|---|", *rows])
    order = list(dict.fromkeys(one.snippet for one in taken))
    number = {snippet: place for place, snippet in enumerate(order, 1)}
    if style == "bullets":
        body = "\n".join(f"- {one.text} [{number[one.snippet]}]" for one in taken)
    else:
        body = " ".join(f"{one.text} [{number[one.snippet]}]" for one in taken)
    return f"{body}\n\n{_sources([(number[snippet], snippets[snippet]) for snippet in order])}"


def _sources(cited: Sequence[tuple[int, Snippet]]) -> str:
    return "Sources:\n" + "\n".join(f"[{number}] {_source(snippet)}" for number, snippet in cited)


def _source(snippet: Snippet) -> str:
    # A name with a line break in it must not look like a line of ours.
    path, pointer = (
        "".join(c if c.isprintable() else "\ufffd" for c in part) for part in (snippet.path, snippet.pointer)
    )
    return f"{path}, {pointer}" if pointer else path


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _cut(text: str, max_tokens: int) -> str:
    """The beginning of a text that alone is too long, at a word if there is one."""
    if tokens(text) <= max_tokens:
        return text
    room = max_tokens * _BYTES_A_TOKEN - len("…".encode())
    head = text.encode("utf-8", "replace")[: max(0, room)].decode("utf-8", "ignore")
    whole = head.rsplit(" ", 1)[0] if " " in head else head
    return whole.rstrip() + "…"
