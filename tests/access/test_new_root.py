"""A folder that somebody types becomes a root, or it is said what to do instead."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from smart_context.access import new_root
from smart_context.access.roots import Roots
from smart_context.api import App
from smart_context.engine.local.lock import WriteLock
from smart_context.errors import BadRequest, Forbidden
from smart_context.model import Caller
from smart_context.settings import config


@pytest.fixture
def home(tmp_path):
    for name in ("old/inner", "new", "data/index"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a.txt").write_text("A walrus.\n", encoding="utf-8")
    (tmp_path / "new/b.txt").write_text("A narwhal.\n", encoding="utf-8")
    os.symlink(tmp_path / "old", tmp_path / "link")
    return tmp_path


def checked(home, typed):
    return new_root.checked(typed, Roots([home / "old"]), str(home / "data"))


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "begin with /"),
        ("Documents", "begin with /"),
        ("../x", "begin with /"),
        ("{}/ne", "check the spelling"),
        ("{}/a.txt", "name the folder that holds it"),
        ("{}/old", "search finds what is in it"),
        ("{}/old/inner/..", "search finds what is in it"),
        ("{}/link/inner", "search finds what is in it"),
        ("{}/data/index", "your own files"),
        ("{}/new\0", "begin with /"),
        ("/", "context roots add --yes /"),
        ("~", "name the folders that matter"),
        ("~/..", "name the folders that matter"),
    ],
)
def test_what_cannot_be_a_root_says_what_to_do(home, typed, says):
    with pytest.raises(BadRequest) as refused:
        checked(home, typed.format(home))
    assert says in str(refused.value.hint)


def test_a_folder_is_taken_by_its_plain_name(home):
    assert checked(home, f" {home}/new/../new/ ") == str(home / "new")


def test_a_root_is_kept_where_the_others_are_and_no_other_file_is_changed(home):
    file = home / "config.toml"
    file.write_text(f'# mine\nroots = ["{home}/old"]\n', encoding="utf-8")
    settings = config.load({"config": str(file)})
    assert new_root.keep(str(home / "new"), Roots(settings.roots), settings)
    assert config.load({"config": str(file)}).roots == (str(home / "old"), str(home / "new"))
    before = file.read_bytes()
    by_flag = config.load({"config": str(file), "roots": (str(home / "data"),)})
    assert not new_root.keep(str(home / "a"), Roots(by_flag.roots), by_flag)
    assert file.read_bytes() == before


def test_a_file_that_cannot_be_changed_is_said(home):
    file = home / "config.toml"
    file.write_text("roots = []\n", encoding="utf-8")
    settings = config.load({"config": str(file)})
    file.write_text("roots = \n", encoding="utf-8")
    with pytest.raises(BadRequest):
        new_root.keep(str(home / "new"), Roots(()), settings)


def test_a_root_is_added_while_somebody_else_writes_the_index(home):
    settings = config.load({"roots": (str(home / "old"),), "data_dir": str(home / "data")})
    with App(settings) as app, closing(WriteLock.take(home / "data")):
        assert app.add_root(str(home / "new")) == (str(home / "new"), False)
        assert app.list_roots()["roots"] == [str(home / "old"), str(home / "new")]
        assert app.locate(str(home / "new/b.txt")) == str(home / "new/b.txt")


def test_only_the_owner_adds_a_root(home):
    settings = config.load({"roots": (str(home / "old"),), "data_dir": str(home / "data")})
    with App(settings) as app, pytest.raises(Forbidden):
        app.add_root(str(home / "new"), caller=Caller("guest", is_owner=False))


@pytest.mark.parametrize("typed", ["new", "absent", "old", "a.txt"])
def test_a_token_of_some_roots_adds_none_and_learns_nothing_of_others(home, typed):
    settings = config.load({"roots": (str(home / "old"),), "data_dir": str(home / "data")})
    with App(settings) as app:
        confined = Caller("ada", (str(home / "old/inner"),), is_owner=True)
        with pytest.raises(Forbidden, match="may not add roots"):
            app.add_root(str(home / typed), caller=confined)
        assert app.roots.names == (str(home / "old"),)
