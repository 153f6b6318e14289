"""What happens to the index when processes die, disks fill up and files go bad: real processes, real signals."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine import children
from smart_context import engine, errors
from smart_context.access.roots import Roots
from smart_context.engine.expression import Filters, Term
from smart_context.engine.local import lock, ranking_state, upkeep
from smart_context.engine.local.engine import RANKING, RECORD
from smart_context.engine.local.index import Index
from smart_context.engine.local.phrases import PHRASES
from smart_context.engine.local.ranking import engine as engine_of_rankings
from smart_context.engine.local.record import Record
from smart_context.engine.model import NewFile
from smart_context.index import indexer, status
from smart_context.index.indexer import Options
from smart_context.model import Segment

OPTIONS = Options(workers=1)
FILES = 40

# Index a folder with many small commits, saying each step; die at the nth call of a function where the test asks for it. Few files are under way at
# once, so that there are at least four commits, however quickly the files are read.
DRIVER = """
import os, signal, sys
from pathlib import Path
from smart_context.access.roots import Roots
from smart_context.engine.local import index, ranking, record
from smart_context.index import indexer
from smart_context.sources import worker
indexer._BATCH_FILES, worker._AHEAD, worker._IN_STOCK = 4, 2, 0
data, root, where, when = sys.argv[1:]
if where:
    name, edge = where.split()
    owner = {"record": record.Record, "ranking": ranking.Ranking}[name]
    commit, calls = owner.commit, []
    def dying(self, *args):
        calls.append(1)
        if edge == "before" and len(calls) == int(when): os.kill(os.getpid(), signal.SIGKILL)
        done = commit(self, *args)
        if edge == "after" and len(calls) == int(when): os.kill(os.getpid(), signal.SIGKILL)
        return done
    owner.commit = dying
with index.Index.open(Path(data), writable=True) as opened:
    indexer.run(opened, Roots([root]), root, indexer.Options(workers=2), on_progress=lambda s: print(s.done, flush=True))
