"""Indexing a folder: what is read, what is left, what is forgotten, and what never is."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from smart_context import engine, errors
from smart_context.access.roots import Roots
from smart_context.engine.local import index as local_index
from smart_context.engine.local.engine import RECORD
from smart_context.engine.local.index import Index
from smart_context.engine.local.record import Record
from smart_context.index import indexer, status
from smart_context.index.indexer import Options
from smart_context.index.model import Changes, IndexReport
from smart_context.model import Limits

OPTIONS = Options(workers=1)
REFUSING = replace(OPTIONS, limits=Limits(max_file_bytes=1))  # a reader that takes nothing


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def index(
    data: Path, root: Path, folder: Path | None = None, options: Options = OPTIONS, **more: object
) -> IndexReport:
    with Index.open(data, writable=True) as opened:
        return indexer.run(opened, Roots([root]), str(folder or root), options, **more)  # type: ignore[arg-type]


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    return report.indexed, report.skipped, report.removed, report.failed


def held(data: Path) -> dict[str, str]:
    """Every recorded file's name → its text."""
    record = Record.open(data)
    try:
        found = {}
        for row in record.files(record.file_ids()).values():
            texts = record.texts(s.segment_id for s in record.segments_of(row.file_id))
            found[os.path.basename(row.path)] = "".join(texts.values())
        return found
    finally:
        record.close()


def row(data: Path, path: Path | str):
    record = Record.open(data)
    try:
        return record.file(os.fspath(path))
    finally:
        record.close()


def test_a_second_run_reads_only_what_changed_and_forgets_what_is_gone(tree, data):
    root = tree({"a.txt": "alpha", "b.txt": "beta", "sub/c.txt": "gamma"})
    assert counts(index(data, root)) == (3, 0, 0, 0)
    assert counts(index(data, root)) == (0, 3, 0, 0)
    (root / "a.txt").write_text("alpha again", encoding="utf-8")
    (root / "b.txt").unlink()
    (root / "d.txt").write_text("delta", encoding="utf-8")
    assert counts(index(data, root)) == (2, 1, 1, 0)
    assert held(data) == {"a.txt": "alpha again", "c.txt": "gamma", "d.txt": "delta"}


def test_a_folder_inside_a_root_can_be_indexed_by_itself(tree, data):
    root = tree({"a.txt": "alpha", "sub/b.txt": "beta", "sub-b/c.txt": "gamma"})
    index(data, root)
    shutil.rmtree(root / "sub")
    (root / "a.txt").unlink()
    (root / "sub").mkdir()
    assert counts(index(data, root, root / "sub")) == (0, 0, 1, 0)
    assert sorted(held(data)) == ["a.txt", "c.txt"]


def test_a_renamed_moved_or_touched_file_is_not_read_again(tree, data):
    root = tree({"old 2019.txt": "the year 2021", "touched.txt": "same"})
    index(data, root)
    (root / "deep").mkdir()
    (root / "old 2019.txt").rename(root / "deep/new 1999.txt")
    os.utime(root / "touched.txt", ns=(1, 1))
    report = index(data, root, options=REFUSING)
    assert (counts(report), report.moved) == ((2, 0, 1, 0), 2)
    assert held(data) == {"new 1999.txt": "the year 2021", "touched.txt": "same"}
    assert row(data, root / "deep/new 1999.txt").years == ("1999", "2021")
    assert counts(index(data, root)) == (0, 2, 0, 0)


def test_a_file_that_claims_a_time_that_cannot_be_is_indexed_like_any_other(tree, data):
    root = tree({"a.txt": "alpha", "late.txt": "from the year 2400", "late.md": "# from the year 2400"})
    for name in ("late.txt", "late.md"):
        os.utime(root / name, (13_569_465_600, 13_569_465_600))
    assert counts(index(data, root)) == (3, 0, 0, 0)
    assert counts(index(data, root)) == (0, 3, 0, 0)
    (root / "late.md").rename(root / "later.md")
    assert counts(index(data, root, options=REFUSING)) == (1, 2, 1, 0)
    [there] = status.of_index(engine.at(data), Roots([root]), OPTIONS.walk).roots
    assert there.changes == Changes(0, 0, 0)


def test_the_same_bytes_under_another_extension_are_read_anew(tree, data):
    root = tree({"a.txt": "# Title"})
    index(data, root)
    (root / "a.txt").rename(root / "a.md")
    assert index(data, root).moved == 0
    assert row(data, root / "a.md").kind == "markdown"


def test_full_reads_everything_anew(tree, data):
    root = tree({"a.txt": "alpha", "b.txt": "beta"})
    index(data, root)
    report = index(data, root, full=True)
    assert (counts(report), report.moved) == ((2, 0, 0, 0), 0)
    assert held(data) == {"a.txt": "alpha", "b.txt": "beta"}


