"""The questions of `summaries/`, each with the twenty snippets that it is asked over."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from smart_context.llm.model import Snippet

_HERE = Path(__file__).with_name("summaries")
_SNIPPETS = 20


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answer: str
    snippets: tuple[Snippet, ...]


def load() -> list[Question]:
    paragraphs = [
        Snippet(f"/docs/{path.name}", text, f"paragraphs {place}-{place}")
        for path in sorted((_HERE / "documents").glob("*.txt"))
        for place, text in enumerate(path.read_text(encoding="utf-8").strip().split("\n\n"), 1)
    ]
    lines = (_HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [_question(json.loads(line), paragraphs) for line in lines]


def _question(row: dict[str, str], paragraphs: list[Snippet]) -> Question:
    own = [one for one in paragraphs if one.path.endswith(row["document"])]
    words = set(re.findall(r"\w+", row["question"].lower()))
    others = [one for one in paragraphs if one not in own]
    others.sort(key=lambda one: -len(words & set(re.findall(r"\w+", one.text.lower()))))
    rest = others[: _SNIPPETS - len(own)]
    # Distractors stand before and after, so that the order does not give the answer away.
    return Question(row["question"], row["answer"], (*rest[::2], *own, *rest[1::2]))
