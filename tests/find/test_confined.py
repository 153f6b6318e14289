"""A token that may see some folders learns nothing of the others: its answers are those of an index that holds its folders alone."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from smart_context import engine
from smart_context.api import App
from smart_context.engine.model import Following, NewFile
from smart_context.errors import Forbidden
from smart_context.find import search
from smart_context.frozen import provenance
from smart_context.frozen.provenance import Question
from smart_context.frozen.verbs import FreezeOptions
from smart_context.model import OWNER, Caller, Segment
from smart_context.redact import Redactor
from smart_context.settings import config
from smart_context.text import years

WORDS = [
    "rent",
    "rents",
    "wages",
    "income",
    "plan",
    "report",
    "ledger",
    "invoice",
    "harbour",
    "island",
    "teh",
    "the",
    "contract",
    "Vertrag",
    "Mietvertrag",
    "Lohn",
    "Löhne",
]
FOLDERS = ("a", "b", "c", "d")
ASKED = 1000
QUERIES = (
    "rent", "wages income", "rental", "invioce", "harbor", "mietvert*", "re*", "Vertrag", "report.txt", "plan -rent", "ledger OR island",
    '"rent wages"', "secret0", "secrte1", "only3 plan", "report 2021", "the", "ledger NEAR plan", "contract lohn", "unknownword",
)  # fmt: skip


def texts(folder: str, seed: int) -> Iterator[tuple[str, list[str]]]:
    """The files of a folder: words of all, and some that stand nowhere else."""
    drawn = random.Random(f"{folder}{seed}")
    number = FOLDERS.index(folder)
    for count in range(4):
        own = [f"secret{number}", f"only{number}"] if count % 2 else []
        yield (
            f"{folder}/{'report' if count == 0 else f'f{count}'} {2019 + number}.txt",
            [" ".join(drawn.choices(WORDS, k=drawn.randint(3, 30)) + own) for _ in range(drawn.randint(1, 4))],
        )


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, ...], App]]:
    """An application over every set of folders; all of them are roots of each."""
    base = tmp_path_factory.mktemp("confined")
    rules = Redactor().identity()
    made: dict[tuple[str, ...], App] = {}
    with ExitStack() as stack:
        for size in range(1, len(FOLDERS) + 1):
            for held in combinations(FOLDERS, size):
                data = base / f"data-{''.join(held)}"
                with engine.at(data).open(writable=True) as index:
                    for folder in held:
                        for name, segments in texts(folder, 7):
                            path = base / "tree" / name
                            path.parent.mkdir(parents=True, exist_ok=True)
                            path.write_text("\n".join(segments), encoding="utf-8")
                            os.utime(path, (1_600_000_000, 1_600_000_000))
                            root = str(path.parent)
                            new = NewFile(str(path), root, "text", 1, 1_600_000_000 * 10**9, "ab", "ok", judged=rules)
                            cut = [Segment(i, f"lines {i + 1}-{i + 1}", "", text) for i, text in enumerate(segments)]
                            index.put(new, cut, years.named_in((path.name,)), "")
                    index.commit()
                flags = {"roots": [str(base / "tree" / folder) for folder in FOLDERS], "data_dir": str(data)}
                made[held] = stack.enter_context(App(config.load(flags, {"HOME": str(base)})))
        yield made


@pytest.mark.unmeasured
def test_a_thousand_random_permissions_answer_as_an_index_of_those_folders_alone(
    apps: dict[tuple[str, ...], App],
) -> None:
    drawn = random.Random(20240506)
    whole = apps[FOLDERS]
    roots = dict(zip(FOLDERS, whole.roots.names, strict=True))

    @cache
    def differ(held: tuple[str, ...], query: str, k: int, offset: int) -> bool:
        own = tuple(roots[folder] for folder in held)
        confined = whole.search_files(query, k, offset, caller=Caller("ada", own, is_owner=False))
        return json.dumps(confined) != json.dumps(apps[held].search_files(query, k, offset, roots=own))

    wrong = set()
    for _ in range(ASKED):
        held = tuple(folder for folder in FOLDERS if drawn.random() < 0.5) or ("a",)
        asked = (held, drawn.choice(QUERIES), *drawn.choice(((10, 0), (1, 2))))
        if differ(*asked):
            wrong.add(asked)
    assert wrong == set()


def test_what_a_confined_token_freezes_is_what_an_index_of_its_folders_gives(
    apps: dict[tuple[str, ...], App], tmp_path: Path
) -> None:
    whole, alone = apps[FOLDERS], apps["a", "b"]
    own = whole.roots.names[:2]
    caller = Caller("ada", own, is_owner=True)
    for number, query in enumerate(("rent wages", "mietvert*", "report 2021", "ledger OR island")):
        question = Question(query, 50, (), (), own)
        documents = []
        for name, app, who in (("whole", whole, caller), ("alone", alone, OWNER)):
            target = tmp_path / f"{name}{number}"
            app.freeze(question, str(target), FreezeOptions(), caller=who)
            documents.append(provenance.read(target).documents)
        assert documents[0] == documents[1]


def test_how_many_files_a_shared_record_has_is_not_told_to_who_sees_some() -> None:
    (all_of_it,) = search.lag(Following(taken=3, total=4711), is_confined=False)
    (some_of_it,) = search.lag(Following(taken=3, total=4711), is_confined=True)
    assert "3 of 4,711 files" in all_of_it
    assert some_of_it == "this machine is still taking in the shared record"


def test_a_confined_token_writes_no_cache_where_it_sees_none(tmp_path: Path, tree) -> None:
    root = tree({"x/a.txt": "rent wages"})
    (tmp_path / "caches" / "taken").mkdir(parents=True)
    (tmp_path / "allowed.toml").write_text("[cache]\nfreeze = true\n", encoding="utf-8")
    flags = {"roots": [str(root)], "data_dir": str(tmp_path / "data"), "cache_root": str(tmp_path / "caches")}
    with App(config.load({**flags, "config": str(tmp_path / "allowed.toml")}, {"HOME": str(tmp_path)})) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        for name in ("taken", "free"):
            with pytest.raises(Forbidden, match="may not write caches"):
                app.freeze_search("rent", name, caller=Caller("ada", (str(root / "x"),), is_owner=True))
        assert app.freeze_search("rent", "free")["document_count"] == 1


def test_a_near_word_that_stands_elsewhere_alone_is_not_suggested(apps: dict[tuple[str, ...], App]) -> None:
    whole = apps[FOLDERS]
    caller = Caller("ada", whole.roots.names[:1], is_owner=False)
    assert whole.search_files("secrte1", caller=caller)["notes"] == ["nothing has 'secrte1'"]
    assert whole.search_files("only3", caller=caller)["pagination"]["total_estimate"] == 0


def test_a_subfolder_of_a_root_is_a_permission_of_its_own(tmp_path: Path, tree) -> None:
    root = tree({"x/a.txt": "rent wages", "y/b.txt": "wages harbour"})
    data = tmp_path / "data"
    rules = Redactor().identity()
    with engine.at(data).open(writable=True) as index:
        for name in ("x/a.txt", "y/b.txt"):
            new = NewFile(str(root / name), str(root), "text", 1, 1, "ab", "ok", judged=rules)
            index.put(new, [Segment(0, "", "", (root / name).read_text(encoding="utf-8"))], (), "")
        index.commit()
    flags = {"roots": [str(root)], "data_dir": str(data)}
    with App(config.load(flags, {"HOME": str(tmp_path)})) as app:
        caller = Caller("ada", (str(root / "x"),), is_owner=False)
        assert app.search_files("harbuor", caller=caller)["items"] == []
        assert [item["path"] for item in app.search_files("wages", caller=caller)["items"]] == [str(root / "x/a.txt")]
