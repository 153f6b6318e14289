"""What every engine must do, whatever stands behind the port. A new engine is one more row of `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from smart_context import engine, errors, redact
from smart_context.access.roots import Roots
from smart_context.engine.expression import Everything, Filters, Group, Term
from smart_context.engine.model import LastRun, NewFile
from smart_context.engine.port import Engine, Index
from smart_context.find import fold, search
from smart_context.find.model import SearchRequest
from smart_context.find.search import find
from smart_context.index import indexer
from smart_context.model import Segment

Make = Callable[[str], Engine]
NOW = "2024-05-06T07:08:09Z"
FILES = {
    "/r/a/report 2021.txt": ("rent and wages", "income from rents"),
    "/r/b/plan.txt": ("the plan for the rent",),
    "/r/c.txt": ("nothing of the kind",),
}
ALL = Filters()


@pytest.fixture(params=["local", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Make an engine by name; the same name is the same engine."""
    if request.param == "local":
        return lambda name: engine.at(tmp_path / name)
    server = request.getfixturevalue("postgres")
    known: dict[str, str] = {}
    return lambda name: engine.at(tmp_path / name, known.get(name) or known.setdefault(name, server.new()))


def put(index: Index, path: str, *texts: str, same_text: bytes = b"") -> None:
    new = NewFile(path, "/r", "text", sum(map(len, texts)), 5, "ab", "ok" if texts else "no_text", same_text=same_text)
    segments = [Segment(i, f"lines {i + 1}-{i + 1}", "", text) for i, text in enumerate(texts)]
    index.put(new, segments, (), NOW)


def fill(index: Index, paths: list[str]) -> None:
    for path in paths:
        put(index, path, *FILES[path])
    index.commit()


def page(index: Index, query: str) -> list[tuple[str, str, float, str]]:
    index.refresh()
    found = find(index, SearchRequest(query), redactor=redact.Redactor(), stop=lambda: None)
    return [(item.path, item.pointer, item.score, item.snippet) for item in found.items]


def test_there_is_nothing_before_the_first_writer(make):
    place = make("one")
    assert (place.is_there(), place.writer(), place.has_vectors()) == (False, "", False)
    with pytest.raises(errors.NotFound):
        place.open()
    with pytest.raises(errors.NotFound):
        place.record()


def test_the_order_in_which_files_come_changes_no_answer(make):
    answers = []
    for number, order in enumerate(permutations(FILES)):
        with make(str(number)).open(writable=True) as index:
            fill(index, list(order))
            answers.append([page(index, query) for query in ("rent", "income plan", "report", "-rent")])
    assert all(answers[0])
    assert answers == [answers[0]] * len(answers)


def test_the_order_in_which_files_come_changes_no_estimate(make, monkeypatch):
    """Of many results that score the same, among them one of a file that has a better one, and copies."""
    monkeypatch.setattr(search, "_COUNTED", 5)
    monkeypatch.setattr(fold, "_COUNTED", 2)
    both = ("the harbour and the harbour", "a harbour of some kind")
    texts = {"/r/two.txt": both, **{f"/r/{i}.txt": (both[1],) for i in range(6)}}
    orders = [list(texts), [*list(texts)[1:4], "/r/two.txt", *list(texts)[4:]]]
    totals = []
    for number, order in enumerate(orders):
        with make(f"estimate {number}").open(writable=True) as index:
            for path in order:
                same = b"" if path < "/r/3" or path == "/r/two.txt" else b"copies"
                put(index, path, *texts[path], same_text=same)
            index.commit()
            index.refresh()
            request = SearchRequest("harbour", k=2)
            totals.append(find(index, request, redactor=redact.Redactor(), stop=lambda: None).total_estimate)
    assert totals == [totals[0]] * 2