def test_a_failure_is_kept_with_its_reason_and_not_tried_again_until_the_file_changes(tree, data):
    root = tree({"a.txt": "alpha"})
    assert counts(index(data, root, options=REFUSING)) == (0, 0, 0, 1)
    assert (row(data, root / "a.txt").state, bool(row(data, root / "a.txt").reason)) == ("failed", True)
    assert counts(index(data, root)) == (0, 1, 0, 0)
    os.utime(root / "a.txt", ns=(5, 5))
    assert counts(index(data, root)) == (1, 0, 0, 0)
    assert (row(data, root / "a.txt").state, row(data, root / "a.txt").reason) == ("ok", "")


def test_another_version_of_the_program_tries_what_failed_again(tree, data, monkeypatch):
    root = tree({"a.txt": "alpha"})
    index(data, root, options=REFUSING)
    monkeypatch.setattr("smart_context.engine.local.record.__version__", "999")
    assert counts(index(data, root)) == (1, 0, 0, 0)


def test_a_file_that_becomes_unreadable_content_loses_its_old_text(tree, data):
    root = tree({"a.txt": "alpha"})
    index(data, root)
    (root / "a.txt").write_text("longer than before", encoding="utf-8")
    index(data, root, options=REFUSING)
    assert held(data) == {"a.txt": ""}


def test_what_holds_no_text_is_recorded_as_such(tree, data):
    root = tree({"empty.txt": "", "blank.txt": " \n", "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(50)})
    report = index(data, root)
    assert (report.indexed, report.no_text, report.failed) == (3, 3, 0)
    assert {row(data, root / name).state for name in ("empty.txt", "blank.txt", "picture.png")} == {"no_text"}
    assert all(row(data, root / name).reason for name in ("empty.txt", "picture.png"))


def test_names_that_are_not_utf8_or_hold_newlines_are_indexed(tree, data):
    root = tree({"two\nlines.txt": "one"})
    odd = os.fsencode(root) + b"/caf\xe9 2020.txt"
    Path(os.fsdecode(odd)).write_bytes(b"two")
    assert counts(index(data, root)) == (2, 0, 0, 0)
    assert row(data, os.fsdecode(odd)).years == ("2020",)
    assert counts(index(data, root)) == (0, 2, 0, 0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in 2021, 1999-2003 and 2021", ("1999", "2003", "2021")),
        ("12021 20211 a2021f 1899 2100 3.14", ()),
        ("2021年 01.02.2022 (2023)", ("2021", "2022", "2023")),
    ],
)
def test_years_are_numbers_of_their_own(tree, data, text, found):
    root = tree({"x.txt": text})
    index(data, root)
    assert row(data, root / "x.txt").years == found


def test_a_missing_folder_is_not_found_and_forgets_nothing(tree, data):
    root = tree({"a.txt": "alpha"})
    index(data, root)
    root.rename(root.with_name("away"))
    with pytest.raises(errors.NotFound):
        index(data, root)
    [there] = status.of_index(engine.at(data), Roots([root]), OPTIONS.walk).roots
    assert (there.is_available, there.files, there.changes) == (False, 1, None)
    root.with_name("away").rename(root)
    assert counts(index(data, root)) == (0, 1, 0, 0)


@contextlib.contextmanager
def mounted(place: Path) -> Iterator[None]:
    if os.geteuid():
        pytest.skip("mounting needs root")
    place.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "none", place], check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def test_an_emptied_folder_is_forgotten_but_an_unmounted_one_is_not(tmp_path, data):
    share = tmp_path / "share"
    with mounted(share):
        (share / "a.txt").write_text("alpha", encoding="utf-8")
        index(data, share)
    with pytest.raises(errors.NotFound):
        index(data, share)
    assert held(data) == {"a.txt": "alpha"}
    assert counts(index(data, share, full=True)) == (0, 0, 1, 0)


@pytest.mark.parametrize("place_goes_too", [False, True])
def test_a_share_inside_a_root_keeps_its_files_while_it_is_not_mounted(tree, data, place_goes_too):
    root = tree({"here.txt": "here", "gone.txt": "gone", "deep/stays.txt": "stays"})
    share = root / "deep/share"
    with mounted(share):
        (share / "sub").mkdir()
        (share / "sub/a.txt").write_text("alpha", encoding="utf-8")
        assert index(data, root).problems == ()
    (root / "gone.txt").unlink()
    if place_goes_too:
        share.rmdir()
    for _ in range(2):  # the second time it is known from the run that did not find it
        report = index(data, root)
        assert [problem.split(": ")[0] for problem in report.problems] == [str(share)]
    assert sorted(held(data)) == ["a.txt", "here.txt", "stays.txt"]
    [told] = status.of_index(engine.at(data), Roots([root]), OPTIONS.walk).roots
    assert (told.changes.gone, told.changes.hidden) == (0, (str(share),))
    with pytest.raises(errors.NotFound):
        index(data, root, share)
    with mounted(share):  # back, and another one now
        (share / "b.txt").write_text("beta", encoding="utf-8")
        assert counts(index(data, root)) == (1, 2, 1, 0)
    assert counts(index(data, root, full=True)) == (2, 0, 1, 0)
    assert index(data, root).problems == ()


