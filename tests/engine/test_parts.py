"""The parts of a ranking are put together when they are many: nothing that is found changes, readers go on, and a kill loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smart_context.engine.expression import Everything, Filters, Group, Sequence, Term
from smart_context.engine.local import paging, upkeep
from smart_context.engine.local.engine import RANKING
from smart_context.engine.local.index import Index
from smart_context.engine.local.ranking import Ranking, parts
from smart_context.engine.local.ranking.parts import Part
from smart_context.engine.model import NewFile, RankedFile, RankedSegment
from smart_context.model import Segment

COMMITS = 7
WORDS = ["amber", "birch", "cedar", "dune", "elm", "fern", "grove", "heath"]
WANTED = [Term("fern"), Sequence(("amber", "birch")), Group(should=tuple(map(Term, WORDS))), Everything()]

# Put the parts of an index together, and die before the commit that makes the engine do so, or after it, when it has begun.
DRIVER = """
import os, signal, sys
from pathlib import Path
from smart_context.engine.local import index, ranking
from smart_context.engine.local.ranking import parts
parts._LARGE = 1
merge, calls = ranking.Ranking.merge, []
def dying(self):
    calls.append(1)
    if len(calls) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    merge(self)
ranking.Ranking.merge = dying
with index.Index.open(Path(sys.argv[1]), writable=True) as opened:
    opened.tidy()
"""


def put(index: Index, name: str, texts: list[str]) -> None:
    segments = [Segment(seq, f"page {seq + 1}", "", text) for seq, text in enumerate(texts)]
    index.put(NewFile(f"/r/{name}.txt", "/r", "text", 1, 1, "", "ok"), segments, (), "2026-01-01T00:00:00Z")


@pytest.fixture
def scattered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index whose every commit left a part; some of it was replaced since."""
    monkeypatch.setattr(parts, "_LARGE", 1)
    with Index.open(tmp_path, writable=True) as index:
        for number in range(COMMITS):
            for file in range(number + 2):
                words = [" ".join(WORDS[at % 8] for at in range(seq, seq + file + 3)) for seq in range(4)]
                put(index, f"{number}-{file}", words)
            if number == COMMITS - 1:
                put(index, "0-0", ["amber birch", "fern"])
            index.commit()
    return tmp_path


def found(index: Index) -> list[object]:
    """All that a view gives of some expressions, but for rough scores and their order: in these, what was removed counts until parts are merged."""
    view = index.ranking.view()
    out: list[object] = [view.segments, view.average_length, view.languages, sorted(view.terms("")), view.file_ids()]
    for wanted in WANTED:
        every = view.matches(wanted, Filters()).top(1000)
        out.append(view.count(wanted))
        out.append(sorted((one.segment_id, one.file_id, one.language) for one in every))
        out.append(dict(zip([one.segment_id for one in every], view.packed(every), strict=True)))
    return out


def held(folder: Path) -> list[Part]:
    return parts.read(folder / RANKING)


def test_a_run_that_ends_with_many_parts_leaves_one_in_which_the_same_is_found(scattered, monkeypatch):
    monkeypatch.setattr(paging, "_EVERY", 0.001)
    monkeypatch.setattr(paging, "_MOST", -(1 << 40))  # pages leave memory all the time
    with Index.open(scattered) as reader, Index.open(scattered, writable=True) as index:
        reader.refresh()
        before = found(reader)
        assert len(held(scattered)) == COMMITS
        index.tidy()
        assert held(scattered) == [Part(reader.ranking.view().segments, reader.ranking.view().segments)]
        assert found(reader) == before  # from the parts that it has
        generation = reader.generation
        reader.refresh()
        assert reader.ranking.view().dead == 0
        assert (found(reader), reader.generation) == (before, generation)
        put(index, "next", ["fern"])  # writing goes on
        index.commit()
        reader.refresh()
        assert reader.ranking.view().count(Term("fern")) == before[5] + 1


