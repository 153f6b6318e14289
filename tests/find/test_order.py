"""The order of many matches, which are scored a tier at a time."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from searching import indexed
from smart_context.access.roots import Roots
from smart_context.engine.expression import Filters
from smart_context.find import fold, order, plan, query, search
from smart_context.find.model import SearchRequest


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ties_go_by_path_also_where_one_tier_of_matches_ends_and_the_next_begins(
    tree, tmp_path, monkeypatch, seed
) -> None:
    monkeypatch.setattr(order, "TIERS", (10, 40))
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 20)
    chance = random.Random(seed)
    words = ["harbour", "crane", "wharf", "tide", "rope"]
    files = {}
    for number in range(90):
        said = [chance.choice(words) for _ in range(chance.randint(1, 9))]
        files[f"{chance.randrange(10**6):06}-{number}.txt"] = " ".join([*said, *["and so on"] * chance.randint(0, 9)])
    with indexed(tree(files), tmp_path / "data") as folder:
        for query in ("harbour crane", "harbour OR wharf OR tide", "rope tide crane"):
            items = folder.page(query, 90).items
            placed = [(-item.score, item.path, item.pointer) for item in items]
            assert len(placed) > 40
            assert placed == sorted(placed)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_results_are_those_of_reading_every_match_where_a_file_has_many_and_has_copies_and_some_are_gone(
    tree, tmp_path, monkeypatch, seed
) -> None:
    monkeypatch.setattr(order, "TIERS", (30, 80))
    monkeypatch.setattr(order, "_ALL_AT_ONCE", 50)
    monkeypatch.setattr(order, "_MOST_ROWS", 3)
    chance = random.Random(seed)
    words = ["harbour", "crane", "wharf", "tide", "rope"]
    sections = [[" ".join(chance.choices(words, k=5)) for _ in range(chance.choice((1, 2, 40)))] for _ in range(12)]
    texts = ["\n\n".join(f"# {said}\n\n{said} and so on" for said in several) for several in sections]
    files = {f"{at}.md": text for at, text in enumerate([*texts, *texts[:4]])}
    with indexed(tree(files), tmp_path / "data") as folder:
        for gone in ("0.md", "7.md", "13.md"):  # one that has a copy, one that has none, a copy
            (folder.root / gone).unlink()
        record, view = folder.index.both()
        for asked in ("harbour crane", "harbour OR wharf OR tide", "rope tide crane"):
            planned = plan.make(query.parse(asked), view, asked)
            ordering = order.Ordering(record, view, planned, Filters(), (), lambda: None)
            every = list(ordering.best())
            of = [(-one.score, os.fsencode(one.file.path), one.segment.pointer, one.segment.seq) for one in every]
            assert of == sorted(of)
            assert len({one.segment.segment_id for one in every}) == len(every) == ordering.matches.count
            assert (
                max(Counter(score for score, *_ in of).values()) > order._MOST_ROWS
            )  # ties that are read a few files at a time
            ranked = ordering._leading
            assert ranked
            assert ranked[3:20] == [ranked[at] for at in range(3, 20)]
            folds, times, wanted = fold.Folds(), Counter[int](), []
            for one in every:
                marks = fold.of_row(one.file)
                if Path(one.file.path).exists() and not folds.is_copy(marks):
                    folds.stand(marks)
                    times[one.file.file_id] += 1
                    wanted += [one] if times[one.file.file_id] <= search.A_FILE else []
            assert len(every) > 100 > len(wanted)
            for k in (3, 10, 100):
                request = SearchRequest(asked, k)
                page = search.find(
                    folder.index, request, redactor=None, stop=lambda: None, roots=Roots([str(folder.root)])
                )
                found = [(item.path, item.pointer, item.score) for item in page.items]
                assert found == [(one.file.path, one.segment.pointer, one.score) for one in wanted][:k]
