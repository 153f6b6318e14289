"""Turn a question into a query of the search language, with the filters it names.

In: a question in plain words.  Out: a `Rewritten`.
Always: a model's answer is used only if it keeps to the schema and the grammar; it is asked once to repair one that does not, and
then the rules that search itself reads questions by answer instead, and `notes` says so.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from smart_context.errors import BadRequest
from smart_context.llm import grammar, prompt, provider, sanitize
from smart_context.llm.model import Rewritten, Sample
from smart_context.model import Stop
from smart_context.redact import Redactor
from smart_context.settings.tables import LlmSettings

_MAX_TOKENS = 300
_MAX_NOTES = 500
_EXT = re.compile(r"\.[a-z0-9]{1,10}")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_MAX_FILTERS = 50
_EVERYTHING = "*"  # what filters alone are put to search as: an empty query is refused there
_KEYS = ("fts", "exts", "years", "notes")


def query(
    text: str,
    *,
    settings: LlmSettings,
    redactor: Redactor,
    data_dir: Path,
    stop: Stop,
    sample: Sample | None = None,
) -> Rewritten:
    """Rewrite a question.

    Raises: BadRequest, LlmUpstream, RateLimited.
    """
    if not text.strip():
        raise BadRequest("the query is empty", hint="ask in plain words")
    if not provider.is_there(settings, sample):
        return _by_rules(text, "read by rules, without a language model")
    asked = prompt.rewriting(text, redactor)
    messages = asked
    for _ in range(2):
        told = provider.ask(
            messages, _MAX_TOKENS, settings=settings, data_dir=data_dir, redactor=redactor, stop=stop, sample=sample
        )
        made = "it was cut off" if told.is_cut else _read(told.text)
        if isinstance(made, Rewritten):
            notes = sanitize.inert(redactor.clean(made.notes))
            return Rewritten(redactor.clean(made.fts), made.exts, made.years, notes)
        messages = prompt.repair(asked, made)
    return _by_rules(text, f"read by rules, because the language model's answer could not be used: {made}")


def _by_rules(text: str, notes: str) -> Rewritten:
    from smart_context.find import filters

    read = filters.read(text)
    return Rewritten(read.text or _EVERYTHING, read.exts, read.years, notes)


def _read(answer: str) -> Rewritten | str:
    """Read a model's answer; a text says what is wrong with it, in words of ours."""
    found = re.search(r"\{.*\}", answer, re.DOTALL)
    try:
        made = json.loads(found[0]) if found else None
    except (ValueError, RecursionError):
        made = None
    if not isinstance(made, dict):
        return "it holds no JSON object"
    if isinstance(filters := made.get("filters"), dict) and not {"exts", "years"} & set(made):
        made = {key: value for key, value in made.items() if key != "filters"} | filters  # as the tool itself answers
    if not isinstance(made.get("fts"), str):
        return "fts is not a string"
    for key, pattern in (("exts", _EXT), ("years", _YEAR)):
        values = made.get(key, [])
        if not isinstance(values, list) or len(values) > _MAX_FILTERS:
            return f"{key} is not a short list"
        if not all(isinstance(value, str) and pattern.fullmatch(value) for value in values):
            return f"{key} holds something else than {'extensions' if key == 'exts' else 'years'}"
    made.pop("mcp_version", None)
    if not isinstance(made.get("notes", ""), str) or not set(made) <= set(_KEYS):
        return "it has other keys than fts, exts, years and notes"
    fts = " ".join(made["fts"].split())
    has_filters = bool(made.get("exts") or made.get("years"))
    if wrong := grammar.problem(fts) if fts or not has_filters else "":
        return wrong
    notes = " ".join(made.get("notes", "").split())[:_MAX_NOTES]
    return Rewritten(fts or _EVERYTHING, _unique(made.get("exts", [])), _unique(made.get("years", [])), notes)


def _unique(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
