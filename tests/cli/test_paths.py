"""A path is one however it is written: `~` and relative paths work in every option and setting alike."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def home(run, tree, tmp_path):
    """A home with documents in it, where a shell has expanded nothing: the arguments come as they were typed."""
    tree({"notes/ferry.md": "The ferry leaves at seven.\n", "other/a.md": "Another ferry.\n"})
    at = ("--root=~/tree", "--data-dir=~/index")
    assert run("index", *at).returncode == 0
    return at


@pytest.mark.parametrize("folder", ["~/tree/notes", "tree/notes", "tree/../tree/notes/"])
def test_a_folder_to_search_in_may_be_written_in_any_way(run, home, tmp_path, folder):
    done = run("search", "ferry", "--json", f"--in={folder}", *home)
    assert [item["path"] for item in json.loads(done.stdout)["items"]] == [str(tmp_path / "tree/notes/ferry.md")]


def test_files_and_caches_may_be_too(run, home, tmp_path):
    assert run("open", "~/tree/notes/ferry.md", *home).stdout == b"The ferry leaves at seven.\n"
    assert run("build", "--sources=~/tree", "--cache=~/a.cache").returncode == 0
    assert run("verify", "--cache=~/a.cache").stdout == run("verify", "--cache", tmp_path / "a.cache").stdout
    assert run("verify", "--cache=a.cache").returncode == 0
    assert str(tmp_path / "tree") in run("connect", "cursor", "--print", "--root=~/tree").stdout.decode()


def test_settings_mean_their_own_folder_or_the_home(run, home, tmp_path):
    (tmp_path / "set").mkdir()
    config = tmp_path / "set/config.toml"
    config.write_text('roots = ["~/tree/notes", "../tree/other"]\ndata_dir = "~/index"\n', encoding="utf-8")
    told = run("roots", "--config=~/set/config.toml").stdout.decode().splitlines()
    assert told == [str(tmp_path / "tree/notes"), str(tmp_path / "tree/other")]


@pytest.mark.parametrize(
    ("args", "param"),
    [
        (["index", ""], "[FOLDER]..."),
        (["index", "--root", ""], "--root"),
        (["search", "ferry", "--in", ""], "--in"),
        (["roots", "add", ""], "FOLDER"),
        (["roots", "remove", ""], "FOLDER"),
        (["forget", "--yes", ""], "PATH"),
        (["cat", ""], "PATH|N"),
        (["token", "add", "ada", "--root", ""], "--root"),
        (["connect", "cursor", "--print", "--root="], "--root"),
        (["freeze", "--cache", "a.cache", "--sources", "", "ferry"], "--sources"),
        (["uninstall", "--data-dir", ""], "--data-dir"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_an_empty_path_is_not_the_current_folder(run, home, tmp_path, args, param):
    """A script whose variable is unset must not index, forget or share the folder in which it runs."""
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    done = run(*args, cwd=tmp_path / "tree")
    said = f"error: Invalid value for '{param}': it is empty; the current folder is written as a dot\n"
    assert (done.returncode, done.stdout, done.stderr.decode().partition("hint:")[0]) == (1, b"", said)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before
