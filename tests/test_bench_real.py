"""The bench on real text: what it asks depends on the files alone, and a text that stands in two files is found in either."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PLACES = ("harbour", "kitchen", "library", "orchard", "railway", "theatre")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, place in enumerate(PLACES):
        sentence = f"The committee of the {place} agreed yesterday upon several further meetings"
        longer = f"{sentence} about lanterns and {place} gates which nobody had ever seen before in winter"
        text = f"{sentence}.\n\n{longer}.\n\nSee {place}_gate_open with --open-{place} or 0x00ab{number}f, {number + 3}.2.1."
        (folder / f"{place}-notes.txt").write_text(text, encoding="utf-8")
    copy = folder / "copies"
    copy.mkdir()
    (copy / "harbour-again.html").write_text(
        "<html><body><p>The committee of the <b>harbour</b> agreed\nyesterday upon several further meetings.</p></body></html>",
        encoding="utf-8",
    )
    return folder


def bench(*args: str | Path) -> str:
    command = [sys.executable, "-m", "bench", "real", *args]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=300).stdout


def test_real_measures_a_folder_and_asks_the_same_again_of_an_index_that_is_kept(folder: Path, tmp_path: Path) -> None:
    data, first, second = tmp_path / "data", tmp_path / "first.json", tmp_path / "second.json"
    shown = bench(folder, "--data", data, "--queries", "4", "--out", first)
    assert "context index, unchanged" in shown
    bench(folder, "--data", data, "--queries", "4", "--out", second, "--skip-index")
    one, two = (json.loads(file.read_text(encoding="utf-8")) for file in (first, second))
    assert one["first"]["cpu"] > 0
    assert one["first"]["peak_mb"] > 0
    assert one["sizes"]["segments"] >= len(PLACES)
    asked = [(a["group"], a["query"], a["path"], a["rank"]) for a in one["asked"]]
    assert asked == [(a["group"], a["query"], a["path"], a["rank"]) for a in two["asked"]]
    assert {"sentence", "14 words", "name", "identifier", "words"} >= {group for group, *_ in asked} >= {"sentence"}
    assert all(rank == 1 for group, _, _, rank in asked if group == "sentence")


def test_a_sentence_that_stands_in_two_files_is_answered_by_either(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    from bench import _known

    items = {item.query: item for item in _known.items(folder, 8, 1) if item.group == "sentence"}
    about_harbour = next(item for query, item in items.items() if "harbour" in query)
    answering = {path.name for path in folder.rglob("*.*") if about_harbour.answers(path)}
    assert answering == {"harbour-notes.txt", "harbour-again.html"}
