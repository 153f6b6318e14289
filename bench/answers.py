"""Questions as people ask them: `python -m bench answers FOLDER [--data DIR] [--questions FILE] [--misses] [--out FILE]`.

FOLDER holds the manuals that the questions are about: by default those of `questions/manuals.jsonl`, over the first folder that `real_folder` makes.
Each line of a file of questions has the question, short phrases of the sentences that answer it, and the names of files that do, without ending.
Questions were written before anything was searched; every second line was left alone while the program was changed. `--data` keeps the index, or has it already. Counted are:
the first snippet shows an answer, one of the first three does, and where the first file that answers stands (mean reciprocal rank of ten).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smart_context.api import App
from smart_context.find.model import SearchItem, SearchRequest
from smart_context.settings import config

_MANUALS = Path(__file__).parent / "questions" / "manuals.jsonl"
_MARKUP = str.maketrans("’“”`*", '\'""  ')


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: the place of the first snippet with an answer, and of the first file that answers; 0 for none of ten."""

    question: str
    snippet: int
    file: int
    is_held_out: bool


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench answers", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="keep the index here, or ask the one that is there")
    parser.add_argument("--questions", type=Path, default=_MANUALS)
    parser.add_argument("--misses", action="store_true", help="show what was not answered by the first snippet")
    parser.add_argument("--out", type=Path, help="write the raw results here")
    args = parser.parse_args(argv)
    folder = args.folder.resolve()
    rows = [json.loads(line) for line in args.questions.read_text(encoding="utf-8").splitlines()]
    with contextlib.ExitStack() as stack:
        data = args.data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="answers-"))) / "data"
        is_new = not data.exists()
        bare = config.load({}, {"HOME": str(data)})
        off = replace(bare.semantic, enabled=False)
        with App(replace(bare, roots=(str(folder),), data_dir=str(data), engine="", semantic=off)) as app:
            if is_new:
                app.index_folder(str(folder), on_progress=lambda _: None)
            asked = [_ask(app, row, number, shows=args.misses) for number, row in enumerate(rows)]
    for name, some in (("all", asked), ("held out", [one for one in asked if one.is_held_out])):
        print(f"{name:9} {_told(some)}")
    if args.out:
        raw = [{"question": a.question, "snippet": a.snippet, "file": a.file, "held_out": a.is_held_out} for a in asked]
        args.out.write_text(json.dumps(raw, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _ask(app: App, row: dict[str, Any], number: int, *, shows: bool) -> Asked:
    items = app.find(SearchRequest(row["question"], k=10)).items
    answers = [_plain(answer) for answer in row["answers"]]
    snippet = _first([any(answer in _plain(item.snippet) for answer in answers) for item in items])
    file = _first(
        [Path(item.path).name.split(".")[0] in {Path(d).name.split(".")[0] for d in row["documents"]} for item in items]
    )
    if shows and snippet != 1:
        _show(row["question"], items, snippet, file)
    return Asked(row["question"], snippet, file, number % 2 == 1)


def _first(flags: Sequence[bool]) -> int:
    return next((place for place, flag in enumerate(flags, 1) if flag), 0)


def _plain(text: str) -> str:
    return " ".join(text.translate(_MARKUP).lower().split())


def _show(question: str, items: Sequence[SearchItem], snippet: int, file: int) -> None:
    print(f"{question}\n    first snippet with an answer {snippet or '–'}, first file {file or '–'}")
    for item in items[:1]:
        print(f"    {Path(item.path).name} {item.pointer}: {item.snippet}")


def _told(asked: Sequence[Asked]) -> str:
    first, three = (sum(0 < one.snippet <= most for one in asked) for most in (1, 3))
    rank = sum(1 / one.file for one in asked if one.file) / len(asked)
    return (
        f"{len(asked)} questions: answered by the first snippet {first}, by one of three {three}; "
        f"file first {sum(one.file == 1 for one in asked)}, MRR {rank:.3f}"
    )
