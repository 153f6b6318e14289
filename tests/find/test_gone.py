"""Gone is gone: a file that was moved, deleted, replaced or closed to us is not shown from that moment."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import unprivileged
from smart_context import engine
from smart_context.access.roots import Roots
from smart_context.api import App
from smart_context.engine.model import FileRow
from smart_context.errors import BadRequest, ContextError
from smart_context.find.present import Presence
from smart_context.settings.config import Settings


@pytest.fixture
def app(tree, tmp_path):
    root = tree(
        {f"{n:02}.txt": f"The walrus sleeps, number {n}.\n" for n in range(12)} | {"sub/a.txt": "A walrus below.\n"}
    )
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        yield app


def names(app, k=50, offset=0):
    root = app.roots.names[0]
    return [item["path"].removeprefix(f"{root}/") for item in app.search_files("walrus", k=k, offset=offset)["items"]]


def test_what_is_gone_is_not_shown_and_the_page_is_filled_up(app):
    root = app.roots.names[0]
    before = names(app)
    assert len(before) == 13
    os.remove(f"{root}/{before[0]}")
    os.rename(f"{root}/{before[1]}", f"{root}/renamed.txt")
    os.remove(f"{root}/{before[2]}")
    os.symlink(f"{root}/{before[3]}", f"{root}/{before[2]}")
    os.remove(f"{root}/{before[4]}")
    os.mkdir(f"{root}/{before[4]}")
    left = [before[3], *before[5:]]
    assert names(app) == left
    assert names(app, k=5) + names(app, k=50, offset=5) == left
    assert app.search_files("walrus", k=50)["pagination"]["total_estimate"] == len(left)


def test_a_folder_that_is_replaced_by_a_link_takes_its_files_with_it(app, tmp_path):
    root = app.roots.names[0]
    shutil.move(f"{root}/sub", tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", f"{root}/sub")
    assert "sub/a.txt" not in names(app)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_may_no_longer_be_read_is_not_shown(app):
    root = app.roots.names[0]
    os.chmod(f"{root}/03.txt", 0)
    assert "03.txt" not in names(app)


def test_a_root_that_is_away_stays_searchable(app, tmp_path):
    root = app.roots.names[0]
    os.rename(root, tmp_path / "away")
    assert len(names(app)) == 13


def test_a_file_as_root_is_refused_with_what_to_do_instead(app):
    root = app.roots.names[0]
    with pytest.raises(BadRequest):
        app.search_files("walrus", roots=(f"{root}/01.txt",))


@unprivileged.needs_root
def test_what_the_user_who_runs_it_may_no_longer_read_is_not_shown(app):
    root = app.roots.names[0]
    os.chmod(f"{root}/01.txt", 0)
    for folder in Path(root).parents:
        if "pytest" in str(folder):
            folder.chmod(0o755)
    record, _ = app.index.both()
    rows = {name: record.file(f"{root}/{name}.txt") for name in ("01", "02")}
    presence = Presence(app.roots, record)
    os.seteuid(unprivileged.NOBODY)
    try:
        there = {name: presence(row) for name, row in rows.items()}
    finally:
        os.seteuid(0)
    assert there == {"01": False, "02": True}


def test_open_folders_say_of_every_file_what_a_walk_from_its_root_says(tree, tmp_path):
    root = tree({f"d{n}/e{n}/{name}": "text\n" for n in range(70) for name in ("a.txt", "b.txt")})
    outside = tmp_path / "outside"
    shutil.copytree(root / "d0", outside)
    shutil.rmtree(root / "d1/e1")
    os.symlink(outside / "e0", root / "d1/e1")
    shutil.rmtree(root / "d2/e2")
    os.symlink(root / "d3/e3", root / "d2/e2")
    os.remove(root / "d4/e4/a.txt")
    os.symlink("b.txt", root / "d4/e4/a.txt")
    os.remove(root / "d5/e5/a.txt")
    os.mkfifo(root / "d5/e5/a.txt")
    os.remove(root / "d6/e6/a.txt")
    os.mkdir(root / "d6/e6/a.txt")
    os.remove(root / "d7/e7/a.txt")
    shutil.rmtree(root / "d8")
    (root / "d8").write_text("no folder any more\n")
    roots = Roots([root])

    def walked(path: str) -> bool:
        try:
            os.close(roots.open_file(path))
        except ContextError:
            return False
        return roots.inside(path).path == path

    paths = [f"{root}/d{n}/e{n}/{name}" for name in ("a.txt", "b.txt") for n in range(70)]
    odd = [f"{root}/d9/../d9/e9/a.txt", f"{root}//d9/e9/a.txt", f"{outside}/e0/a.txt", str(root)]
    with engine.at(tmp_path / "data").open(writable=True) as index, Presence(roots, index.record) as presence:
        told = {path: presence(a_file(number, path)) for number, path in enumerate([*paths, *odd])}
    assert told == {path: walked(path) for path in [*paths, *odd]}
    assert sum(told.values()) == 140 - 2 - 2 - 1 - 1 - 1 - 1 - 2 + 0


def a_file(number: int, path: str) -> FileRow:
    return FileRow(number, path, "", ".txt", "text", 0, 0, "", "ok", "", "", "", (), (), "", 0, "", 1)
