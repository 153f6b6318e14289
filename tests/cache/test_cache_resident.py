"""Caches held in memory: the answers of a cold run, also right after any change, and memory within its bound."""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import naive
from smart_context.cache import build, change, folder, resident, resolve, verify
from smart_context.cache.resident import Residents
from smart_context.errors import CacheInvalid, CallTimeout, InvalidBudget, InvalidQuery

CREATED_AT = "2026-01-01T00:00:00Z"
SOURCES = {f"{n}.md": f"alpha {'beta ' * n}gamma{n}" for n in range(12)}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    build.cache(naive.write_sources(tmp_path / "sources", SOURCES), tmp_path / "cache", created_at=CREATED_AT)
    return tmp_path / "cache"


@pytest.fixture
def residents() -> Iterator[Residents]:
    held = Residents(64 << 20)
    yield held
    held.close()


def test_later_calls_read_only_what_is_selected(
    cache: Path, residents: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    original = folder.Folder.read_document
    monkeypatch.setattr(folder.Folder, "read_document", lambda self, file: (read.append(file), original(self, file))[1])
    expected = naive.resolve(SOURCES, "gamma3", 8)
    assert [residents.resolve(cache, "gamma3", 8), len(read) > len(SOURCES)] == [expected, True]
    read.clear()
    assert residents.resolve(cache, "gamma3", 8) == expected
    assert len(read) == expected.count(b'"content"') < len(SOURCES)


@pytest.mark.parametrize("events", [True, False], ids=["events", "stamps"])
@pytest.mark.parametrize(
    "how", ["in place", "replaced", "rebuilt", "moved away and another put there", "mode", "index written anew"]
)
def test_a_change_is_noticed_by_the_next_call(
    how: str, events: bool, cache: Path, residents: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not events:
        monkeypatch.setattr(change, "watch", lambda opened: None)
    _trust_all(monkeypatch)
    before = naive.resolve(SOURCES, "alpha", 20)
    assert residents.resolve(cache, "alpha", 20) == residents.resolve(cache, "alpha", 20) == before
    assert len(residents._held) == 1
    other = {"new.md": "alpha alpha"}
    document = min((cache / "documents").iterdir())
    if how == "in place":
        with document.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"]")
    elif how == "replaced":
        document.with_suffix(".tmp").write_bytes(b"{}")
        document.with_suffix(".tmp").rename(document)
    elif how == "rebuilt":
        build.cache(naive.write_sources(cache.parent / "other", other), cache, created_at=CREATED_AT, force=True)
    elif how == "moved away and another put there":
        build.cache(naive.write_sources(cache.parent / "other", other), cache.parent / "second", created_at=CREATED_AT)
        cache.rename(cache.parent / "old")
        (cache.parent / "second").rename(cache)
    elif how == "index written anew":
        (cache / "index.json").write_bytes((cache / "index.json").read_bytes() + b" ")
    else:
        document.chmod(0o600)
    if how in {"in place", "replaced"}:
        with pytest.raises(CacheInvalid):
            residents.resolve(cache, "alpha", 20)
    else:
        now = other if how in {"rebuilt", "moved away and another put there"} else SOURCES
        assert residents.resolve(cache, "alpha", 20) == naive.resolve(now, "alpha", 20)


def test_files_beside_the_manifest_do_not_matter(cache: Path, residents: Residents) -> None:
    residents.resolve(cache, "alpha", 20)
    held = residents._held[str(cache)]
    (cache / "notes.txt").write_text("x")
    (cache / "notes.txt").unlink()
    assert residents.resolve(cache, "alpha", 20) == naive.resolve(SOURCES, "alpha", 20)
    assert residents._held[str(cache)] is held


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_write_through_another_name_of_a_member_is_noticed_by_the_next_call(
    when: str, cache: Path, residents: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = min((cache / "documents").iterdir())
    if when == "before":
        monkeypatch.setattr(resident, "_FEW", 0)  # however many there are
        os.link(document, cache.parent / "elsewhere")
    _trust_all(monkeypatch)
    residents.resolve(cache, "alpha", 20)
    if when == "after":
        os.link(document, cache.parent / "elsewhere")
    assert residents.resolve(cache, "alpha", 20) == naive.resolve(SOURCES, "alpha", 20)
    with (cache.parent / "elsewhere").open("r+b") as file:  # no event of the cache's folders tells of this
        file.write(b"[")
    with pytest.raises(CacheInvalid):
        residents.resolve(cache, "alpha", 20)


def test_a_write_through_a_mapping_is_found_by_the_sweep(
    cache: Path, residents: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "_FEW", 0)
    document = min((cache / "documents").iterdir())
    with document.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        os.utime(document, ns=(0, 0))
        residents.resolve(cache, "alpha", 20)
        mapped[:1] = b"["
        mapped.flush()
        for held in residents._held.values():
            held.sweep(100)
        with pytest.raises(CacheInvalid):
            residents.resolve(cache, "alpha", 20)


def test_the_sweep_goes_round_and_finds_nothing_in_a_cache_at_rest(cache: Path, residents: Residents) -> None:
    residents.resolve(cache, "alpha", 20)
    held = residents._held[str(cache)]
    for _ in range(2 * len(SOURCES)):
        held.sweep(5)
    assert residents.resolve(cache, "alpha", 20) == naive.resolve(SOURCES, "alpha", 20)
    assert residents._held[str(cache)] is held


def test_young_stamps_are_not_trusted(cache: Path, residents: Residents, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change, "watch", lambda opened: None)
    assert residents.resolve(cache, "alpha", 20) == naive.resolve(SOURCES, "alpha", 20)
    assert not residents._held  # built just now: it will be read again
    _trust_all(monkeypatch)
    residents.resolve(cache, "alpha", 20)
    assert len(residents._held) == 1


def test_what_was_young_when_it_was_verified_is_read_again_once_its_stamps_can_be_trusted(
    cache: Path, residents: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = next(path for path in (cache / "documents").iterdir() if "gamma11" in path.read_text())
    query, budget = "gamma3", 8  # for which that document is not read again
    with document.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:1] = mapped[:1]  # the page is being written to: what follows changes no stamp, and makes no event
        answer = residents.resolve(cache, query, budget)
        held = residents._held[str(cache)]
        mapped[-1:] = b"]"
        assert residents.resolve(cache, query, budget) == answer
        _trust_all(monkeypatch)
        held.sweep(100)
        with pytest.raises(CacheInvalid):
            residents.resolve(cache, query, budget)


def test_a_cache_that_changes_while_it_is_loaded_is_not_held(cache: Path, residents: Residents) -> None:
    steps = iter(range(100))

    def touch() -> None:
        if next(steps) == 5:
            (cache / "index.json").touch()

    assert residents.resolve(cache, "alpha", 20, stop=touch) == naive.resolve(SOURCES, "alpha", 20)
    assert not residents._held


def test_memory_is_bounded_and_the_least_recently_used_goes(tmp_path: Path) -> None:
    caches = []
    for number in range(4):
        sources = naive.write_sources(tmp_path / f"sources{number}", SOURCES)
        build.cache(sources, tmp_path / f"cache{number}", created_at=CREATED_AT)
        caches.append(tmp_path / f"cache{number}")
    one = Residents(64 << 20)
    one.resolve(caches[0], "", 0)
    weight = one._held[str(caches[0])].nbytes
    one.close()
    held = Residents(3 * weight)
    for number in (0, 1, 2, 0, 3):
        assert held.resolve(caches[number], "alpha", 9) == naive.resolve(SOURCES, "alpha", 9)
    assert list(held._held) == [str(caches[number]) for number in (2, 0, 3)]
    held.close()
    assert not held._held


def test_a_cache_beyond_the_bound_is_resolved_cold_each_time(cache: Path) -> None:
    small = Residents(100)
    for _ in range(3):
        assert small.resolve(cache, "alpha", 9) == naive.resolve(SOURCES, "alpha", 9)
    assert not small._held
    small.close()


def test_a_cache_with_a_document_too_large_to_count_is_resolved_cold_each_time(
    cache: Path, residents: Residents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "_LARGEST_DOCUMENT", 40)
    for _ in range(2):
        assert residents.resolve(cache, "alpha", 99) == naive.resolve(SOURCES, "alpha", 99)
    assert not residents._held


def test_documents_in_folders_are_resolved_cold(cache: Path, residents: Residents) -> None:
    (cache / "documents" / "sub").mkdir()
    name = min(path.name for path in (cache / "documents").iterdir())
    (cache / "documents" / name).rename(cache / "documents" / "sub" / name)
    for member in ("manifest.json", "index.json"):
        text = (cache / member).read_text().replace(f"documents/{name}", f"documents/sub/{name}")
        (cache / member).write_text(text)
    assert verify.cache(cache).document_count == len(SOURCES)
    for _ in range(2):
        assert residents.resolve(cache, "alpha", 99) == naive.resolve(SOURCES, "alpha", 99)
    (cache / "documents" / "sub" / "extra").touch()
    with pytest.raises(CacheInvalid):
        residents.resolve(cache, "alpha", 99)


def test_a_call_that_is_stopped_raises_and_the_next_one_answers(cache: Path, residents: Residents) -> None:
    def stop() -> None:
        raise CallTimeout("too late")

    with pytest.raises(CallTimeout):
        residents.resolve(cache, "alpha", 20, stop=stop)
    assert residents.resolve(cache, "alpha", 20) == naive.resolve(SOURCES, "alpha", 20)
    with pytest.raises(CallTimeout):
        residents.resolve(cache, "alpha", 20, stop=stop)


def test_requests_are_checked_before_the_disk_is_touched(residents: Residents, tmp_path: Path) -> None:
    with pytest.raises(InvalidQuery):
        residents.resolve(tmp_path / "absent", "\ud800", 1)
    with pytest.raises(InvalidBudget):
        residents.resolve(tmp_path / "absent", "x", 2**64)


def test_many_threads_get_the_same_answers_while_the_cache_is_rebuilt(cache: Path, residents: Residents) -> None:
    other = {"new.md": "alpha alpha"}
    sources = naive.write_sources(cache.parent / "other", other)
    expected = {naive.resolve(SOURCES, "alpha", 20), naive.resolve(other, "alpha", 20)}
    answers: set[bytes] = set()
    problems: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(25):
                answers.add(residents.resolve(cache, "alpha", 20))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        build.cache(sources, cache, created_at=CREATED_AT, force=True)
        build.cache(cache.parent / "sources", cache, created_at=CREATED_AT, force=True)
    for thread in threads:
        thread.join()
    assert (answers <= expected, problems) == (True, [])
    assert residents.resolve(cache, "alpha", 20) == resolve.to_json(cache, "alpha", 20)


def test_the_sweeper_ends_when_the_caches_are_closed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_SWEEP_EVERY", 0.001)
    held = Residents(64 << 20)
    held.resolve(cache, "alpha", 20)
    sweeper = held._sweeper
    assert sweeper is not None
    assert sweeper.is_alive()
    held.close()
    assert not sweeper.is_alive()


def _trust_all(monkeypatch: pytest.MonkeyPatch) -> None:
    # A change time cannot be set, and tests do not sleep: instead of ageing files, trust them young.
    monkeypatch.setattr(change, "_TRUSTED_AFTER", -(10**15))
