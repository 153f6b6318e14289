"""Summaries: how often the offline one holds the answering sentence, what it costs, and what a model's costs beside the model.

`python -m bench summaries [--misses]`
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from smart_context.llm import compose, extractive, summarize
from smart_context.llm.model import Snippet
from smart_context.redact import Redactor
from smart_context.settings.tables import LlmSettings

_TESTS = Path(__file__).resolve().parent.parent / "tests"


def main(argv: list[str]) -> None:
    sys.path.insert(0, str(_TESTS))
    questions = import_module("summary_questions").load()
    print(f"{len(questions)} questions over 20 snippets each\n\ntokens   sentences   holds the answer")
    for most in (60, 100, 150, 400):
        held, lines = 0, 0
        for question in questions:
            told = compose.extract(
                extractive.pick(question.text, question.snippets), question.snippets, "bullets", most
            )
            held += question.answer in told
            lines += told.count("\n- ") + told.startswith("- ")
            if "--misses" in argv and question.answer not in told:
                print(f"    missed: {question.text} ({question.answer})")
        print(f"{most:>6}   {lines / len(questions):>9.1f}   {held / len(questions):>7.0%}")
    _unanswered(questions)
    offline = [_cpu(question.text, list(question.snippets), LlmSettings()) for question in questions]
    print(
        f"\noffline, 20 snippets, redaction included: {_middle(offline):.1f} ms CPU median, {max(offline):.1f} ms most"
    )
    _with_model(questions)


def _unanswered(questions: list[Any]) -> None:
    """Ask each question over its own document, and over the others alone, which do not answer it."""
    first = said = 0
    for question in questions:
        picked = extractive.pick(question.text, question.snippets)
        first += bool(picked) and question.answer in picked[0].text
        (own,) = {snippet.path for snippet in question.snippets if question.answer in snippet.text}
        said += not extractive.pick(question.text, [one for one in question.snippets if one.path != own])
    print(f"\nthe answering sentence comes first: {first}; said not to be answered, over other documents: {said}")


def _with_model(questions: list[Any]) -> None:
    chat = import_module("chat_server")
    os.environ["OPENAI_API_KEY"] = "bench"
    with chat.serving(chat.answer("Yes [1].", {"prompt_tokens": 1, "completion_tokens": 1})) as server:
        given = LlmSettings(provider="openai", base_url=server.url, calls_per_day=0)
        asked = [(question.text, list(question.snippets)) for question in questions]
        _cpu(*asked[0], given)  # the package is imported here
        took = [_cpu(*one, given) for one in asked]
    print(
        f"with a model that answers at once, the test's server included: {_middle(took):.1f} ms CPU median, {max(took):.1f} ms most"
    )


def _cpu(query: str, snippets: list[Snippet], given: LlmSettings) -> float:
    with tempfile.TemporaryDirectory() as folder:
        before = time.process_time()
        summarize.results(
            query, snippets, settings=given, redactor=Redactor(), data_dir=Path(folder), stop=lambda: None
        )
        return 1000 * (time.process_time() - before)


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
