"""Workers of a shared record that read scans: behind everything else, each page once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ready
from conftest import PATIENCE, Run, Tree, clean_env
from postgres_server import Server
from scans import HAS_PIL, needs_ocr, page, picture, scan
from smart_context import engine, team
from smart_context.api import App
from smart_context.engine.model import Batch
from smart_context.index import scans, shared
from smart_context.index.model import IndexReport
from smart_context.settings import config

if not HAS_PIL:
    pytest.skip("scans are not tested: Pillow is missing", allow_module_level=True)


def app_of(root: Path, tmp_path: Path, name: str, address: str) -> App:
    flags = {"roots": [str(root)], "data_dir": str(tmp_path / name), "engine": address, "index.workers": 1}
    return App(config.load(flags, {"HOME": str(tmp_path)}))


def unread(app: App, root: Path) -> int:
    return app.status().roots[0].unread_pages


@needs_ocr
def test_workers_with_ocr_read_scans_when_no_batch_waits_and_others_leave_them(
    postgres: Server, tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scans, "_TURN_SECONDS", 0.0)  # a page a turn
    lines = ("The first page speaks of turbines", "The second of gearboxes")
    root = tree({"two.pdf": scan(*((page(line), "") for line in lines)), "a.txt": "wages"})
    address = postgres.new()
    engine.shared(tmp_path / "one", address).init()
    with app_of(root, tmp_path, "one", address) as app:
        team.enqueue(app, str(root))
        without: list[IndexReport] = []
        team.work(app, without.append, wait=False)
        assert ([report.indexed for report in without], unread(app, root)) == ([2], 2)
        assert (team.enqueue_scans(app, str(root)), team.enqueue_scans(app, str(root))) == (1, 0)
        done: list[IndexReport] = []

        def told(report: IndexReport) -> None:
            done.append(report)
            if len(done) == 1:  # something new is found after the first page
                (root / "b.txt").write_text("rent")
                team.enqueue(app, str(root))

        team.work(app, told, wait=False, scans=True)
        assert [(report.indexed, report.read_pages, report.unread_pages) for report in done] == [
            (0, 1, 1),
            (1, 0, 0),
            (0, 1, 0),
        ]
        assert unread(app, root) == 0
        found = [app.search_files(word)["items"][0]["pointer"] for word in ("turbines", "gearboxes")]
        assert found == ["page 1", "page 2"]


@needs_ocr
def test_two_workers_read_no_page_twice(postgres: Server, tree: Tree, tmp_path: Path) -> None:
    words = ("turbines", "gearboxes", "windmills", "harbours", "receipts", "bridges")
    root = tree({f"{word}.png": picture(f"This picture speaks of {word}") for word in words})
    address = postgres.new()
    place = engine.shared(tmp_path / "walker", address)
    place.init()
    with app_of(root, tmp_path, "walker", address) as app:
        team.enqueue(app, str(root))
        both = [started(root, tmp_path, name, address) for name in ("one", "two")]
        said = "".join(worker.communicate(timeout=PATIENCE)[1].decode() for worker in both)
        assert [worker.returncode for worker in both] == [0, 0]
        assert said.count("1 page read by OCR") == len(words)
        assert [app.search_files(word)["items"][0]["snippet"].split()[-1] for word in words] == list(words)
        dead = "SELECT count(*) FROM smart_context.segments WHERE dead IS NOT NULL"
        assert postgres.sql(address.partition("?")[0].rpartition("/")[2], dead) == [(0,)]  # none was written twice
        assert place.queue().waiting() == 0


def started(root: Path, tmp_path: Path, name: str, address: str) -> subprocess.Popen[bytes]:
    env = {
        **clean_env(tmp_path),
        "SMART_CONTEXT_ENGINE": address,
        "SMART_CONTEXT_ROOTS": str(root),
        "SMART_CONTEXT_DATA_DIR": str(tmp_path / name),
        "SMART_CONTEXT_INDEX_WORKERS": "1",
    }
    command = [sys.executable, "-m", "smart_context", "worker", "--once", "--ocr"]
    return ready.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@needs_ocr
def test_a_scan_that_ended_several_workers_waits_for_the_next_walk(
    postgres: Server, tree: Tree, tmp_path: Path
) -> None:
    root, address = tree({"a.png": picture("turbines")}), postgres.new()
    place = engine.shared(tmp_path / "data", address)
    place.init()
    with app_of(root, tmp_path, "data", address) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        batch = Batch(str(root), (str(root / "a.png"),), 3, is_scan=True)
        options = app.options()
        with place.beside() as index, scans.readers(options, app.ocr_data()) as seers:
            assert shared.scan(index, place.queue(), app.roots, batch, options, seers) == IndexReport()
        assert unread(app, root) == 1
        assert team.enqueue_scans(app, str(root)) == 1


def test_a_worker_that_lacks_what_ocr_needs_says_so(postgres: Server, tree: Tree, run: Run, tmp_path: Path) -> None:
    root, address = tree({"a.txt": "wages"}), postgres.new()
    engine.shared(tmp_path / "data", address).init()
    env = {"SMART_CONTEXT_ENGINE": address, "SMART_CONTEXT_OCR_LANGUAGES": "tlh"}
    done = run("worker", "--once", "--ocr", "--root", root, env=env)
    assert done.returncode != 0
    assert b"OCR has no data for: tlh" in done.stderr or b"the extra `ocr` is not installed" in done.stderr