def test_a_file_that_is_put_again_or_removed_leaves_nothing_behind(make):
    with make("changed").open(writable=True) as index, make("fresh").open(writable=True) as fresh:
        fill(index, list(FILES))
        put(index, "/r/c.txt", "income and wages and rent", "rent again")
        index.commit()
        put(index, "/r/c.txt", *FILES["/r/c.txt"])
        row = index.record.file("/r/b/plan.txt")
        assert row is not None
        index.remove([row.file_id])
        index.commit()
        fill(fresh, ["/r/a/report 2021.txt", "/r/c.txt"])
        for query in ("rent", "income", "kind", "plan", "again"):
            assert page(index, query) == page(fresh, query)
        index.refresh(), fresh.refresh()
        counts = [view.count(Everything()) for _, view in (index.both(), fresh.both())]
        assert counts == [3, 3]


def test_a_reader_sees_whole_commits_and_only_when_it_looks_again(make):
    place = make("one")
    with place.open(writable=True) as writer:
        fill(writer, ["/r/a/report 2021.txt"])
        with place.open() as reader:
            before = page(reader, "plan")
            put(writer, "/r/b/plan.txt", *FILES["/r/b/plan.txt"])
            assert page(reader, "plan") == before == []
            _, view = reader.both()
            writer.commit()
            assert view.count(Term("plan")) == 0
            assert len(page(reader, "plan")) == 1


def test_what_was_not_committed_is_forgotten(make):
    place = make("one")
    with place.open(writable=True) as writer:
        fill(writer, ["/r/a/report 2021.txt"])
        put(writer, "/r/b/plan.txt", *FILES["/r/b/plan.txt"])
    with place.open() as reader:
        assert page(reader, "plan") == []
        assert reader.record.file("/r/b/plan.txt") is None
        assert reader.generation == reader.record.generation


def test_with_the_files_of_a_folder_its_runs_are_forgotten_but_for_those_of_folders_that_are_kept(make):
    place, run = make("one"), LastRun(NOW, NOW, 7)
    with place.open(writable=True) as writer:
        fill(writer, ["/r/a/report 2021.txt"])
        for folder in ("/r", "/r/a", "/r/b", "/r0"):
            writer.record.finish_run(folder, run, {f"{folder}/mounted": 8})
    for _ in ("with files", "without any"):
        place.forget("/r", keep=["/r/b"])
        with place.open() as reader:
            runs = [reader.record.last_run(folder) for folder in ("/r", "/r/a", "/r/b", "/r0")]
            assert runs == [None, None, run, run]
            assert reader.record.mounts("/r") == {"/r/b/mounted": 8}


def test_there_is_one_writer_at_a_time_and_it_is_named(make):
    place = make("one")
    with place.open(writable=True):
        assert place.writer()
        with pytest.raises(errors.Conflict):
            place.open(writable=True)
    assert place.writer() == ""


def test_filters_and_counts_agree_with_what_is_found(make):
    with make("one").open(writable=True) as index:
        fill(index, list(FILES))
        index.refresh()
        _, view = index.both()
        below = Filters(folders=("/r/a",))
        assert (view.segments, view.count(Everything()), view.having("rent")) == (4, 4, 3)
        assert (view.count(Term("rent"), below), view.file_count(below), view.file_count(ALL)) == (2, 1, 3)
        assert view.count(Group(must=(Term("rent"),), must_not=(Term("wage"),))) == 2
        found = view.matches(Term("rent"), ALL)
        assert (found.count, len(found.top(10)), len(found.files(2))) == (3, 3, 2)
        assert len(view.packed(found.top(10))) == 3
        assert len(view.first_segments(ALL)) == 3
        assert sorted(c.segment_id for c in view.all_of(Term("rent"), ALL)) == sorted(
            c.segment_id for c in found.top(10)
        )