def test_upkeep_puts_parts_together_also_where_most_lies_in_one(scattered):
    with Index.open(scattered, writable=True) as index:
        index.tidy()
        for number in range(COMMITS - 1):
            put(index, f"small {number}", ["fern"])
            index.commit()
        index.tidy()
        assert len(held(scattered)) == COMMITS
        index.refresh()
        before = found(index)
    upkeep.maintain(scattered)
    assert len(held(scattered)) == 1
    with Index.open(scattered) as index:
        assert found(index) == before


@pytest.mark.parametrize("when", [1, 2], ids=["before", "while it is done"])
def test_a_kill_while_parts_are_put_together_changes_nothing_and_the_next_run_does_it(scattered, when):
    with Index.open(scattered) as index:
        before = found(index)
    killed = subprocess.run(
        [sys.executable, "-c", DRIVER, scattered, str(when)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    with Index.open(scattered) as index:
        assert found(index) == before
    with Index.open(scattered, writable=True) as index:
        index.gather()
        index.refresh()
        assert (found(index), len(held(scattered))) == (before, 1)


def test_the_engine_puts_parts_of_any_size_together(tmp_path):
    import tantivy

    ranking = Ranking.open(tmp_path, writable=True)
    own = [RankedSegment(1, "", "amber"), RankedSegment(2, "", "birch")]
    file = RankedFile(1, "/r/a.txt", ".txt", "", ())
    ranking.add(file, own)
    ranking.add(RankedFile(90, "/r/b.txt", ".txt", "", ()), [RankedSegment(3, "", "cedar")])
    ranking.commit(1)
    ranking.reload()
    assert ranking.view().beside_others() == [1, 90]
    sizes = [40_000, 30_000, 17_000, 16_000, 300, 20]  # it would leave them alone: no eight are about as large
    for generation, size in enumerate(sizes, 2):
        for number in range(size):
            doc = tantivy.Document()
            doc.add_integer("file_id", generation)
            doc.add_unsigned("first", int(number == 0))
            ranking._open_writer().add_document(doc)
        ranking.commit(generation)
    ranking.merge()
    assert sorted(part.held for part in parts.read(tmp_path)) == sorted([*sizes, 3])
    assert ranking.is_scattered()
    files = [
        path for path in tmp_path.iterdir() if path.suffix in {".idx", ".pos", ".term", ".store", ".fast", ".fieldnorm"}
    ]
    assert len(files) == 6 * COMMITS
    assert parts.needs(tmp_path) == 2 * sum(path.stat().st_size for path in files) > 0
    ranking.gather(file, own)
    assert parts.read(tmp_path) == [Part(sum(sizes) + 3, sum(sizes) + 3)]
    ranking.reload()
    assert (ranking.view().dead, ranking.view().count(Term("birch")), ranking.generation) == (0, 1, len(sizes) + 1)


@pytest.mark.parametrize(
    ("some", "many", "upkeep"),
    [
        ([], False, False),
        ([Part(30_000, 30_000)] * 6, False, False),
        ([Part(30_000, 30_000)] * 7, True, True),
        ([Part(2000, 2000)] * 7, False, False),  # so little is looked through at once
        ([Part(300_000, 300_000), *[Part(10_000, 10_000)] * 6], False, True),
        ([Part(300_000, 300_000), *[Part(900, 900)] * 6], False, False),
        ([Part(300_000, 60_000), *[Part(10_000, 10_000)] * 6], True, True),
        ([Part(4_000_000, 1_000_000), *[Part(1_000_000, 1_000_000)] * 6], False, False),
    ],
)
def test_parts_are_many_where_it_pays_to_put_them_together(some, many, upkeep):
    assert (parts.are_many(some), parts.are_many(some, is_upkeep=True)) == (many, upkeep)


@pytest.mark.parametrize("content", ["", "{}", '{"segments": 3}', '{"segments": [{}]}'])
def test_parts_that_the_engine_does_not_tell_are_left_alone(tmp_path, content):
    (tmp_path / "meta.json").write_text(content, encoding="utf-8")
    assert parts.read(tmp_path) == []
