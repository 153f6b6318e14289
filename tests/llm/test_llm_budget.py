"""The day's budget and the breaker: kept across processes, whatever happens to their file."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from smart_context.errors import LlmUpstream, RateLimited, StorageFailed
from smart_context.llm import budget

NOON = 1_700_000_000 - 1_700_000_000 % 86_400 + 43_200.0


def enter(folder: Path, now: float = NOON, *, calls: int = 3, tokens: int = 0, who: str = "p") -> None:
    budget.enter(folder, who, calls, tokens, now)


def test_calls_of_a_day_are_bounded_and_the_next_day_begins_anew(tmp_path):
    for _ in range(3):
        enter(tmp_path)
    with pytest.raises(RateLimited) as caught:
        enter(tmp_path)
    assert caught.value.retry_after == 43_200
    enter(tmp_path, NOON + 43_200)
    assert budget.today(tmp_path, "p", NOON + 43_200).calls == 1


def test_tokens_of_a_day_are_bounded(tmp_path):
    enter(tmp_path, calls=0, tokens=100)
    budget.spent(tmp_path, "p", 150, NOON)
    with pytest.raises(RateLimited):
        enter(tmp_path, calls=0, tokens=100)


def test_no_limit_is_none(tmp_path):
    for _ in range(20):
        enter(tmp_path, calls=0)


def _use(folder: str, allowed: object) -> None:
    for _ in range(20):
        try:
            budget.enter(Path(folder), "p", 25, 0, NOON)
        except RateLimited:
            continue
        allowed.put(1)  # type: ignore[attr-defined]


def test_processes_share_the_budget(tmp_path):
    context = multiprocessing.get_context("spawn")
    allowed = context.SimpleQueue()
    processes = [context.Process(target=_use, args=(str(tmp_path), allowed)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    count = 0
    while not allowed.empty():
        count += allowed.get()
    assert count == 25


def test_a_dead_provider_is_left_alone_and_then_asked_once(tmp_path):
    for _ in range(5):
        enter(tmp_path, calls=0)
        budget.failed(tmp_path, "p", NOON)
    with pytest.raises(LlmUpstream):
        enter(tmp_path, NOON + 59, calls=0)
    enter(tmp_path, NOON + 61, calls=0)
    budget.failed(tmp_path, "p", NOON + 61)
    with pytest.raises(LlmUpstream):
        enter(tmp_path, NOON + 61 + 119, calls=0)  # each rest is twice as long
    enter(tmp_path, NOON + 61 + 121, calls=0)
    budget.spent(tmp_path, "p", 10, NOON + 200)
    budget.failed(tmp_path, "p", NOON + 201)
    enter(tmp_path, NOON + 202, calls=0)  # one failure after a success is no reason to rest


def test_another_provider_is_not_blamed(tmp_path):
    for _ in range(5):
        budget.failed(tmp_path, "p", NOON)
    enter(tmp_path, who="q")


@pytest.mark.parametrize("content", [b"", b"garbage", b"[]", b'{"calls": "many", "rests_until": []}', b"\xff\xfe"])
def test_a_file_of_garbage_counts_as_none(tmp_path, content):
    (tmp_path / "llm-usage.json").write_bytes(content)
    enter(tmp_path)
    assert budget.today(tmp_path, "p", NOON).calls == 1


def test_where_nothing_can_be_counted_nothing_is_sent(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed):
        enter(tmp_path / "file")
