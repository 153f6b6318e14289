"""`context open 2` shows the second result of the last search; of that search nothing is kept but where its results are."""

from __future__ import annotations

import json
import shlex

import pytest

from smart_context.cli import last_search
from smart_context.errors import NotFound


@pytest.fixture
def share(run, tree, tmp_path):
    root = tree({"ferry.md": "# Ferry\nThe ferry leaves at seven.\n", "3": "A file whose name is a number.\n"})
    config = tmp_path / "config.toml"
    config.write_text(f'roots = ["{root}"]\ndata_dir = "{tmp_path / "data"}"\n', encoding="utf-8")
    assert run("index", "--config", config).returncode == 0
    return lambda *args: run(*args, "--config", config, cwd=root)


def test_a_number_names_a_result_of_the_last_search(share):
    assert share("search", "ferry").returncode == 0
    done = share("open", "1")
    assert (done.returncode, done.stdout) == (0, b"# Ferry\nThe ferry leaves at seven.\n")
    assert done.stderr.startswith(b"ferry.md  lines 1-2")
    assert share("cat", "1").stdout == b"# Ferry\nThe ferry leaves at seven.\n"


def test_numbers_go_on_with_the_offset(share):
    share("search", "ferry leaves OR number", "--offset", "1")
    assert share("open", "2").returncode == 0
    done = share("open", "1")
    assert (done.returncode, done.stderr.decode().splitlines()[0]) == (
        4,
        "error: the last search has no result 1; it showed 2 to 2",
    )


def test_a_file_whose_name_is_a_number_is_named_by_its_path(share):
    share("search", "ferry")
    assert share("open", "./3").stdout == b"A file whose name is a number.\n"
    assert share("open", "3").returncode == 4


def test_without_a_search_it_says_so(share):
    done = share("open", "1")
    assert (done.returncode, done.stderr.decode().splitlines()[0]) == (4, "error: there was no search yet")


def test_neither_the_query_nor_any_text_is_kept_and_nobody_else_may_read_it(share, tmp_path):
    share("search", "ferry", "seven")
    kept = tmp_path / "data/last-search.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert json.loads(kept.read_bytes()) == {
        "offset": 0,
        "results": [[str(tmp_path / "tree/ferry.md"), "lines 1-2"]],
    }
    share("search", "nothing like this", "--json")  # a program asks: the person's search stays
    assert share("open", "1").returncode == 0


def test_a_result_is_opened_in_its_application_and_it_is_an_error_if_there_is_none(run, share, desktop, tmp_path):
    share("search", "ferry")
    name = tmp_path / "tree/ferry.md"
    refused = ["error: no application opened ferry.md", "hint: open it by hand"]
    paths = [(0, desktop(0), []), (6, desktop(3), refused), (6, "/nonexistent", refused)]
    for command in (("open", "1", "--app"), ("search", "ferry", "--open", "1")):
        for status, path, told in paths:
            done = run(*command, "--config", tmp_path / "config.toml", cwd=name.parent, env={"PATH": path})
            assert (done.returncode, done.stderr.decode().splitlines()) == (status, told)
    assert desktop.opened.read_text(encoding="utf-8").splitlines() == [str(name)] * 4


def test_what_lies_outside_of_the_roots_by_now_is_not_shown(run, share, tmp_path):
    share("search", "ferry")
    (tmp_path / "other").mkdir()
    done = run("open", "1", "--root", tmp_path / "other", "--data-dir", tmp_path / "data")
    assert (done.returncode, done.stdout) == (6, b"")


def test_a_result_of_a_search_with_another_root_is_shown_with_that_root(run, share, tmp_path):
    other = tmp_path / "not a root"
    other.mkdir()
    (other / "boat.md").write_text("A boat.\n", encoding="utf-8")
    config = ("--config", tmp_path / "config.toml")
    for command in ("index", "search boat"):
        assert run(*command.split(), "--root", other, *config).returncode == 0
    place = f"--root '{other}' --config {tmp_path / 'config.toml'}"
    for command in ("open", "cat"):
        lines = share(command, "1").stderr.decode().splitlines()
        assert lines == [
            "error: the path is outside the allowed folders",
            f"hint: if that search had a --root, give it here too: context {command} 1 {place}",
        ]
        assert run(*shlex.split(f"{command} 1 {place}")).stdout == b"A boat.\n"


@pytest.mark.parametrize("command", [("forget", "ferry.md"), ("uninstall", "--yes")])
def test_it_is_gone_when_text_is_forgotten_or_everything_removed(share, tmp_path, command):
    share("search", "ferry")
    assert share(*command).returncode == 0
    assert not (tmp_path / "data/last-search.json").exists()


@pytest.mark.parametrize("damage", ["[" * 100_000, '{"offset": 1e999, "results": []}', '{"offset": 0, "results": 7}'])
def test_what_is_not_a_last_search_is_taken_as_none(tmp_path, damage):
    (tmp_path / last_search.FILE).write_text(damage, encoding="utf-8")
    with pytest.raises(NotFound, match="no search yet"):
        last_search.result(str(tmp_path), 1)
