"""The bench of growth: which files a share has depends on their paths alone, and one index grows through all shares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _bench_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "texts" / "notes"
    folder.mkdir(parents=True)
    for number, letters in enumerate("abcdefghijkl"):
        sentence = f"The committee of {letters * 6} agreed yesterday upon several further meetings about lanterns"
        (folder / f"minutes-of-{number:02}.txt").write_text(f"{sentence}.\n", encoding="utf-8")
    (folder / ".hidden.txt").write_text("Nobody ever indexes hidden things.\n", encoding="utf-8")
    return folder.parent


def test_a_share_holds_the_shares_below_it_and_about_as_many_files_as_it_says() -> None:
    from bench import growth

    places = [growth.place(f"folder/file-{number}.txt") for number in range(2000)]
    assert all(0 <= place < 1 for place in places)
    assert 520 < sum(place < 0.3 for place in places) < 680
    assert growth.place("folder/file-1.txt") == places[1]


def test_one_index_grows_through_the_shares_and_is_asked_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    from bench import growth

    out, work = tmp_path / "growth.json", tmp_path / "work"
    told = [str(folder), "--work", str(work), "--out", str(out), "--queries", "6", "--again", "1"]
    told += ["--plots", str(tmp_path)]
    growth.main([*told, "--shares", ".5"])
    growth.main([*told, "--shares", ".5,1"])
    half, whole = json.loads(out.read_text(encoding="utf-8"))["rows"]
    taken = [path for path in (folder / "notes").glob("m*") if growth.place(f"notes/{path.name}") < 0.5]
    assert (half["files"], whole["files"]) == (len(taken), 12)
    assert (half["segments"], whole["segments"]) == (len(taken), 12)
    assert whole["total"]["cpu"] == pytest.approx(half["step"]["cpu"] + whole["step"]["cpu"])
    asked = [(a["query"], a["path"]) for a in half["asked"]]
    assert {a["group"] for a in half["asked"]} == {"sentence", "name"}
    assert asked == [(a["query"], a["path"]) for a in whole["asked"]]
    assert {Path(path).name for _, path in asked} <= {path.name for path in taken}
    assert "1,000" not in (tmp_path / "growth-index.svg").read_text(encoding="utf-8")


def test_names_that_are_asked_for_are_those_of_one_file_in_the_whole_folder(tmp_path: Path) -> None:
    from bench import _known

    for name in ("in/both.txt", "out/both.txt", "in/once.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("Some text or other.\n", encoding="utf-8")
    items = _known.items(tmp_path, 5, 1, lambda path: path.startswith("in/"))
    assert {item.path for item in items if item.group == "name"} == {"in/once.txt"}