def test_the_last_file_of_a_folder_can_go(tree, data):
    root = tree({"a.txt": "alpha"})
    index(data, root)
    (root / "a.txt").unlink()
    assert counts(index(data, root)) == (0, 0, 1, 0)


def test_nothing_below_a_folder_that_cannot_be_entered_is_forgotten(tree, data, run):
    root = tree({"a.txt": "alpha", "locked/b.txt": "beta", "locked/deep/c.txt": "gamma"})
    index(data, root)
    (root / "locked").chmod(0)
    # As root nothing is unreadable, unless the right to read everything is given up first.
    powerless = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if not os.geteuid() else []
    if powerless and not shutil.which("setpriv"):
        pytest.skip("root reads everything, and there is no setpriv")
    code = (
        "import sys; from pathlib import Path; from test_indexer import *;"
        "r = index(Path(sys.argv[1]), Path(sys.argv[2])); print(counts(r), len(r.problems))"
    )
    try:
        done = subprocess.run(
            [*powerless, sys.executable, "-c", code, data, root],
            capture_output=True,
            text=True,
            check=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join((str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path)),
            },
        )
    finally:
        (root / "locked").chmod(0o700)
    assert done.stdout == "(0, 1, 0, 0) 1\n"
    assert sorted(held(data)) == ["a.txt", "b.txt", "c.txt"]


def test_outside_the_roots_is_forbidden(tree, data, tmp_path):
    root = tree({"a.txt": "alpha"})
    with pytest.raises(errors.Forbidden):
        index(data, root, tmp_path)


def test_the_index_does_not_index_itself(tree, tmp_path):
    root = tree({"a.txt": "alpha"})
    data = root / "data"
    index(data, root)
    assert counts(index(data, root)) == (0, 1, 0, 0)


def test_a_file_that_goes_while_it_waits_is_neither_failed_nor_kept(tree, data):
    root = tree({f"{i:02}.txt": f"text {i}" for i in range(20)})
    last = root / "19.txt"
    report = index(data, root, on_progress=lambda step: step.total and last.unlink(missing_ok=True))
    assert counts(report) == (19, 0, 0, 0)
    assert row(data, last) is None


def test_a_stopped_run_keeps_what_it_read_and_the_next_goes_on(tree, data):
    root = tree({f"{i:02}.txt": f"text {i}" for i in range(20)})
    seen: list[int] = []

    def stop() -> None:
        if seen and seen[-1] >= 7:
            raise errors.CallTimeout("enough")

    with pytest.raises(errors.CallTimeout):
        index(data, root, on_progress=lambda step: seen.append(step.done), stop=stop)
    kept = len(held(data))
    assert kept >= 7
    assert counts(index(data, root)) == (20 - kept, kept, 0, 0)
    assert len(held(data)) == 20


def test_a_run_that_commits_often_leaves_the_same_index_as_one_that_commits_once(tree, data, tmp_path, monkeypatch):
    root = tree({f"{at % 5}/{at:02}.txt": f"text {at % 20} " * (1 + at % 7) for at in range(30)})
    once = index(data, root, options=replace(OPTIONS, workers=2))
    monkeypatch.setattr(indexer, "_BATCH_FILES", 8)
    monkeypatch.setattr(local_index, "_MUCH", 0)
    often = index(tmp_path / "often", root, options=replace(OPTIONS, workers=2))
    assert held(tmp_path / "often") == held(data)
    assert counts(often) == counts(once) == (30, 0, 0, 0)


def test_the_last_files_of_a_run_are_read_by_size_and_large_ones_first_of_all(tree, data, monkeypatch):
    monkeypatch.setattr(indexer, "_LARGE", 50)
    monkeypatch.setattr(indexer, "_LAST", 3)
    root = tree({f"{name}.txt": "x" * size for name, size in zip("abcdefg", (9, 8, 1, 99, 2, 4, 3), strict=True)})
    index(data, root)
    assert sorted("abcdefg", key=lambda name: row(data, root / f"{name}.txt").file_id) == list("dabcfge")


