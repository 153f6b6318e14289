"""Reading scanned pages and pictures into an index, with the real command."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ready
from conftest import PATIENCE, Run, Tree, clean_env
from office_files import pdf_pages, shown
from scans import HAS_PIL, needs_ocr, needs_rapidocr, page, picture, png, scan
from smart_context.api import App
from smart_context.index import background, ocr_child, ocr_text, scans
from smart_context.index.reading import Preparing
from smart_context.model import Limits, Prepared
from smart_context.settings.config import OcrSettings, Settings
from smart_context.sources import child, tessdata, worker
from smart_context.sources.worker import Task

if not HAS_PIL:
    pytest.skip("scans are not tested: Pillow is missing", allow_module_level=True)

SECRET = "AKIA2E0A8F3B244C9986"
OWN = {"text.pdf": pdf_pages(shown("Pages with text need no OCR")), "notes.txt": "plain words\n"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A home with an index of a folder whose scans were read."""
    place = tmp_path_factory.mktemp("scans")
    folder = place / "folder"
    folder.mkdir()
    files = {
        **OWN,
        "three.pdf": scan(
            (page("The first page speaks of turbines"), ""),
            (b"", "a typed page between"),
            (page("The third page speaks of gearboxes"), "mouldy layer"),
        ),
        "photo.png": picture("Receipt from Lisbon", f"key {SECRET} ends"),
        "broken.jpg": picture("cut", form="JPEG")[:700],
        "huge.png": png(100_000, 100_000),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    done = context(place, "index", "--root", str(folder), "--ocr", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["read_pages"] == 5
    return place, folder


def context(home: Path, *args: str) -> subprocess.CompletedProcess[bytes]:
    return ready.run(
        [sys.executable, "-m", "smart_context", *args],
        env=clean_env(home),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def found(home: tuple[Path, Path], query: str) -> dict[str, Any]:
    done = context(home[0], "search", query, "--root", str(home[1]), "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def where(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(os.path.basename(item["path"]), item["pointer"]) for item in answer["items"]]


@needs_ocr
def test_scanned_pages_are_found_by_page_and_marked(home: tuple[Path, Path]) -> None:
    answer = found(home, "turbines")
    assert where(answer) == [("three.pdf", "page 1")]
    assert answer["notes"][-1].startswith("read by OCR, which makes mistakes: result 1 (")
    assert "notes" not in found(home, "typed between")


@needs_ocr
def test_a_pages_own_text_and_what_its_picture_says_are_both_found(home: tuple[Path, Path]) -> None:
    assert where(found(home, "mouldy layer"))[0] == ("three.pdf", "page 3")
    assert where(found(home, "gearboxes"))[0] == ("three.pdf", "page 3")


@needs_ocr
def test_what_was_read_from_a_picture_is_redacted(home: tuple[Path, Path]) -> None:
    answer = found(home, "Receipt Lisbon")
    assert where(answer) == [("photo.png", "")]
    assert "[redacted:secret]" in answer["items"][0]["snippet"]
    assert SECRET not in json.dumps(answer)
    assert found(home, SECRET)["items"] == []


@needs_ocr
def test_status_counts_what_was_read_and_says_why_a_picture_was_not(home: tuple[Path, Path]) -> None:
    done = context(home[0], "status", "--root", str(home[1]), "--json")
    (root,) = json.loads(done.stdout)["roots"]
    assert (root["read_pages"], root["unread_pages"]) == (3, 0)
    reasons = {os.path.basename(trouble["path"]): trouble["detail"] for trouble in root["troubles"]}
    assert reasons == {
        "broken.jpg": "not read by OCR: damaged picture",
        "huge.png": "not read by OCR: too many pixels",
    }


@needs_ocr
def test_a_full_run_without_ocr_keeps_what_ocr_had_read_of_files_that_are_the_same(tree: Tree, run: Run) -> None:
    folder = tree(
        {
            "old.pdf": scan((page("A windmill near the coast"), ""), (page("A lighthouse"), "")),
            "new.png": picture("Ships in the harbour"),
        }
    )

    def places(word: str) -> list[str]:
        return [item["pointer"] for item in json.loads(run("search", word, "--root", folder, "--json").stdout)["items"]]

    assert run("index", "--root", folder, "--ocr").returncode == 0
    assert (places("windmill"), places("lighthouse"), places("harbour")) == (["page 1"], ["page 2"], [""])
    (Path(folder) / "new.png").write_bytes(picture("The castle above the town"))
    assert run("index", "--root", folder, "--full", "--no-ocr").returncode == 0
    assert (places("windmill"), places("lighthouse"), places("harbour")) == (["page 1"], ["page 2"], [])
    status = json.loads(run("status", "--root", folder, "--json").stdout)["roots"][0]
    assert (status["read_pages"], status["unread_pages"]) == (2, 3)
    lacking = run("index", "--root", folder, "--full", "--ocr", env={"SMART_CONTEXT_OCR_LANGUAGES": "tlh"})
    assert (lacking.returncode, places("windmill")) == (1, ["page 1"])
    assert run("index", "--root", folder, "--ocr").returncode == 0
    assert (places("windmill"), places("lighthouse"), places("castle")) == (["page 1"], ["page 2"], [""])
    status = json.loads(run("status", "--root", folder, "--json").stdout)["roots"][0]
    assert (status["read_pages"], status["unread_pages"]) == (3, 0)


@needs_ocr
def test_a_second_run_reads_nothing_again(home: tuple[Path, Path]) -> None:
    done = context(home[0], "index", "--root", str(home[1]), "--ocr", "--json")
    (report,) = json.loads(done.stdout)
    assert (report["indexed"], report["read_pages"], report["unread_pages"]) == (0, 0, 0)


@needs_ocr
def test_people_are_told_what_ocr_read_apart_from_the_run_and_a_picture_has_no_gap_where_others_have_a_place(
    tree: Tree, run: Run
) -> None:
    folder = tree({"scan.pdf": scan((page("A letter from Lisbon"), "")), "a.png": picture("Receipt from Lisbon")})
    told = run("index", "--root", folder, "--ocr").stderr.decode().splitlines()[-1]
    assert re.fullmatch(r"2 indexed in [\d.]+ s; 2 pages read by OCR", told)
    shown = run("search", "receipt", "--root", folder, "-k", "1").stdout.decode().splitlines()[0]
    assert re.fullmatch(r"  1\. tree/a\.png  \d{4}-\d\d-\d\d  \d\.\d\d", shown)


def test_without_ocr_scans_wait_and_nothing_of_it_is_loaded(tree: Tree, run: Run) -> None:
    folder = tree({**OWN, "scan.pdf": scan((page("one"), ""), (page("two"), "")), "a.png": picture("three")})
    done = run("index", "--root", folder, "--json", env={"PYTHONVERBOSE": "", "PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0
    assert b"tesserocr" not in done.stderr
    assert b" PIL" not in done.stderr
    status = json.loads(run("status", "--root", folder, "--json").stdout)
    assert (status["roots"][0]["read_pages"], status["roots"][0]["unread_pages"]) == (0, 3)


@needs_ocr
def test_an_interrupted_run_keeps_what_it_read_and_goes_on(tree: Tree, tmp_path: Path) -> None:
    """Each file is a step: whatever was committed before the signal is not read again, and the rest is."""
    lines = [f"Number {number} of the long scan" for number in range(6)]
    folder = tree({f"{number}.pdf": scan((page(line), "")) for number, line in enumerate(lines)})
    process = subprocess.Popen(
        [sys.executable, "-m", "smart_context", "index", "--root", folder, "--ocr"],
        env=clean_env(tmp_path),
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    record = next(iter(_until_waiting(process, tmp_path)))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    with sqlite3.connect(record) as db:
        (left,) = db.execute("SELECT SUM(unread_pages) FROM files").fetchone()
    done = context(tmp_path, "index", "--root", str(folder), "--ocr", "--json")
    (report,) = json.loads(done.stdout)
    assert (report["read_pages"], report["unread_pages"]) == (left, 0)


def _until_waiting(process: subprocess.Popen[bytes], home: Path) -> Iterator[Path]:
    """Wait until the first pass is committed."""
    while process.poll() is None:
        for record in home.rglob("record.sqlite"):
            try:
                with sqlite3.connect(f"file:{record}?mode=ro", uri=True) as db:
                    if db.execute("SELECT COUNT(*) FROM files").fetchone()[0] == 6:
                        yield record
            except sqlite3.Error:
                continue
    yield from home.rglob("record.sqlite")


@needs_ocr
@pytest.mark.usefixtures("whole_jail")
def test_pictures_are_read_in_the_whole_jail(tmp_path: Path) -> None:
    """Turned ones too: what tells the orientation opens a log when it first speaks."""
    lines = ["The pump stands beside the river", "and is greased in April."] * 3
    file = tmp_path / "a.png"
    file.write_bytes(picture(*lines, turned=180))
    command = ocr_child.started_with(Preparing(2000), tessdata.files(["en"]))
    task = Task(None, str(file), lambda: os.open(file, os.O_RDONLY), more=ocr_text.OcrRequest(1).to_json())
    with worker.Pool(Limits(), 1, jail="require", start_with=command) as pool:
        (done,) = pool.run([task])
    assert isinstance(done.outcome, Prepared)
    assert [" ".join(segment.text.split()) for segment in done.outcome.segments] == [" ".join(lines)]


@needs_ocr
def test_a_page_that_ends_the_process_costs_itself(tree: Tree, tmp_path: Path) -> None:
    root = str(tree({"four.pdf": scan(*((page(), "") for _ in range(2)), (dark(), ""), (page(), ""))}))
    data = tessdata.files(["en"])
    command = [*child.command("crashing_ocr"), *ocr_child.started_with(Preparing(2000), data)[-2:]]
    with App(Settings(roots=(root,), data_dir=str(tmp_path / "data"))) as app:
        app.index_here(root, full=False, on_progress=lambda _step: None)
        with app.engine.open(writable=True) as index:
            report = scans.read(index, app.roots, root, app.options(), data, start_with=command)
            row = index.record.file(f"{root}/four.pdf")
            assert row is not None
            places = [segment.pointer for segment in index.record.segments_of(row.file_id)]
    assert (report.read_pages, report.unread_pages) == (4, 0)
    assert places == ["page 1", "page 2", "page 4"]
    assert row.notes == ("not read by OCR: page 3: crashed: signal 6",)


def dark() -> bytes:
    from PIL import Image

    made = io.BytesIO()
    Image.new("L", (1100, 400), 20).save(made, "JPEG")
    return made.getvalue()


class Until(threading.Event):
    """An event that comes when something is so, asked each time somebody waits for it."""

    def __init__(self, is_so: Callable[[], bool]) -> None:
        super().__init__()
        self._is_so = is_so

    def wait(self, timeout: float | None = None) -> bool:
        return self._is_so() or super().wait(timeout)


@needs_ocr
def test_a_server_reads_scans_when_it_has_nothing_else_to_do(tree: Tree, tmp_path: Path) -> None:
    root = str(tree({**OWN, "scan.pdf": scan((page("A windmill near the coast"), ""))}))
    with App(Settings(roots=(root,), data_dir=str(tmp_path / "data"), ocr=OcrSettings(enabled=True))) as app:
        app.jobs.submit(root).wait()
        assert [row.unread_pages for row in app.index.record.unread(root)] == [1]
        background._scan(app, Until(lambda: not app.index.record.unread(root)), pytest.fail)
        assert app.index.record.read_pages(root) == 1
        assert app.search_files("windmill")["items"][0]["pointer"] == "page 1"


def test_what_ocr_lacks_is_said_and_nothing_else_is_lost(tree: Tree, run: Run) -> None:
    folder = tree({**OWN, "scan.pdf": scan((page("one"), ""))})
    done = run("index", "--root", folder, "--ocr", env={"SMART_CONTEXT_OCR_LANGUAGES": "tlh"})
    assert done.returncode == 1
    assert b"OCR has no data for: tlh" in done.stderr or b"the extra `ocr` is not installed" in done.stderr
    assert json.loads(run("search", "plain words", "--root", folder, "--json").stdout)["items"]


def test_a_language_that_the_chosen_engine_cannot_read_is_said_with_the_next_step(tree: Tree, run: Run) -> None:
    folder = tree({"scan.pdf": scan((page("one"), ""))})
    chosen = {"SMART_CONTEXT_OCR_ENGINE": "rapidocr", "SMART_CONTEXT_OCR_LANGUAGES": "en,ru"}
    done = run("index", "--root", folder, "--ocr", env=chosen)
    assert done.returncode == 1
    assert b"rapidocr cannot read: ru" in done.stderr
    assert b'set ocr.engine = "tesseract"' in done.stderr


@needs_rapidocr
@pytest.mark.usefixtures("whole_jail")
def test_the_other_engine_reads_scans_in_the_whole_jail_too(tree: Tree, run: Run) -> None:
    folder = tree({**OWN, "scan.pdf": scan((page("A windmill near the coast"), ""), (page("A lighthouse"), ""))})
    chosen = {"SMART_CONTEXT_OCR_ENGINE": "rapidocr", "SMART_CONTEXT_INDEX_JAIL": "require"}
    done = run("index", "--root", folder, "--ocr", "--json", env=chosen)
    assert (done.returncode, json.loads(done.stdout)[0]["read_pages"]) == (0, 2), done.stderr
    answer = json.loads(run("search", "lighthouse", "--root", folder, "--json").stdout)
    assert [item["pointer"] for item in answer["items"]] == ["page 2"]
    assert answer["notes"][-1].startswith("read by OCR, which makes mistakes: result 1 (")
