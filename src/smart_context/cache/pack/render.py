"""Write what was packed, as Markdown to paste or as JSON to parse.

In: excerpts.  Out: text.
Always: in the Markdown, every line of a document begins with `>`, so that no document can pass for another's heading line; the JSON has the
rules of `exact_json`.
"""

from __future__ import annotations

import re

from smart_context.cache.exact_json import string
from smart_context.cache.pack.model import Excerpt, Packed

RULES = "1"  # of choosing and writing; another number may give other bytes
_SHOWN = 12  # hex digits of a version, as in the names of a cache's files
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def block(document_id: str, version: str, lines: tuple[int, int], text: str) -> str:
    """Return an excerpt as Markdown: its place and its text."""
    where = f"line {lines[0]}" if lines[0] == lines[1] else f"lines {lines[0]}-{lines[1]}"
    digits = version.removeprefix("sha256:")[:_SHOWN]
    name = string(document_id) if _UNSAFE.search(document_id) else document_id
    name = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", name)
    quoted = "\n".join(f"> {line}" if line else ">" for line in re.split("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]", text))
    return f"## {name}, {where} ({digits})\n\n{quoted}\n\n"


def markdown(packed: Packed) -> bytes:
    """Return all excerpts as Markdown."""
    return "".join(block(one.id, one.version, one.lines, one.text) for one in packed.excerpts).encode()


def json(packed: Packed) -> bytes:
    """Return everything as compact JSON with a newline at the end."""
    return (
        f'{{"pack":{string(RULES)},"cache_version":{string(packed.cache_version)},"query":{string(packed.query)}'
        f',"budget":{packed.budget},"tokens":{string(packed.counting)},"tokens_used":{packed.tokens_used}'
        f',"documents_considered":{packed.documents_considered},"documents_matching":{packed.documents_matching}'
        f',"passages":[{",".join(map(_excerpt, packed.excerpts))}]}}\n'
    ).encode()


def _excerpt(one: Excerpt) -> str:
    return (
        f'{{"id":{string(one.id)},"version":{string(one.version)},"heading":{string(one.heading)}'
        f',"lines":[{one.lines[0]},{one.lines[1]}],"bytes":[{one.span[0]},{one.span[1]}]'
        f',"score":{one.score // 1000}.{one.score % 1000:03d},"tokens":{one.tokens},"text":{string(one.text)}'
        f',"also":[{",".join(map(string, one.also))}]}}'
    )