def test_progress_counts_up_to_the_files_that_are_read(tree, data):
    root = tree({f"{i:02}.txt": f"text {i}" for i in range(5)})
    steps = []
    index(data, root, on_progress=lambda step: step.total and steps.append((step.done, step.total)))
    assert steps[-1] == (5, 5)
    assert steps == sorted(steps)


def test_text_that_cannot_be_written_as_utf8_does_not_stop_the_run(tree, data):
    root = tree({"a.json": b'{"a": "\\ud800 lone"}', "b.txt": "beta"})
    assert index(data, root).failed == 0
    assert held(data)["b.txt"] == "beta"


def test_odd_words_do_not_stop_the_run(tree, data):
    odd = "\u0301 \u0640\u0640 \u093c \u200d a\x00b \u1d4b\u202e 東京 \ufdfa" + "x" * 70_000
    root = tree({"odd.txt": odd, "b.txt": "beta"})
    assert counts(index(data, root)) == (2, 0, 0, 0)


def test_more_words_than_are_remembered_do_not_stop_the_run(tree, data, monkeypatch):
    monkeypatch.setattr("smart_context.text.analysis._MAX_KNOWN", 20)
    root = tree({"many.txt": " ".join(f"word{i} {i}x-{i}y getUser{i}" for i in range(2000))})
    assert counts(index(data, root)) == (1, 0, 0, 0)


def test_status_says_how_far_the_index_is_behind(tree, data):
    root = tree({"a.txt": "alpha", "b.txt": "beta", "c.txt": "", "d.txt": "delta"})
    [before] = status.of_index(engine.at(data), Roots([root]), OPTIONS.walk).roots
    assert (before.files, before.last_run, before.changes.new) == (0, "", 4)
    index(data, root)
    (root / "a.txt").write_text("changed text", encoding="utf-8")
    (root / "b.txt").unlink()
    (root / "e.txt").write_text("epsilon", encoding="utf-8")
    whole = status.of_index(engine.at(data), Roots([root]), OPTIONS.walk)
    [after] = whole.roots
    assert (after.files, after.segments, after.chars, after.no_text, after.failed) == (4, 3, 14, 1, 0)
    assert (after.changes.new, after.changes.changed, after.changes.gone) == (1, 1, 1)
    assert [(t.path, t.state) for t in after.troubles] == [(str(root / "c.txt"), "no_text")]
    assert (whole.writer, whole.size > 0, after.last_run != "") == ("", True, True)


MAIL = "From: Ann <ann@example.com>\nDate: Sun, 31 Mar 2024 10:00:00 +0100\nSubject: Rent\n\nThe rent is due.\n"


def test_a_file_is_recorded_with_its_title_author_and_date_and_so_are_its_copies(tree, data):
    root = tree({"a.eml": MAIL})
    index(data, root)
    shutil.copy(root / "a.eml", root / "b.eml")
    assert index(data, root).moved == 1
    for name in ("a.eml", "b.eml"):
        found = row(data, root / name)
        assert (found.title, found.author, found.dated) == ("Rent", "Ann <[redacted:email]>", "2024-03-31")
    assert row(data, root / "a.eml").same_text == row(data, root / "b.eml").same_text != b""


def test_what_was_recorded_before_files_were_asked_for_authors_and_dates_is_read_again_once(tree, data):
    root = tree({"a.eml": MAIL, "b.txt": "text"})
    index(data, root)
    with contextlib.closing(sqlite3.connect(data / RECORD)) as db:
        db.execute("UPDATE files SET author = '', dated = '', same_text = x'', like_text = x''")
        db.commit()
    assert counts(index(data, root)) == (2, 0, 0, 0)
    assert row(data, root / "a.eml").dated == "2024-03-31"
    assert counts(index(data, root)) == (0, 2, 0, 0)


def test_new_patterns_of_redaction_hold_for_titles_and_authors(tree, data):
    root = tree({"a.eml": MAIL})
    index(data, root)
    before = row(data, root / "a.eml")
    index(data, root, options=replace(OPTIONS, patterns=("Rent|rent", "Ann")))
    after = row(data, root / "a.eml")
    assert (after.title, after.author) == ("[redacted:custom]", "[redacted:custom] <[redacted:email]>")
    assert (after.dated, after.same_text != before.same_text) == ("2024-03-31", True)


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        ("/a", ["/a/b/c.txt", "/a/b", "/a"]),
        ("/a/b/c.txt", ["/a/b/c.txt"]),
        ("/", ["/a/b/c.txt", "/a/b", "/a", "/"]),  # the whole file system
    ],
)
def test_the_folders_above_a_file_end_at_the_indexed_one(top, expected):
    assert list(indexer._upwards("/a/b/c.txt", top)) == expected
