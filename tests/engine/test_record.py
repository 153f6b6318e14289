"""The record: what was committed stays, readers see whole commits, a bad file is refused and left alone."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context import errors
from smart_context.engine.local import lock, migrations
from smart_context.engine.local.engine import RECORD
from smart_context.engine.local.phrases import PHRASES
from smart_context.engine.local.record import Record
from smart_context.engine.model import NewFile, Passage
from smart_context.model import HIDDEN_KINDS, Segment
from smart_context.text import hidden

NOW = "2024-05-06T07:08:09Z"


def new(path: str, **facts: object) -> NewFile:
    values = {"root": "/r", "kind": "text", "size": 3, "mtime_ns": 5, "sha256": "ab", "state": "ok", **facts}
    return NewFile(path, **values)  # type: ignore[arg-type]


def put(record: Record, path: str, *texts: str, **facts: object) -> tuple[int, list[int]]:
    segments = [Segment(i, f"lines {i + 1}-{i + 1}", "", t) for i, t in enumerate(texts)]
    return record.put(new(path, **facts), segments, ("2021",), NOW)


def texts(record: Record, path: str) -> list[str]:
    row = record.file(path)
    assert row is not None
    return list(record.texts(s.segment_id for s in record.segments_of(row.file_id)).values())


def test_what_is_put_comes_back_as_data(tmp_path):
    with_bytes = os.fsdecode(b"/r/caf\xe9\n.TXT")
    writer = Record.open(tmp_path, writable=True)
    file_id, ids = put(writer, with_bytes, "one", "zwei ü 三", title="T", notes=("a", "b"))
    assert writer.commit() == 1
    reader = Record.open(tmp_path)
    row = reader.file(with_bytes)
    assert (row.file_id, row.path, row.ext, row.title, row.years, row.notes, row.chars, row.generation) == (
        file_id,
        with_bytes,
        ".txt",
        "T",
        ("2021",),
        ("a", "b"),
        11,
        1,
    )
    assert reader.texts(ids) == {ids[0]: "one", ids[1]: "zwei ü 三"}
    assert [s.pointer for s in reader.segments(ids).values()] == ["lines 1-1", "lines 2-2"]
    assert reader.texts([99]) == reader.files([99]) == {}
    writer.close()
    reader.close()


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "a", "Costs", "it's", "ö"]), st.sampled_from(["", " (2)", " lines 1-2"])),
        min_size=1,
    )
)
def test_a_heading_that_a_pointer_names_is_kept_once(named):
    with tempfile.TemporaryDirectory() as folder, closing(Record.open(Path(folder), writable=True)) as record:
        pointers = [f"entry 'a.zip' section '{heading}'{more}" for heading, more in named]
        segments = [
            Segment(i, pointer, heading, "text", (), 50)
            for i, (pointer, (heading, _)) in enumerate(zip(pointers, named, strict=True))
        ]
        file_id, ids = record.put(new("/r/a"), segments, (), NOW)
        record.commit()
        found = [(row.pointer, row.heading) for row in record.segments_of(file_id)]
        assert found == [(pointer, heading) for pointer, (heading, _) in zip(pointers, named, strict=True)]
        assert [(row.pointer, row.heading) for row in record.segments(ids).values()] == found
        assert record.read_pages("/r") == len(set(pointers))
        with closing(sqlite3.connect(Path(folder) / RECORD)) as db:
            heads = [
                zlib.decompressobj(-15, PHRASES).decompress(data, head).decode().split("\n")
                for data, head in db.execute("SELECT data, head FROM blocks")
            ]
        assert not any("Costs" in pointer for head in heads for pointer in head[2:-1:2])


def test_contents_are_told_apart_by_all_of_their_hash(tmp_path):
    with closing(Record.open(tmp_path, writable=True)) as record:
        same = "12345678" + 56 * "0"
        like = "12345678" + 56 * "1"
        for number, (content, ext) in enumerate([(like, ".a"), (same, ".b"), (same, ".a"), (same, ".a")]):
            put(record, f"/r/{number}{ext}", "text", sha256=content)
        found = [record.same_content(content, 3, ext) for content, ext in [(same, ".a"), (like, ".a"), (like, ".b")]]
        assert [row and row.path for row in found] == ["/r/2.a", "/r/0.a", None]


def test_a_folder_is_its_own_files_and_no_sibling_of_like_name(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    for path in ("/r/a", "/r/a/b", "/r/a-b/c", "/r/a0", "/r/ab", "/r/a/\u00ff"):
        put(writer, path)
    assert sorted(writer.stamps("/r/a")) == ["/r/a", "/r/a/b", "/r/a/\u00ff"]
    assert len(writer.stamps("/")) == 6
    assert [writer.stamps(folder)["/r/a/b"] for folder in ("/", "/r", "/r/a")] == 3 * [
        writer.stamps("/r/a/b")["/r/a/b"]
    ]
    writer.close()


@pytest.mark.parametrize("other", ["/q/z", "/r/Z", "/r/a-b", "/r/a.txt", "/r/a0", "/s", None])
@pytest.mark.parametrize("few", [True, False])
def test_the_files_of_a_folder_are_the_same_wherever_the_others_lie(tmp_path, other, few):
    writer = Record.open(tmp_path, writable=True)
    own = ["/r/a/b"] if few else ["/r/a/b", "/r/a/c", "/r/a/d/e", "/r/a/f"]
    for path in own:
        put(writer, path)
    if other:
        put(writer, other)
        put(writer, f"{other}/x")
    assert sorted(writer.stamps("/r/a")) == own
    writer.close()


def test_names_that_are_not_utf8_are_told_apart_from_their_neighbours(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    assert writer.stamps("/r") == {}
    paths = [
        os.fsdecode(b"/r/" + name)
        for name in (b"caf\xe9", b"\xe2\x82", b"\x82\xac", b"\xe2\x82\xac", b"\xf0\x9f", b"b")
    ]
    for path in paths:
        put(writer, path)
    put(writer, "/other/b")
    for folder in ("/", "/r"):
        stamps = writer.stamps(folder)
        assert [os.fsdecode(stamps[path][0]) for path in paths] == paths
    writer.remove([stamps[path][1] for path in paths if not path.isprintable()])
    left = writer.stamps("/r")
    assert set(left) == {"/r/\u20ac", "/r/b"}
    assert all(stamp[1:] == stamps[path][1:] for path, stamp in left.items())
    writer.close()


def test_replaced_text_stays_for_searches_under_way_until_the_next_commit(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    _, [old] = put(writer, "/r/a", "old")
    writer.commit()
    _, [fresh] = put(writer, "/r/a", "fresh")
    writer.commit()
    assert writer.texts([old, fresh]) == {old: "old", fresh: "fresh"}
    assert texts(writer, "/r/a") == ["fresh"]
    put(writer, "/r/b", "x")
    writer.commit()
    assert writer.texts([old, fresh]) == {fresh: "fresh"}
    writer.close()


def test_of_a_file_that_is_put_twice_before_a_commit_the_last_text_is_left(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", "first", "second")
    put(writer, "/r/b", "other")
    put(writer, "/r/a", "fresh")
    writer.commit()
    assert texts(writer, "/r/a") == ["fresh"]
    put(writer, "/r/c", "new")
    writer.rollback()
    put(writer, "/r/c", "newer")
    put(writer, "/r/c", "newest")
    writer.commit()
    assert [texts(writer, path) for path in ("/r/a", "/r/b", "/r/c")] == [["fresh"], ["other"], ["newest"]]
    writer.close()


def test_a_passage_is_there_until_a_commit_after_it_was_replaced(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", "other")
    _, [first, second] = put(writer, "/r/b", "first ü", "second")
    writer.commit()
    _, [fresh] = put(writer, "/r/b", "fresh")
    writer.commit()
    assert writer.passages([first, second, fresh, 99]) == {
        first: Passage("first ü"),
        second: Passage("second"),
        fresh: Passage("fresh"),
    }
    writer.close()


def test_no_name_of_what_was_removed_is_left_in_a_record_that_is_written_anew(tmp_path):
    with closing(Record.open(tmp_path, writable=True)) as writer:
        gone, _ = put(writer, "/zebrafish/a", "x", root="/zebrafish", judged="rules of zebrafish")
        put(writer, "/r/b", "y", root="/r")
        writer.commit()
        writer.remove([gone])
        writer.commit()
        writer.rewrite()
        assert b"zebrafish" not in (tmp_path / RECORD).read_bytes()
        assert writer.file("/r/b").root == "/r"
        put(writer, "/zebra/c", "z", root="/zebra")
        assert (writer.file("/zebra/c").root, writer.file("/r/b").root) == ("/zebra", "/r")


@pytest.mark.parametrize("time", [NOW, "2024", "", "2024-05-06T07:08:09+00:00", "2024-05-06 07:08:09Z", "yesterday"])
def test_a_time_comes_back_as_it_was_given(tmp_path, time):
    with closing(Record.open(tmp_path, writable=True)) as writer:
        writer.put(new("/r/a", sha256=""), [], (), time)
        assert (writer.file("/r/a").indexed_at, writer.file("/r/a").sha256) == (time, "")


def test_files_are_listed_by_path_in_pieces(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    names = [f"/r/{n:02}\udcff" for n in range(40)]
    ids = {name: put(writer, name, "x")[0] for name in sorted(names, reverse=True)}
    writer.commit()
    found = list(writer.by_path())
    assert [i for some in found for i in some] == [ids[name] for name in names]
    assert len(found) > 1
    writer.close()


def test_the_order_of_paths_is_that_of_their_bytes_however_folders_lie_in_each_other(tmp_path):
    drawn = random.Random(5)
    names = ["", "a", "a!", "a-b", "a.b", "b", "é", "\udcff", "a" * 3]
    paths = {
        "/" + "/".join(drawn.choices(names[1:], k=drawn.randrange(1, 5))) + drawn.choice(names) for _ in range(300)
    }
    with closing(Record.open(tmp_path, writable=True)) as record:
        ids = {path: put(record, path, "x")[0] for path in sorted(paths, key=lambda path: path[::-1])}
        for path in list(ids)[::7]:
            put(record, path, state="failed")
        ok = set(ids) - set(list(ids)[::7])
        assert [i for some in record.by_path() for i in some] == [ids[path] for path in sorted(ok, key=os.fsencode)]
        for folder in ("/", "/a", "/a/", "/a!", "/a/b", "/a/a.b", "/\udcff", "/none", *list(ids)[:9]):
            bare = os.fsencode(folder).rstrip(b"/")
            below = {path for path in ids if os.fsencode(path) == bare or os.fsencode(path).startswith(bare + b"/")}
            stamps = record.stamps(folder)
            assert stamps.keys() == below
            assert all(stamps[path][:2] == (os.fsencode(path), ids[path]) for path in below)
            assert sum(tally.files for tally in record.tallies(folder)) == len(below)
            assert {row.path for row in record.without_text(folder, 999)} == below - ok
            assert record.has_any(folder) == bool(below - {os.fsdecode(bare)})


def test_a_folder_without_files_is_forgotten_with_its_last_file(tmp_path):
    with closing(Record.open(tmp_path, writable=True)) as record:
        gone, _ = put(record, "/r/secret/a", "x")
        put(record, "/r/b", "x")
        record.commit()
        record.remove([gone])
        record.commit()
        with closing(sqlite3.connect(tmp_path / RECORD)) as db:
            assert db.execute("SELECT folder FROM folders").fetchall() == [(b"/r/",)]
        put(record, "/r/secret/a", "y")
        assert set(record.stamps("/r")) == {"/r/b", "/r/secret/a"}


def test_ids_are_never_given_twice(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    first = put(writer, "/r/a", "x")
    writer.commit()
    writer.remove([first[0]])
    writer.commit()
    second = put(writer, "/r/a", "x")
    assert second[0] > first[0]
    assert second[1] > first[1]
    writer.close()


def test_readers_see_whole_commits_and_never_wait(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", "one")
    writer.commit()
    reader = Record.open(tmp_path)
    put(writer, "/r/a", "two")
    put(writer, "/r/b", "three")
    assert (reader.generation, texts(reader, "/r/a"), reader.file("/r/b")) == (1, ["one"], None)
    writer.commit()
    assert (reader.generation, texts(reader, "/r/a"), texts(reader, "/r/b")) == (2, ["two"], ["three"])
    writer.close()
    reader.close()


def test_what_was_not_committed_is_forgotten_on_close(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", "one")
    writer.close()
    reader = Record.open(tmp_path)
    assert (reader.generation, reader.file_ids()) == (0, set())
    reader.close()


def test_a_killed_writer_leaves_its_last_commit(tmp_path):
    code = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path;"
        "from test_record import *; w = Record.open(Path(sys.argv[1]), writable=True);"
        "put(w, '/r/a', 'kept'); w.commit(); put(w, '/r/b', 'lost'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path, Path(__file__).parent], check=False)
    assert done.returncode == -signal.SIGKILL
    reader = Record.open(tmp_path)
    assert (texts(reader, "/r/a"), reader.file("/r/b")) == (["kept"], None)
    reader.close()


def test_nobody_else_may_read_the_files(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", "x")
    writer.commit()
    assert {p.name: oct(p.stat().st_mode & 0o777) for p in tmp_path.iterdir()} == {
        RECORD: "0o600",
        f"{RECORD}-wal": "0o600",
        f"{RECORD}-shm": "0o600",
    }
    writer.close()


def _garbage(path: Path) -> None:
    path.write_bytes(os.urandom(8192))


def _text(path: Path) -> None:
    path.write_bytes(b"hello\n")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def _cut_in_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def _of_another_program(path: Path) -> None:
    path.unlink()
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t (x)")
    db.commit()
    db.close()


def _newer(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {migrations.VERSION + 1}")
    db.close()


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("damage", [_garbage, _text, _empty, _truncated, _cut_in_a_page, _of_another_program, _newer])
def test_a_file_that_is_not_a_sound_record_is_refused_and_left_as_it_is(tmp_path, damage, writable):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", *(os.urandom(3000).hex() for _ in range(50)))
    writer.commit()
    writer.tidy()
    writer.close()
    path = tmp_path / RECORD
    damage(path)
    before = path.read_bytes()
    with pytest.raises(errors.SearchFailed) as failure:
        Record.open(tmp_path, writable=writable)
    assert failure.value.hint
    assert path.read_bytes() == before


def test_damage_that_opening_cannot_see_is_an_error_of_ours_when_it_is_met(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", *(os.urandom(3000).hex() for _ in range(50)))
    writer.commit()
    writer.tidy()
    writer.close()
    with (tmp_path / RECORD).open("r+b") as file:
        file.seek(4096 * 16)
        file.write(b"\xff" * (4096 * 20))
    record = Record.open(tmp_path)
    with pytest.raises(errors.SearchFailed):
        texts(record, "/r/a")
    record.close()


def test_an_older_record_is_brought_up_to_date_and_keeps_its_rows(tmp_path, monkeypatch):
    writer = Record.open(tmp_path, writable=True)
    put(writer, "/r/a", "kept")
    writer.commit()
    writer.close()
    step = lambda db: db.execute("ALTER TABLE files ADD COLUMN later TEXT")  # noqa: E731
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, step))
    monkeypatch.setattr(migrations, "VERSION", migrations.VERSION + 1)
    with pytest.raises(errors.SearchFailed):
        Record.open(tmp_path)
    newer = Record.open(tmp_path, writable=True)
    assert texts(newer, "/r/a") == ["kept"]
    newer.close()
    Record.open(tmp_path).close()


def test_a_record_of_version_4_keeps_its_rows_and_its_files_are_due_again(tmp_path):
    as_it_was(tmp_path, 4)
    with pytest.raises(errors.SearchFailed):
        Record.open(tmp_path)
    newer = Record.open(tmp_path, writable=True)
    row = newer.file("/r/a")
    assert texts(newer, "/r/a") == TEXTS
    assert (row.author, row.dated, row.same_text, row.like_text, row.unread_pages) == ("", "", b"", b"", 0)
    assert {segment.certainty for segment in newer.segments_of(row.file_id)} == {None}
    assert {path: stamp[3] for path, stamp in newer.stamps("/r").items()} == {
        "/r/a": -1,
        "/r/none": 5,
        "/r/a.txt": 5,
    }
    put(newer, "/r/a", "kept", same_text=b"1", like_text=b"2", author="Ann", dated="2024-03-31", unread_pages=3)
    row = newer.file("/r/a")
    assert (row.author, row.dated, row.same_text, row.like_text, row.unread_pages) == (
        "Ann",
        "2024-03-31",
        b"1",
        b"2",
        3,
    )
    assert newer.stamps("/r")["/r/a"][3] == 5
    newer.close()


@pytest.mark.parametrize("version", range(1, migrations.VERSION))
def test_a_record_of_every_older_version_keeps_files_segments_and_texts(tmp_path, version):
    as_it_was(tmp_path, version)
    with pytest.raises(errors.SearchFailed):
        Record.open(tmp_path)
    Record.open(tmp_path, writable=True).close()
    with closing(Record.open(tmp_path, writable=True)) as record:
        row = record.file("/r/a")
        assert (row.root, row.sha256, row.indexed_at, row.reader, row.generation) == ("/r", HASH, NOW, "0.0.9", 7)
        assert row.judged == (migrations.NOT_JUDGED if version < 3 else "rules 1")
        assert record.file("/r/none").indexed_at == "before"
        assert record.same_content(HASH, 3, ".txt") == record.file("/r/a.txt")
        assert row.like_text == (SKETCH if version > 4 else b"")
        assert [mark.like for mark in record.marks([row.file_id])] == [row.like_text]
        rows = record.segments_of(row.file_id)
        assert [(one.segment_id, one.seq, one.pointer, one.heading) for one in rows] == [
            (number, seq, f"section 'Costs' lines {seq + 1}-{seq + 1}", "Costs") for seq, number in enumerate(NUMBERS)
        ]
        assert record.segments(NUMBERS) == {one.segment_id: one for one in rows}
        assert list(record.texts(NUMBERS).values()) == TEXTS
        assert {one.hidden for one in record.passages(NUMBERS).values()} == {((1, 3, "email"),) if version > 2 else ()}
        assert record.living() == NUMBERS
        assert [(tally.files, tally.segments) for tally in record.tallies("/r/a")] == [(1, len(NUMBERS))]
        assert (record.generation, record.read_pages("/r")) == (7, len(NUMBERS) if version > 4 else 0)
        with closing(sqlite3.connect(tmp_path / RECORD)) as db:
            assert [row[0] for row in db.execute("PRAGMA integrity_check")] == ["ok"]
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        file_id, numbers = put(record, "/r/new", "x")
        assert file_id > 4
        assert min(numbers) > LAST
        record.remove([row.file_id])
        record.commit()
        assert (record.texts(NUMBERS), record.file("/r/a")) == ({}, None)


HASH = 32 * "ab"
NUMBERS = [*range(3, 41), *range(50, 60)]  # of segments: some that lay between were another file's
LAST = 80  # was given to a segment that is gone
TEXTS = [f"text {number} ü" for number in NUMBERS]


def as_it_was(folder: Path, version: int) -> None:
    """A record as a program of an older version left it."""
    with closing(sqlite3.connect(folder / RECORD, isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID}")
        for step in migrations.STEPS[: min(version, 5)]:
            step(db)
        db.execute("UPDATE meta SET value = 7")
        values = "'', '', '', '2021', '', ?, 9, '0.0.9', 7"
        columns = "path, root, ext, kind, size, mtime_ns, sha256, state, reason, detail, title, years, notes, indexed_at, chars, reader, generation"
        for path, ext, state, at in (
            (b"/r/a", "", "ok", NOW),
            (b"/r/none", "", "no_text", "before"),
            (b"/r/a.txt", ".txt", "no_text", NOW),
            (b"/r/gone", "", "no_text", NOW),
        ):
            given = (path, b"/r", ext, "text", 3, 5, HASH, state, at)
            db.execute(f"INSERT INTO files ({columns}) VALUES ({', '.join(8 * '?')}, {values})", given)
        db.execute("DELETE FROM files WHERE path = x'2f722f676f6e65'")  # its number is not given again
        if version > 2:
            db.execute("UPDATE files SET judged = 'rules 1'")
        for seq, (number, text) in enumerate(zip(NUMBERS, TEXTS, strict=True)):
            _put_as_it_was(db, version, number, seq, text)
        db.execute(
            "INSERT INTO segments (segment_id, file_id, seq, pointer, heading, text) VALUES (?, 2, 0, '', '', x'')",
            (LAST,),
        )
        db.execute("DELETE FROM segments WHERE segment_id = ?", (LAST,))
        if version > 4:
            db.execute("UPDATE files SET same_text = x'01', like_text = ? WHERE ext = ''", (SKETCH,))
        for step in migrations.STEPS[5:version]:
            step(db)
        db.execute(f"PRAGMA user_version = {version}")


SKETCH = bytes([7, 0, 0, 0] * 32)


def _put_as_it_was(db: sqlite3.Connection, version: int, number: int, seq: int, text: str) -> None:
    pointer = f"section 'Costs' lines {seq + 1}-{seq + 1}"
    alone = zlib.compress(text.encode()) if version < 4 else b""
    columns = "segment_id, file_id, seq, pointer, heading, text"
    db.execute(f"INSERT INTO segments ({columns}) VALUES (?, 1, ?, ?, 'Costs', ?)", (number, seq, pointer, alone))
    if version > 2:
        db.execute("UPDATE segments SET hidden = ? WHERE segment_id = ?", (hidden.pack(((1, 3, "email"),)), number))
    if version > 3:
        together = zlib.compress(b"before" + text.encode())
        block = db.execute(
            "INSERT INTO blocks (file_id, data) VALUES (1, ?) RETURNING block_id", (together,)
        ).fetchone()
        told = (*block, 6, len(text.encode()), number)
        db.execute("UPDATE segments SET block_id = ?, start = ?, size = ? WHERE segment_id = ?", told)
    if version > 4:
        db.execute("UPDATE segments SET certainty = 90 WHERE segment_id = ?", (number,))


def test_a_segment_that_was_read_from_a_picture_says_how_certain_it_is(tmp_path):
    with closing(Record.open(tmp_path, writable=True)) as record:
        file_id, _ = record.put(new("/r/a"), [Segment(0, "page 1", "", "seen", certainty=87)], (), NOW)
        assert [segment.certainty for segment in record.segments_of(file_id)] == [87]


def test_one_look_finds_a_content_however_many_files_have_it_or_failed_with_it(tmp_path):
    record = Record.open(tmp_path, writable=True)
    for i in range(500):
        put(record, f"/r/failed {i}.txt", state="failed")
        put(record, f"/r/other {i}.md")
    first, _ = put(record, "/r/0.txt")
    for i in range(500):
        put(record, f"/r/{i + 1}.txt")
    steps: list[int] = []
    record._db.set_progress_handler(lambda: steps.append(1), 1)
    assert record.same_size(3)
    row = record.same_content("ab", 3, ".txt")
    record._db.set_progress_handler(None, 1)
    assert row.file_id == first
    assert len(steps) < 150
    record.close()


def test_no_record_yet_is_not_found_for_a_reader(tmp_path):
    with pytest.raises(errors.NotFound):
        Record.open(tmp_path)


def test_an_interrupted_creation_is_begun_again(tmp_path):
    (tmp_path / f"{RECORD}.new").write_bytes(b"half")
    Record.open(tmp_path, writable=True).close()
    assert [p.name for p in tmp_path.iterdir()] == [RECORD]


def test_a_full_disk_is_said_and_nothing_committed_is_lost(tmp_path):
    if os.geteuid():
        pytest.skip("mounting a small disk needs root")
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", small], check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        writer = Record.open(small, writable=True)
        put(writer, "/r/a", "kept")
        writer.commit()
        with pytest.raises(errors.StorageFailed) as failure:
            _fill(writer)
        assert failure.value.exit_status == 6
        writer.close()
        reader = Record.open(small)
        assert texts(reader, "/r/a") == ["kept"]
        reader.close()
    finally:
        subprocess.run(["umount", "--lazy", small], check=True)


def _fill(writer: Record) -> None:
    for i in range(100):
        put(writer, f"/r/{i}", os.urandom(20_000).hex())
        writer.commit()


def test_the_second_writer_is_told_who_the_first_is(tmp_path):
    assert lock.holder(tmp_path) == ""
    held = lock.WriteLock.take(tmp_path)
    with pytest.raises(errors.Conflict):
        lock.WriteLock.take(tmp_path)
    assert lock.holder(tmp_path).startswith(f"process {os.getpid()} since ")
    held.close()
    lock.WriteLock.take(tmp_path).close()
    assert lock.holder(tmp_path) == ""


def test_what_is_hidden_is_kept_with_the_text(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    stretches = ((0, 3, "email"), (200, 70_000, "secret"), (70_000, 70_001, "custom"))
    segment = Segment(0, "page 1", "", "x" * 80_000, stretches)
    _, [only] = writer.put(new("/r/a", judged="rules 1"), [segment], (), NOW)
    writer.commit()
    assert writer.passages([only])[only].hidden == stretches
    assert [row.path for row in writer.judged_otherwise("rules 1")] == []
    assert [row.path for row in writer.judged_otherwise("rules 2")] == ["/r/a"]
    writer.mark_judged(1, "rules 2")
    assert [row.path for row in writer.judged_otherwise("rules 2")] == []


def test_what_other_rules_judged_comes_by_its_number_whatever_they_are_called(tmp_path):
    writer = Record.open(tmp_path, writable=True)
    for number, judged in enumerate(["b", "c", "a", "b", "c", "a"]):
        writer.put(new(f"/r/{number}", judged=judged), [Segment(0, "", "", "x")], (), NOW)
    assert [row.path for row in writer.judged_otherwise("b")] == ["/r/1", "/r/2", "/r/4", "/r/5"]
    writer.close()


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 400), st.sampled_from(HIDDEN_KINDS))), st.binary())
def test_what_is_hidden_is_read_back_and_damage_hides_everything(parts, noise):
    spans, at = [], 0
    for gap, size, kind in parts:
        spans.append((at + gap, at + gap + size, kind))
        at += gap + size
    assert hidden.unpack(hidden.pack(tuple(spans)), at) == tuple(spans)
    read = hidden.unpack(noise, 50)
    assert all(0 <= start <= end <= 50 for start, end, _ in read)
    if spans:
        assert hidden.unpack(hidden.pack(tuple(spans)), at - 1) == (((0, at - 1, "secret"),) if at > 1 else ())


def test_a_record_that_is_damaged_among_its_files_says_so_to_who_compares_a_folder(tmp_path):
    with closing(Record.open(tmp_path, writable=True)) as writer:
        for number in range(300):
            put(writer, f"/r/file of a long name {number:04}", "text")
        writer.commit()
    path = tmp_path / RECORD
    data, size = bytearray(path.read_bytes()), 8192
    leaf = next(
        at for at in range(size, len(data), size) if data[at] == 13 and b"of a long name" in data[at : at + size]
    )
    data[leaf : leaf + 8] = b"\xff" * 8
    path.write_bytes(data)
    with closing(Record.open(tmp_path)) as reader, pytest.raises(errors.SearchFailed, match="is damaged"):
        reader.stamps("/r")
