"""Answers to what many files match equally well: the order in which these came decides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from searching import indexed, no_stop
from smart_context import engine, redact
from smart_context.engine.model import NewFile
from smart_context.engine.port import Index
from smart_context.find.model import SearchPage, SearchRequest
from smart_context.find.search import find
from smart_context.model import Segment

FILES = 400


def answers(folder: Path, numbers: list[int]) -> list[SearchPage]:
    """Files of one and of five segments that all say the same, in some order; every file is a copy of the one ten after it."""
    with engine.at(folder).open(writable=True) as index:
        for count, number in enumerate(numbers):
            put(index, number)
            if count % 90 == 60:
                index.commit()
        index.commit()
        index.refresh()
        requests = [SearchRequest("harbour"), SearchRequest("harbour wharf"), SearchRequest("harbour -crane")]
        requests += [SearchRequest("-crane"), SearchRequest("left", 50), SearchRequest("harbour", 10, 300)]
        return [find(index, request, redactor=redact.Redactor(), stop=no_stop) for request in requests]


def put(index: Index, number: int) -> None:
    side = "left" if number < 120 else "right"
    texts = [f"the harbour and its wharf, {side}"] * (5 if number % 2 else 1)
    segments = [Segment(seq, f"lines {seq + 1}-{seq + 1}", "", text) for seq, text in enumerate(texts)]
    text = b"%d" % (number % 10 + number // 20 * 10)
    new = NewFile(f"/r/{number:04}.txt", "/r", "text", 1, 5, "ab", "ok", same_text=text)
    index.put(new, segments, (), "2024-05-06T07:08:09Z")


@pytest.mark.unmeasured
def test_the_order_in_which_files_come_changes_neither_totals_nor_the_copies_that_are_named(tmp_path: Path) -> None:
    upward, downward = list(range(FILES)), list(range(FILES))[::-1]
    first = answers(tmp_path / "first", upward)
    assert first == answers(tmp_path / "second", downward)
    assert first == answers(tmp_path / "third", upward[1::2] + upward[::2])
    assert any(item.also for item in first[0].items)


SENTENCE = "蒋庆，字勿恤，号盘山叟，中国当代儒学家"
# What makes one or another word of the sentence the commonest where it is indexed.
COMMONER = [[], ["蒋庆"], ["字勿恤"], ["盘山"], ["号盘", "当代"], ["中国", "儒学家"]]


@pytest.mark.parametrize("common", COMMONER, ids=" ".join)
def test_a_sentence_of_several_runs_is_found_word_for_word_however_common_its_words_are(tree, tmp_path, common):
    texts = {"a.txt": f"题记。{SENTENCE}。生于贵阳。", **{f"{n}.txt": "、".join(common) + f" {n}" for n in range(40)}}
    with indexed(tree(texts).resolve(), tmp_path / "data") as searched:
        [first, *_] = searched.page(SENTENCE).items
        assert (first.path.rpartition("/")[2], first.why()[-1]) == ("a.txt", "word after word: 0.70 of the rest")
        assert searched.names(f'"{SENTENCE}"') == ["a.txt"]
        assert searched.names('"勿恤，号盘山"') == ["a.txt"]
        assert searched.names('"勿恤，盘山"') == []


@pytest.mark.parametrize("common", [[], ["open"], ["source"], ["fire"], ["place", "open source"]], ids=" ".join)
def test_names_of_several_words_are_near_however_common_their_words_are(tree, tmp_path, common):
    texts = {
        "near.txt": "an open-source tool beside the old fire-place",
        "far.txt": "an open-source tool and many more words that stand between it and the fire-place",
        **{f"{n}.txt": " ".join(common) + f" x{n}" for n in range(40)},
    }
    with indexed(tree(texts).resolve(), tmp_path / "data") as searched:
        assert searched.names("open-source NEAR/4 fire-place") == ["near.txt"]
        assert searched.names("fire-place NEAR/4 open-source") == ["near.txt"]
        assert set(searched.names("open-source NEAR/20 fire-place")) == {"near.txt", "far.txt"}