print("done", flush=True)
"""


def start(data: Path, root: Path, where: str = "", when: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, data, root, where, str(when)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def run_on(data: Path, root: Path) -> None:
    with Index.open(data, writable=True) as opened:
        indexer.run(opened, Roots([root]), str(root), OPTIONS)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """Files that no test changes; one that must has `own`, a copy."""
    made = tmp_path_factory.mktemp("root")
    for i in range(FILES):
        (made / f"{i % 5}").mkdir(exist_ok=True)
        (made / f"{i % 5}/{i:02}.txt").write_text(f"zebra{i} in {1990 + i}\n" * (i + 1), encoding="utf-8")
    return made


@pytest.fixture
def own(root: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(root, tmp_path / "own"))


@pytest.fixture(scope="module")
def complete(root: Path, tmp_path_factory) -> Path:
    """The index of a run that nobody disturbed."""
    made = tmp_path_factory.mktemp("complete") / "data"
    run_on(made, root)
    return made


@pytest.fixture(scope="module")
def undisturbed(complete: Path) -> dict[str, tuple[object, ...]]:
    return rows(complete)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def rows(data: Path) -> dict[str, tuple[object, ...]]:
    """What the record holds, without the numbers that depend on the order of reading."""
    record = Record.open(data)
    try:
        found = {}
        for row in record.files(record.file_ids()).values():
            segments = record.segments_of(row.file_id)
            texts = record.texts(s.segment_id for s in segments)
            facts = (row.ext, row.kind, row.size, row.mtime_ns, row.sha256, row.state, row.years, row.chars)
            found[row.path] = (*facts, [(s.seq, s.pointer, texts[s.segment_id]) for s in segments])
        return found
    finally:
        record.close()


def check_committed(data: Path, root: Path) -> int:
    """Whatever is recorded is right, whole and openable by anyone; how much that is."""
    if not (data / RECORD).exists():
        return 0
    held = rows(data)
    for path, facts in held.items():
        assert "".join(text for _, _, text in facts[-1]) == Path(path).read_text(encoding="utf-8")
    whole = status.of_index(engine.at(data), Roots([root]), OPTIONS.walk)
    [told] = whole.roots
    assert (whole.writer, told.files, told.changes.new) == ("", len(held), FILES - len(held))
    return len(held)


def check_complete(data: Path, root: Path, undisturbed: dict[str, tuple[object, ...]]) -> None:
    """The record is that of a run nobody disturbed, and the ranking answers from every file, once."""
    assert rows(data) == undisturbed
    with Index.open(data) as opened:
        view = opened.ranking.view()
        assert view.file_ids() == opened.record.file_ids()
        assert [view.count(Term(f"zebra{i}")) for i in range(FILES)] == [1] * FILES


@pytest.mark.parametrize("where", ["record before", "record after", "ranking before", "ranking after"])
def test_a_kill_around_a_commit_loses_nothing_that_was_committed(data, root, undisturbed, where):
    for when in (1, 3):
        killed = start(data, root, where, when)
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        check_committed(data, root)
    run_on(data, root)
    check_complete(data, root, undisturbed)


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_at_any_moment_is_survived(data, root, undisturbed, seed):
    dice = random.Random(seed)
    held = 0
    for _ in range(2):
        killed = start(data, root)
        assert killed.stdout is not None
        for _ in range(dice.randrange(1, 30)):
            killed.stdout.readline()
        killed.kill()
        killed.communicate()
        now = check_committed(data, root)
        assert now >= held
        held = now
    run_on(data, root)
    check_complete(data, root, undisturbed)


def test_killed_readers_cost_the_run_nothing(data, root, undisturbed):
    if not Path("/proc/self/task").exists():
        pytest.skip("needs /proc to find the readers")
    run = start(data, root)
    assert run.stdout is not None
    for _ in range(5):
        run.stdout.readline()
        for child in children(run.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    assert run.communicate()[0].endswith("done\n")
    run_on(data, root)
    check_complete(data, root, undisturbed)


def test_searches_go_on_while_a_run_writes_and_see_whole_commits(data, own):
    run_on(data, own)
    for path in own.rglob("*.txt"):
        path.write_text(path.read_text(encoding="utf-8") + "yak\n", encoding="utf-8")
    run = start(data, own)
    assert run.stdout is not None
    with Index.open(data) as reader:
        for _ in run.stdout:
            reader.refresh()
            view = reader.ranking.view()
            for i in (0, 17, 39):
                [hit] = view.matches(Term(f"zebra{i}"), _everywhere()).top(10)
                [text] = reader.record.texts([hit.segment_id]).values()
                assert f"zebra{i} " in text
        run.communicate()
        reader.refresh()
        assert reader.ranking.view().count(Term("yak")) == FILES


def _everywhere():
    from smart_context.engine.expression import Filters

    return Filters()


def test_the_second_writer_is_refused_while_the_first_goes_on(data, root, undisturbed):
    first = start(data, root)
    assert first.stdout is not None
    first.stdout.readline()
    with pytest.raises(errors.Conflict):
        run_on(data, root)
    assert lock.holder(data).startswith(f"process {first.pid} since ")
    first.communicate()
    check_complete(data, root, undisturbed)


def _lost(data: Path) -> None:
    shutil.rmtree(data / "ranking")


def _garbage(data: Path) -> None:
    for path in (data / "ranking").iterdir():
        path.write_bytes(b"\x00garbage")


def _behind(data: Path) -> None:
    state = data / "ranking/generation.json"
    state.write_text(state.read_text(encoding="utf-8").replace('"generation": ', '"generation": -'), encoding="utf-8")


def _ahead(data: Path) -> None:
    state = data / "ranking/generation.json"
    state.write_text(state.read_text(encoding="utf-8").replace('"generation": ', '"generation": 9'), encoding="utf-8")


def _half_rebuilt(data: Path) -> None:
    (data / "ranking").rename(data / "ranking.old")
    (data / "ranking.new").mkdir()


@pytest.mark.parametrize("damage", [_lost, _garbage, _behind, _ahead, _half_rebuilt])
def test_the_ranking_is_made_anew_from_the_record(data, root, undisturbed, damage, complete):
    shutil.copytree(complete, data)
    damage(data)
    with Index.open(data, writable=True):
        pass
    check_complete(data, root, undisturbed)
    assert sorted(p.name for p in data.iterdir() if p.is_dir()) == ["ranking"]


def test_a_reader_notices_that_the_ranking_was_made_anew(data, root, complete):
    shutil.copytree(complete, data)
    with Index.open(data) as reader:
        reader.refresh()
        _ahead(data)
        Index.open(data, writable=True).close()
        reader.refresh()
        assert reader.ranking.view().count(Term("zebra7")) == 1


def test_a_writer_that_has_just_made_an_index_sees_it_and_stays_the_writer(data, root):
    with Index.open(data, writable=True) as opened:
        for generation in (1, 2):
            opened.put(
                NewFile(f"/r/{generation}", "/r", "text", 1, 1, "", "ok"), [Segment(0, "page 1", "", "ibis")], (), ""
            )
            assert opened.commit() == generation
            opened.refresh()
            assert opened.ranking.view().count(Term("ibi")) == generation


def test_a_reader_notices_that_a_damaged_index_was_replaced(data, root, complete):
    shutil.copytree(complete, data)
    with Index.open(data) as reader:
        reader.refresh()
        (data / RECORD).write_bytes(b"garbage" * 1000)
        upkeep.repair(data)
        run_on(data, root)
        reader.refresh()
        assert len(reader.record.file_ids()) == FILES
        assert reader.ranking.view().count(Term("zebra7")) == 1


def test_a_reader_says_that_the_whole_index_was_removed_and_sees_the_next_one(data, root, complete):
    shutil.copytree(complete, data)
    with Index.open(data) as reader:
        reader.refresh()
        shutil.rmtree(data)
        with pytest.raises(errors.NotFound):
            reader.refresh()
        run_on(data, root)
        reader.refresh()
        assert reader.ranking.view().count(Term("zebra7")) == 1


def test_a_damaged_record_is_set_aside_whole_and_never_deleted(data, root, undisturbed, complete):
    shutil.copytree(complete, data)
    (data / RECORD).write_bytes(b"garbage" * 1000)
    with pytest.raises(errors.SearchFailed):
        run_on(data, root)
    aside = upkeep.repair(data)
    assert aside is not None
    assert (aside / RECORD).read_bytes() == b"garbage" * 1000
    run_on(data, root)
    check_complete(data, root, undisturbed)


def test_repair_leaves_a_sound_record_and_makes_the_ranking_anew(data, root, undisturbed, complete):
    shutil.copytree(complete, data)
    _garbage(data)
    assert upkeep.repair(data) is None
    check_complete(data, root, undisturbed)


def test_searches_use_the_old_ranking_while_a_sound_one_is_built_anew_and_after_that_was_cut_short(
    data, root, undisturbed, complete
):
    shutil.copytree(complete, data)

    def cut_short(_step: object) -> None:
        with Index.open(data) as reader:
            found.append([reader.ranking.view().count(Term(f"zebra{i}")) for i in range(FILES)])
        if len(found) == 3:
            raise KeyboardInterrupt

    found: list[list[int]] = []
    with pytest.raises(KeyboardInterrupt):
        upkeep.repair(data, cut_short)
    assert found == [[1] * FILES] * 3
    check_complete(data, root, undisturbed)
    upkeep.repair(data)
    check_complete(data, root, undisturbed)


def test_a_rebuild_that_is_killed_between_its_renames_leaves_a_ranking_to_search(data, root, undisturbed, complete):
    shutil.copytree(complete, data)
    with Index.open(data) as reader:
        shutil.copytree(data / "ranking", data / "ranking.new")
        (data / "ranking").rename(data / "ranking.old")
        (data / "ranking.old" / "generation.json").unlink()  # it may have been damaged, or of another version
        reader.refresh()
        assert reader.ranking.view().count(Term("zebra1")) == 1
    check_complete(data, root, undisturbed)
    with Index.open(data, writable=True) as writer:
        assert writer.ranking.view().count(Term("zebra1")) == 1
        assert writer.renewed == ""
    assert [path.name for path in sorted(data.glob("ranking*"))] == ["ranking"]


def test_repair_never_touches_a_record_of_a_newer_version(data, root, complete):
    shutil.copytree(complete, data)
    with contextlib.closing(sqlite3.connect(data / RECORD)) as db:
        db.execute("PRAGMA user_version = 999")
    with pytest.raises(errors.SearchFailed):
        upkeep.repair(data)
    assert (data / RECORD).exists()


def test_maintenance_keeps_every_answer(data, own):
    run_on(data, own)
    for path in list(own.rglob("*.txt"))[:20]:
        path.touch()
    run_on(data, own)
    upkeep.maintain(data)
    with Index.open(data) as opened:
        assert [opened.ranking.view().count(Term(f"zebra{i}")) for i in range(FILES)] == [1] * FILES


def test_maintenance_says_that_most_of_the_ranking_belonged_to_deleted_files(data, own):
    run_on(data, own)
    for path in sorted(own.rglob("*.txt"))[: FILES * 3 // 4]:
        path.unlink()
    run_on(data, own)
    assert upkeep.maintain(data) == "most of the ranking belonged to deleted files: built anew from the record"
    assert upkeep.maintain(data) == ""


def test_maintenance_makes_a_ranking_anew_in_which_a_byte_changed_wherever_that_is(data, complete):
    shutil.copytree(complete, data)
    drawn = random.Random(3)
    names = sorted(
        file.name
        for file in (data / RANKING).iterdir()
        if file.stat().st_size and file.suffix not in {".json", ".lock"}
    )
    assert {name.rpartition(".")[2] for name in names} >= {"idx", "pos", "term", "fast", "data", "places", "words"}
    for name in names:
        shutil.rmtree(data)
        shutil.copytree(complete, data)
        file = data / RANKING / name
        kept = file.read_bytes()
        # Where the segments of a group begin, and their lengths; none has the number 0, or one above the last.
        of_group = [*range(8), *range(10, 10 + 2 * min(FILES, 31))]
        at = drawn.choice(of_group) if name == "packed.places" else drawn.randrange(len(kept))
        file.write_bytes(kept[:at] + bytes([kept[at] ^ 1 << drawn.randrange(8)]) + kept[at + 1 :])
        before = (data / RANKING).stat().st_ino
        assert "built anew" in upkeep.maintain(data), name
        assert (data / RANKING).stat().st_ino != before, name
        with Index.open(data) as opened:
            assert [opened.ranking.view().count(Term(f"zebra{i}")) for i in range(FILES)] == [1] * FILES
            assert not opened.ranking.flaw()
        assert upkeep.maintain(data) == ""


@pytest.mark.parametrize("look", [
    lambda view: view.packed(view.all_of(Term("zebra1"), Filters())),
    lambda view: view.matches(Term("zebra1"), Filters()).top(10),
    lambda view: view.matches(Term("zebra1"), Filters()).files(10),
    lambda view: view.first_segments(Filters()),
], ids=["all", "best", "files", "first"])  # fmt: skip
def test_a_search_in_a_ranking_that_lost_the_numbers_of_its_segments_is_refused(data, complete, look):
    shutil.copytree(complete, data)
    [numbers] = (data / RANKING).glob("*.fast")
    sound = numbers.read_bytes()
    said = []
    for at in range(0, len(sound), 16):
        numbers.unlink()  # a new file: the one before may still be mapped into memory
        numbers.write_bytes(sound[:at] + bytes(len(sound[at : at + 64])) + sound[at + 64 :])
        try:
            with Index.open(data) as opened:
                look(opened.ranking.view())
        except errors.SearchFailed as error:
            said.append(error.hint)
    assert said
    assert set(said) == {ranking_state.REBUILD}


@pytest.mark.parametrize("kind", ["fast", "del"])
def test_a_byte_that_changed_among_the_engines_numbers_is_noticed_by_every_search_and_mended_by_the_next_writer(
    data, own, kind
):
    run_on(data, own)
    for path in sorted(own.rglob("*.txt"))[:3]:
        path.unlink()
    run_on(data, own)
    [numbers] = (data / RANKING).glob(f"*.{kind}")
    sound = numbers.read_bytes()
    drawn = random.Random(4)
    for _ in range(40):
        at = drawn.randrange(len(sound))
        numbers.unlink()
        numbers.write_bytes(sound[:at] + bytes([sound[at] ^ 1 << drawn.randrange(8)]) + sound[at + 1 :])
        with pytest.raises(errors.SearchFailed) as told, Index.open(data) as opened:
            opened.ranking.view()
        assert told.value.hint == ranking_state.REBUILD
    (own / "new.txt").write_text("okapi", encoding="utf-8")
    with Index.open(data, writable=True) as opened:
        report = indexer.run(opened, Roots([own]), str(own), OPTIONS)
    assert "damaged: built anew" in report.renewed
    with Index.open(data) as opened:
        left = sorted(int(path.stem) for path in own.rglob("[0-9]*.txt"))
        assert [opened.ranking.view().count(Term(f"zebra{i}")) for i in left] == [1] * len(left)


@pytest.mark.parametrize(
    ("kind", "is_ours"), [("PermissionDenied", True), ("ReadOnlyFilesystem", True), ("Other", False)]
)
def test_a_folder_that_cannot_be_written_is_not_taken_for_a_damaged_ranking(tmp_path, kind, is_ours):
    said = f'Failed to acquire Lockfile: IoError(Os {{ code: 13, kind: {kind}, message: "no" }}). None'
    with pytest.raises(errors.ContextError) as told, engine_of_rankings.translated(tmp_path):
        raise ValueError(said)
    assert (type(told.value), told.value.hint != ranking_state.REBUILD) == (
        errors.StorageFailed if is_ours else errors.SearchFailed,
        is_ours,
    )


def test_a_text_that_is_no_text_any_more_is_told_as_damage(data, complete):
    shutil.copytree(complete, data)
    with contextlib.closing(sqlite3.connect(data / RECORD)) as db, db:
        for block, head, kept in db.execute("SELECT block_id, head, data FROM blocks ORDER BY block_id").fetchall():
            held = zlib.decompressobj(-zlib.MAX_WBITS, PHRASES).decompress(kept)
            changed = zlib.compress(held[:head] + b"\xff" * len(held[head:]), wbits=-zlib.MAX_WBITS)
            db.execute("UPDATE blocks SET data = ? WHERE block_id = ?", (changed, block))
    record = Record.open(data)
    with contextlib.closing(record), pytest.raises(errors.SearchFailed):
        record.texts(record.living())


def test_in_the_first_moments_of_the_first_run_there_is_no_index_yet(data):
    """The record is made before the ranking: a search between the two finds nothing, and nothing is damaged."""
    data.mkdir()
    Record.open(data, writable=True).close()
    with pytest.raises(errors.NotFound):
        Index.open(data)


@contextlib.contextmanager
def _small_disk(place: Path, size: str) -> Iterator[None]:
    if os.geteuid():
        pytest.skip("mounting a small disk needs root")
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "none", place], check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def test_a_full_disk_ends_the_run_with_an_error_and_the_next_one_completes(data, root, undisturbed):
    with _small_disk(data, "64m"):
        run_on(data, root)
        before = rows(data)
        (data / "filler").write_bytes(bytes(os.statvfs(data).f_bavail * os.statvfs(data).f_bsize))
        big = root / "big.txt"
        big.write_bytes(random.Random(1).randbytes(400_000).hex().encode())
        with pytest.raises(errors.StorageFailed) as told:
            run_on(data, root)
        assert "is full" in told.value.message
        assert told.value.hint.startswith("make room and index again")
        assert rows(data) == before
        (data / "filler").unlink()
        big.unlink()
        run_on(data, root)
        check_complete(data, root, undisturbed)


def test_a_disk_that_is_too_full_to_mend_the_ranking_is_named_by_upkeep(data, own):
    """A run that filled the disk left a ranking that lags; what is wrong is the disk, not the ranking."""
    dice = random.Random(1)
    (own / "big.txt").write_text(" ".join(dice.randbytes(4).hex() for _ in range(20_000)), encoding="utf-8")
    with _small_disk(data, "64m"):
        run_on(data, own)
        ranking_state.write(data / RANKING, 0)
        free = os.statvfs(data)
        (data / "filler").write_bytes(bytes(free.f_bavail * free.f_bsize - 300_000))
        with pytest.raises(errors.StorageFailed):
            upkeep.maintain(data)
        (data / "filler").unlink()
        upkeep.maintain(data)
        with Index.open(data) as opened:
            assert opened.ranking.file_ids() == opened.record.file_ids()
