"""Context v0 once more: slow, obvious, and written from its description alone. Shares no line with the package.

It lower-cases with Python, so it is right for characters that all supported Pythons know alike: `ALPHABET` has such ones.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import numpy as np

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
ALPHABET = (
    "abcXYZ019.,:'-_\"\\/<>&"
    + WHITE_SPACE
    + "\x00\x01\x1b\x1c\x1d\x1e\x1f\x7f\x80\x9f\xad\u200b\u200d\ufeff"
    + ("éÉßẞİıΣσςΑαΔΟ\u0301\u0308ǅﬁЖж漢字😀𝒳\U00010400\U0010ffff\ufffe\ue000")
)


def words(text: str) -> list[str]:
    found, word = [], ""
    for letter in text.lower() + " ":
        if letter not in WHITE_SPACE:
            word += letter
        elif word:
            found.append(word)
            word = ""
    return found


def document_id(path: str) -> str:
    path = path.replace("\\", "/")
    while path[:2] == "./":
        path = path[2:]
    return path.lower()


def version(content: str) -> str:
    return "sha256:" + hashlib.sha256(content.encode("utf-8")).hexdigest()


def cache_version(sources: dict[str, str]) -> str:
    text = '{"version":"1","hash_algorithm":"sha256"}'
    for one in sorted(sources, key=lambda path: document_id(path).encode("utf-8")):
        text += document_id(one) + ":" + version(sources[one])
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def resolve(sources: dict[str, str], query: str, budget: int) -> bytes:
    """The bytes of `context resolve` on a cache of these sources (path → content)."""
    terms = words(query)
    scored = []
    for path, content in sources.items():
        found = words(content)
        hits = len([word for word in found if word in terms])
        score = np.float32(hits) / np.float32(len(found)) if found else np.float32(0)
        scored.append((-float(score), document_id(path).encode("utf-8"), path, score, hits, len(found)))
    chosen, used = [], 0
    for _, _, path, score, hits, total in sorted(scored):
        tokens = math.ceil(len(sources[path].encode("utf-8")) / 4)
        if budget > 0 and used + tokens <= budget:
            used += tokens
            why = {"query_terms": terms, "term_matches": hits, "total_words": total}
            head = {"id": document_id(path), "version": version(sources[path]), "content": sources[path]}
            text = _json(head)[:-1] + ',"score":' + number(score) + f',"tokens":{tokens},"why":' + _json(why) + "}"
            chosen.append(text)
    about = {
        "query": query,
        "budget": budget,
        "tokens_used": used,
        "documents_considered": len(sources),
        "documents_selected": len(chosen),
        "documents_excluded_by_budget": len(sources) - len(chosen),
    }
    return ('{"documents":[' + ",".join(chosen) + '],"selection":' + _json(about) + "}\n").encode("utf-8")


def number(value: np.float32) -> str:
    """A float32 from 0 to 1 as the format has it, by numpy's own shortest digits."""
    if value == 0:
        return "0.0"
    if value >= np.float32(1e-6):
        return np.format_float_positional(value, unique=True, trim="0")
    return np.format_float_scientific(value, unique=True, trim="-", exp_digits=1)


def write_sources(root: Path, sources: dict[str, str]) -> Path:
    root.mkdir(parents=True)
    for path, content in sources.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode("utf-8"))
    return root


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
