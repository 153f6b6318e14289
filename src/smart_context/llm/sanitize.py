"""Check what a model wrote before it is shown.

In: a model's answer and how many snippets it was given.  Out: text that is only text.
Always: no citation of a snippet that was not given stays; nothing in it is rendered as a link, an image or markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

# Characters that move the cursor or turn the direction of writing.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_FENCE = re.compile(r"\A\s*```[a-z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_CITED = re.compile(r"\s?(?:\[|【)\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*(?:\]|】)(?!\()")
_PART = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
# A list of sources of the model's own: ours follows the text, with the names that the snippets really have.
_OWN_SOURCES = re.compile(
    r"\n[\s*_#]*(?:sources?|references|citations|quellen|fuentes)[\s*_:]*\n(?:\s*(?:[-*]\s+)?(?:\[|【)?\d{1,3}(?:\]|】|[.):])[^\n]*(?:\n|\Z))+\s*\Z",
    re.IGNORECASE,
)
_INERT = (
    (re.compile(r"!(?=\[)"), ""),  # an image
    (re.compile(r"\](?=[(\[:])"), "] "),  # a link, or where one leads
    (re.compile(r"\b([a-z][a-z0-9+.-]{0,30}):(?=//)", re.IGNORECASE), r"\1[:]"),
    (re.compile(r"\b(mailto|xmpp|javascript|data|vbscript):(?=\S)", re.IGNORECASE), r"\1[:]"),
    (re.compile(r"\bwww\.(?=\w)", re.IGNORECASE), "www[.]"),
    (re.compile(r"<(?=[a-z/!?])", re.IGNORECASE), "< "),  # markup
)


def summary(text: str, given: int, clean: Callable[[str], str]) -> str:
    """Return a summary that cites none but the snippets from 1 to `given`, cleaned, as plain text."""
    text = clean(_CONTROL.sub("", _from_json(text)))
    text = _OWN_SOURCES.sub("", "\n" + text)[1:]
    # Cleaned once more: what was taken out may have stood in the middle of a secret.
    return clean(inert(_CITED.sub(lambda found: _kept(found, given), text))).strip()


def inert(text: str) -> str:
    """Return the text with every link, image and tag broken, so that no reader follows or loads one."""
    for pattern, instead in _INERT:
        text = pattern.sub(instead, text)
    return text


def _from_json(text: str) -> str:
    """Take the summary out of an answer in the shape that the tool itself gives; any other text is the summary."""
    fenced = _FENCE.match(text)
    body = fenced[1] if fenced else text
    if not body.lstrip().startswith("{"):
        return text
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return text
    found = told.get("summary") if isinstance(told, dict) else None
    if isinstance(found, list) and all(isinstance(line, str) for line in found):
        return "\n".join(f"- {line}" for line in found)
    return found if isinstance(found, str) else text


def _kept(found: re.Match[str], given: int) -> str:
    """A citation with those of its numbers that exist; nothing if none does."""
    kept: list[str] = []
    for part in _PART.finditer(found[1]):
        first, last = int(part[1]), int(part[2] or part[1])
        kept += [str(number) for number in range(first, min(last, given) + 1) if 1 <= number <= given]
    lead = found[0][:1] if found[0][:1].isspace() else ""
    return f"{lead}[{', '.join(kept)}]" if kept else ""
