"""Finding it in any script: the set in `tests/multilingual`, through the real path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from searching import indexed

LANGUAGES = sorted((Path(__file__).parents[1] / "multilingual").glob("*.json"))


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("multilingual")
    for language in LANGUAGES:
        documents = json.loads(language.read_text(encoding="utf-8"))["documents"]
        (folder / "root" / language.stem).mkdir(parents=True)
        for number, text in enumerate(documents.values()):
            # Named by number: the name must not help.
            (folder / "root" / language.stem / f"{number:02}.txt").write_text(text, encoding="utf-8")
    with indexed(folder / "root", folder / "data") as opened:
        yield opened


def misses(searched, language: Path) -> list[tuple[str, str, list[str]]]:
    content = json.loads(language.read_text(encoding="utf-8"))
    names = list(content["documents"])
    out = []
    for query, name in content["queries"]:
        found = searched.names(query, 5)
        if f"{language.stem}/{names.index(name):02}.txt" not in found:
            out.append((query, name, found))
    return out


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda path: path.stem)
def test_nineteen_of_twenty_queries_find_their_document_among_the_first_five(searched, language):
    assert len(misses(searched, language)) <= 1, misses(searched, language)


def test_a_word_of_a_language_without_compounds_is_not_looked_for_in_those_of_another(tmp_path):
    english = {f"en/{n}.txt": f"The tables of the house are in the report of the year {n}.\n" for n in range(60)}
    german = {"de/a.txt": "Die Haustables und die Hausverwaltung sind nicht für alle, und das ist auch gut.\n"}
    for name, text in (english | german).items():
        file = tmp_path / "root" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with indexed(tmp_path / "root", tmp_path / "data") as folder:
        assert "de/a.txt" not in folder.names("tables", k=50)
        assert folder.names("verwaltung") == ["de/a.txt"]


def test_that_pairs_of_characters_follow_each_other_counts_no_further(tmp_path):
    (tmp_path / "root").mkdir()
    for name, text in {"one": "数据库每晚备份一次。", "other": "备份和数据。", "third": "别的事情。"}.items():
        (tmp_path / "root" / f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    with indexed(tmp_path / "root", tmp_path / "data") as folder:
        found = folder.page("数据库备份").items
        assert [Path(item.path).name for item in found] == ["one.txt", "other.txt"]
        assert all("neighbours: 0.0000" in item.explanation for item in found)
