"""Questions as people ask them: `python -m bench answers FOLDER [--data DIR] [--questions FILE] [--model DIR] [--misses] [--out FILE]`.

FOLDER holds the manuals that the questions are about: by default those of `questions/manuals.jsonl`, over the first folder that `real_folder` makes.
Each line of a file of questions has the question, short phrases of the sentences that answer it, and the names of files that do, without ending.
Questions were written before anything was searched; every second line of the manuals' was left alone while the program was changed. `questions/passages.jsonl` asks what passages answer
that were drawn from the first folder and from the corpus of test files (`real_folder --also`), `questions/imagined.jsonl` what people may want to know of the manuals, `questions/fresh.jsonl`
15 more of each kind; all three are asked over both folders. `--data` keeps the index, or has it already. With `--model`, texts are ranked by meaning
too; vectors that are missing are made first, which takes a minute for some 1,500 segments. Counted are:

found: where the first result stands that is from a file which answers, or from a passage that has an answer (of ten, and the mean reciprocal rank);
told: of those, how many show an answer in that result's snippet. That is what the snippet is answerable for, wherever the result stands;
passage: where the first result stands whose passage has an answer, and how many of these show it: what cutting a snippet out of the passage loses;
first: the snippet of the very first result shows an answer; three: one of the first three does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from smart_context.api import App
from smart_context.find.model import SearchItem, SearchRequest
from smart_context.settings import config

_MANUALS = Path(__file__).parent / "questions" / "manuals.jsonl"
_MARKUP = str.maketrans("’“”`*", '\'""  ')


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: the places of the first result of a file that answers, of the first passage and of the first snippet that do, 0 for none
    of ten; and whether the first two show the answer."""

    question: str
    held_out: bool
    found: int
    told: bool
    passage: int
    passage_told: bool
    snippet: int


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench answers", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="keep the index here, or ask the one that is there")
    parser.add_argument("--questions", type=Path, default=_MANUALS)
    parser.add_argument("--model", type=Path, help="rank by meaning too, with the model in this folder")
    parser.add_argument("--misses", action="store_true", help="show what was not answered by the first snippet")
    parser.add_argument("--out", type=Path, help="write the raw results here")
    args = parser.parse_args(argv)
    folder = args.folder.resolve()
    rows = [json.loads(line) for line in args.questions.read_text(encoding="utf-8").splitlines()]
    with contextlib.ExitStack() as stack:
        data = args.data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="answers-"))) / "data"
        is_new = not data.exists()
        bare = config.load({}, {"HOME": str(data)})
        meaning = replace(bare.semantic, enabled=bool(args.model), model_dir=str(args.model or ""))
        with App(replace(bare, roots=(str(folder),), data_dir=str(data), engine="", semantic=meaning)) as app:
            if is_new:
                app.index_folder(str(folder), on_progress=lambda _: None)
            if args.model:
                app.embed(on_progress=lambda _: None)
            asked = [_ask(app, row, number, shows=args.misses) for number, row in enumerate(rows)]
    print(f"{'all':12} {_told(asked)}")
    for kind in dict.fromkeys(row["kind"] for row in rows if "kind" in row):
        print(f"{kind:12} {_told([one for one, row in zip(asked, rows, strict=True) if row.get('kind') == kind])}")
    if args.questions == _MANUALS:
        print(f"{'developed on':12} {_told([one for one in asked if not one.held_out])}")
        print(f"{'held out':12} {_told([one for one in asked if one.held_out])}")
    if args.out:
        args.out.write_text(
            json.dumps([asdict(one) for one in asked], indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def _ask(app: App, row: dict[str, Any], number: int, *, shows: bool) -> Asked:
    items = app.find(SearchRequest(row["question"], k=10)).items
    answers = [_plain(answer) for answer in row["answers"]]
    snippets = [_has(item.snippet, answers) for item in items]
    passages = [
        has or _has(app.read_file(i.path, i.pointer)[1], answers) for i, has in zip(items, snippets, strict=True)
    ]
    found = _first([has or _is_of(i.path, row["documents"]) for i, has in zip(items, passages, strict=True)])
    passage, snippet = _first(passages), _first(snippets)
    if shows and snippet != 1:
        _show(row["question"], items, found, passage, snippet)
    told, passage_told = (bool(place) and snippets[place - 1] for place in (found, passage))
    return Asked(row["question"], number % 2 == 1, found, told, passage, passage_told, snippet)


def _is_of(path: str, documents: Sequence[str]) -> bool:
    return Path(path).name.startswith(tuple(f"{name}." for name in documents))


def _has(text: str, answers: Sequence[str]) -> bool:
    plain = _plain(text)
    return any(answer in plain for answer in answers)


def _first(flags: Sequence[bool]) -> int:
    return next((place for place, flag in enumerate(flags, 1) if flag), 0)


def _plain(text: str) -> str:
    return " ".join(text.translate(_MARKUP).lower().split())


def _show(question: str, items: Sequence[SearchItem], *places: int) -> None:
    file, passage, snippet = (place or "–" for place in places)
    print(f"{question}\n    first file that answers {file}, passage {passage}, snippet {snippet}")
    for place in sorted({1, *(place for place in places[:2] if place)}) if items else ():
        item = items[place - 1]
        print(f"    {place} {Path(item.path).name} {item.pointer}: {item.snippet}")


def _told(asked: Sequence[Asked]) -> str:
    found, passages = [one for one in asked if one.found], [one for one in asked if one.passage]
    five, rank = sum(one.found <= 5 for one in found), sum(1 / one.found for one in found) / len(asked)
    return (
        f"{len(asked)} questions: found first {sum(one.found == 1 for one in found)}, in five {five}, in ten {len(found)}, MRR {rank:.3f}; "
        f"told by its snippet {sum(one.told for one in found)} of {len(found)}; passage in ten {len(passages)}, "
        f"MRR {sum(1 / one.passage for one in passages) / len(asked):.3f}, shown by its snippet {sum(one.passage_told for one in passages)}; "
        f"answered by the first snippet {sum(one.snippet == 1 for one in asked)}, by one of three {sum(0 < one.snippet <= 3 for one in asked)}"
    )