def test_the_record_knows_each_file_and_its_text(make):
    place = make("one")
    with place.open(writable=True) as index:
        fill(index, list(FILES))
        put(index, "/r/empty.bin")
        index.commit()
    with closing(place.record()) as record:
        row = record.file("/r/a/report 2021.txt")
        assert row is not None
        rows = record.segments_of(row.file_id)
        assert [r.pointer for r in rows] == ["lines 1-1", "lines 2-2"]
        assert tuple(record.texts(r.segment_id for r in rows).values()) == FILES["/r/a/report 2021.txt"]
        assert set(record.stamps("/r/a")) == {"/r/a/report 2021.txt"}
        assert [r.path for r in record.without_text("/r", 10)] == ["/r/empty.bin"]
        for folder, name, paths in (
            ("/", "empty.bin", ["/r/empty.bin"]),
            ("/r/a", "empty.bin", []),
            ("/r", "y.bin", []),
            ("/r", "report 2021.txt", []),
        ):
            assert [r.path for r in record.without_text(folder, 10, name)] == paths
        assert sum(t.files for t in record.tallies("/r")) == 4
        assert len(record.living()) == 4
        assert record.flaw() == ""
    assert place.is_there()
    assert place.size() > 0


def test_what_waits_for_ocr_and_what_it_read_are_known_by_folder(make):
    place = make("one")
    with place.open(writable=True) as index:
        for path, waiting, read in (("/r/a/1.pdf", 2, 0), ("/r/a/2.pdf", 1, 2), ("/r/b/3.pdf", 0, 1)):
            new = NewFile(path, "/r", "pdf", 1, 5, "ab", "ok", unread_pages=waiting)
            pages = [Segment(i, f"page {i + 1}", "", "words", certainty=90) for i in range(read)]
            more = [Segment(len(pages), pages[-1].pointer, "", "on", certainty=90)] if pages else []
            index.put(new, [*pages, *more, Segment(read + len(more), "page 9", "", "its own")], (), NOW)
        index.commit()
    with closing(place.record()) as record:
        assert [(row.path, row.unread_pages) for row in record.unread("/r")] == [("/r/a/1.pdf", 2), ("/r/a/2.pdf", 1)]
        assert record.unread("/r/b") == []
        assert [record.read_pages(folder) for folder in ("/r", "/r/a", "/r/b")] == [3, 2, 1]


def test_a_lost_ranking_is_derived_again_with_the_same_answers(make):
    place = make("one")
    with place.open(writable=True) as index:
        fill(index, list(FILES))
        before = page(index, "rent")
    assert place.repair() == ""
    place.maintain()
    with place.open() as index:
        assert page(index, "rent") == before


def test_vectors_belong_to_one_model_and_one_process_makes_them(make):
    np = pytest.importorskip("numpy")
    place = make("one")
    with place.open(writable=True) as index:
        fill(index, list(FILES))
    with place.embedding():
        with pytest.raises(errors.Conflict), place.embedding():
            pass
        rows = np.eye(2, dtype=np.float32)
        place.vectors("m1", 2).append([(1, 1, rows[0]), (3, 2, rows[1])])
        place.vectors("m2", 2).append([(1, 1, rows[0])])
    like = place.vectors("m1").compare(rows[1])
    assert [(near.segment_id, near.cosine) for near in like.nearest(1)] == [(3, 1.0)]
    place.keep_vectors("m1")
    assert (len(place.vectors("m1")), len(place.vectors("m2", 2))) == (2, 0)


def test_a_real_folder_gives_the_same_answers_in_one_run_or_in_many(make, tree):
    root = tree({f"d{i % 3}/f{i}.md": f"# Head {i}\n\nword{i % 4} common text number {i}\n" for i in range(12)})
    options = indexer.Options(workers=1)
    with make("one").open(writable=True) as one, make("many").open(writable=True) as many:
        indexer.run(one, Roots([str(root)]), str(root), options)
        for folder in ("d2", "d0", "d1"):
            indexer.run(many, Roots([str(root)]), str(root / folder), options)
        for query in ("word1", "common text", "head 7", "number -word2"):
            assert page(one, query) == page(many, query) != []
