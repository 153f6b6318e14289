"""Write a selection as exact JSON.

In: a `Selection`.  Out: its bytes, compact or pretty, with one newline at the end.
Always: command line and servers answer with these bytes and no others.
"""

from __future__ import annotations

from smart_context.cache.exact_json import decimal, pretty_list, string
from smart_context.cache.select import Selection


def render(selection: Selection, *, pretty: bool = False) -> bytes:
    """Return the bytes of a selection."""
    return (_pretty(selection) if pretty else _compact(selection)).encode()


def _compact(selection: Selection) -> str:
    terms = ",".join(map(string, selection.query.terms))
    documents = ",".join(
        f'{{"id":{string(d.id)},"version":{string(d.version)},"content":{string(d.content)},"score":{decimal(d.score)}'
        f',"tokens":{d.tokens},"why":{{"query_terms":[{terms}],"term_matches":{d.term_matches}'
        f',"total_words":{d.total_words}}}}}'
        for d in selection.documents
    )
    return (
        f'{{"documents":[{documents}],"selection":{{"query":{string(selection.query.text)},"budget":{selection.budget}'
        f',"tokens_used":{selection.tokens_used},"documents_considered":{selection.documents_considered}'
        f',"documents_selected":{len(selection.documents)}'
        f',"documents_excluded_by_budget":{selection.documents_excluded_by_budget}}}}}\n'
    )


def _pretty(selection: Selection) -> str:
    terms = pretty_list(map(string, selection.query.terms), "        ")
    documents = pretty_list(
        (
            f'{{\n      "id": {string(d.id)},\n      "version": {string(d.version)},\n      "content": {string(d.content)}'
            f',\n      "score": {decimal(d.score)},\n      "tokens": {d.tokens},\n      "why": {{\n        "query_terms": {terms}'
            f',\n        "term_matches": {d.term_matches},\n        "total_words": {d.total_words}\n      }}\n    }}'
            for d in selection.documents
        ),
        "  ",
    )
    return (
        f'{{\n  "documents": {documents},\n  "selection": {{\n    "query": {string(selection.query.text)}'
        f',\n    "budget": {selection.budget},\n    "tokens_used": {selection.tokens_used}'
        f',\n    "documents_considered": {selection.documents_considered}'
        f',\n    "documents_selected": {len(selection.documents)}'
        f',\n    "documents_excluded_by_budget": {selection.documents_excluded_by_budget}\n  }}\n}}\n'
    )
