"""What a person meets in the first hour: questions on a terminal and nowhere else, and a word on whatever is not searched yet."""

from __future__ import annotations

import json
import os
import sys

import pytest

from conftest import clean_env
from smart_context.api import App
from smart_context.settings import config
from terminal import Terminal


@pytest.fixture
def folder(tree):
    tree({"docs/ferry.md": "The ferry leaves at seven.\n", "docs/sub/garage.md": "The garage opens at nine.\n"})
    return "docs"


@pytest.fixture
def typed(tmp_path):
    def at_terminal(*args, answers):
        """What is on the screen when a command has ended, each question answered."""
        command = [sys.executable, "-m", "smart_context", *args]
        with Terminal(command, clean_env(tmp_path), tmp_path / "tree", 80, 24) as terminal:
            for question, answer in answers:
                terminal.until(question)
                terminal.type(f"{answer}\n")
            terminal.until_it_ends()
            return "\n".join(terminal.lines)

    return at_terminal


def test_a_folder_that_is_no_root_is_made_one_if_the_person_says_so(run, folder, typed):
    question = "docs is not a root, so searches will not find it. Make it one? [y/N]"
    shown = typed("index", folder, answers=[(question[:60], "y")])
    assert "2 indexed" in shown
    assert run("search", "ferry", "-l").stdout.endswith(b"/docs/ferry.md\n")


def test_it_is_not_made_one_if_the_person_does_not(run, folder, typed):
    assert "context roots add" in typed("index", folder, answers=[("Make it one?", "")])
    assert run("roots").stdout == b""


def test_a_search_without_an_index_says_once_that_nothing_is_indexed(run, folder, tmp_path):
    done = run("search", "ferry", "--root", tmp_path / "tree" / folder)
    assert done.stderr.decode().splitlines() == [
        "nothing is indexed yet",
        "nothing found",
        "begin with: context index FOLDER",
    ]


@pytest.mark.parametrize("path", ["/", "//", "/.."])
def test_the_whole_file_system_is_not_read_unless_somebody_says_so(run, folder, typed, tmp_path, path):
    done = run("index", path)
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        1,
        [
            "error: / is the whole file system, and is not a root",
            "hint: name the folders that matter; if you mean all of it: context index --root /",
        ],
    )
    assert run("index", "--json", path).returncode == 1
    shown = typed("index", folder, path, answers=[("Read every file that you may read?", "")])
    assert "nothing was read" in shown
    assert not (tmp_path / "data/smart-context").exists()


def test_a_search_of_a_root_that_was_never_indexed_offers_to_index_it(folder, typed):
    shown = typed("search", "ferry", "--root", folder, answers=[("docs was never indexed. Index now? [y/N]", "y")])
    assert "The ferry leaves at seven." in shown


def test_a_person_who_declines_is_told_how(folder, typed):
    shown = typed("search", "ferry", "--root", folder, answers=[("Index now?", "n")])
    assert "begin with: context index" in shown


def test_a_program_is_asked_nothing(run, tree, folder, tmp_path):
    root = tmp_path / "tree" / folder
    assert run("index", root / "sub", "--root", root / "sub").returncode == 0
    other = tree({"other/a.md": "A ferry.\n"}) / "other"
    done = run("search", "ferry", "--root", other)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode().splitlines()[:2] == [
        "not searched, because it was never indexed: tree/other",
        "index it with: context index tree/other",
    ]


def test_a_root_whose_first_run_did_not_end_is_said_to_be_searched_in_part(run, folder, tmp_path):
    root = tmp_path / "tree" / folder
    assert run("index", root / "sub", "--root", root).returncode == 0
    done = run("search", "garage", "-k", "1", "--root", root)
    assert b"garage.md" in done.stdout
    assert done.stderr.decode().splitlines() == [
        "searched in part, because its first run did not end: tree/docs",
        "index it with: context index tree/docs",
    ]


def test_something_is_told_before_the_first_file_is_read(tree, tmp_path):
    root = tree({"large.html": b" " * 1_000_000, **{f"{n:03}.txt": f"walrus {n}\n" for n in range(250)}})
    steps = []
    with App(config.load({"roots": [str(root)], "data_dir": str(tmp_path / "data")})) as app:
        app.index_here(str(root), full=False, on_progress=steps.append)
    looking = [step for step in steps if step.what.startswith("looking for files: ")]
    assert [(step.done, step.what.split(",")[0]) for step in looking] == [
        (0, f"looking for files: {n} so far") for n in (1, 101, 201)
    ]
    assert steps[: len(looking)] == looking
    assert {(step.total, step.large) for step in steps[len(looking) :]} == {(251, 1)}
    assert all(step.searchable <= step.done for step in steps)


def test_the_commands_that_messages_name_repeat_the_options_that_were_given(run, tree, tmp_path):
    root = (
        tree({"docs of all/ferry.md": "The ferry leaves at seven.\n", "docs of all/broken.pdf": "%PDF-1.4\nno page\n"})
        / "docs of all"
    )
    given = ("--root", root, "--data-dir", tmp_path / "elsewhere")
    options = f" --root '{root}' --data-dir {tmp_path / 'elsewhere'}"
    place = f" --data-dir {tmp_path / 'elsewhere'}"
    said = [
        (("search", "walrus"), f"begin with: context index FOLDER{place}"),
        (("index",), f"see what failed, and why: context status{options}"),
        (("search", "walrus"), f"try fewer or other words; see what is indexed with: context status{options}"),
        (
            ("search", "walrus", "--explain"),
            f"try fewer or other words; see what is indexed with: context status{options}",
        ),
        (("index", root.parent), f"note: to search it, add it to the roots: context roots add {root.parent}{place}"),
    ]
    for command, last_line in said:
        lines = run(*command, *given).stderr.decode().splitlines()
        assert last_line in lines, lines


def test_status_names_the_folders_that_are_indexed_in_no_root(run, tree, tmp_path):
    tree(
        {
            "own/a.md": "A.\n",
            "own/sub/b.md": "B.\n",
            "own/sub/c.md": "C.\n",
            **{f"else/{n}/x.md": "X.\n" for n in "1234"},
        }
    )

    def elsewhere(*given):
        told = json.loads(run("status", "--json", *given).stdout)["elsewhere"]
        return told and (told["files"], [folder.removeprefix(str(tmp_path / "tree")) for folder in told["folders"]])

    root = tmp_path / "tree/own"
    assert elsewhere() is None
    assert run("index", root / "sub").returncode == 0
    assert elsewhere() == (2, ["/own/sub"])
    assert elsewhere("--root", root, "--root", root / "sub") is None
    assert elsewhere("--root", "/") is None
    assert run("index", "--root", root, tmp_path / "tree/else").returncode == 0
    assert elsewhere("--root", root) == (4, [f"/else/{n}" for n in "1234"])
    done = run("status", "--root", root / "sub")
    assert done.stdout.decode().splitlines()[4:-1] == [
        "in no root: 4 files, in ~/tree/else/1, ~/tree/else/2, ~/tree/else/3 and 1 more",
        "  search them with --root DIR, or remove them with: context forget DIR",
    ]
    assert run("forget", tmp_path / "tree/else").returncode == 0
    assert elsewhere("--root", root) is None


@pytest.mark.parametrize(
    ("path", "is_all"),
    [
        ("/", "is the whole file system"),
        ("/..", "is the whole file system"),
        ("~", "is your whole home folder"),
        ("..", "is your whole home folder"),
        ("link", "is your whole home folder"),
        ("../..", "holds your whole home folder"),
    ],
)
def test_all_that_a_person_has_becomes_a_root_only_if_somebody_says_so(run, folder, typed, tmp_path, path, is_all):
    (tmp_path / "tree" / "link").symlink_to(tmp_path)
    meant = tmp_path / path[1:] if path == "~" else (tmp_path / "tree" / path).absolute()
    name = os.path.normpath(meant)
    given = path if path[0] == "/" else meant
    done = run("roots", "add", given, cwd=tmp_path / "tree")
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        1,
        [
            f"error: {name} {is_all}",
            f"hint: name the folders that matter; if you mean all of it: context roots add --yes {name}",
        ],
    )
    assert "nothing was added" in typed("roots", "add", path, answers=[("[y/N]", "")])
    assert run("roots").stdout == b""
    assert run("roots", "add", "--yes", given).returncode == 0
    assert run("roots").stdout.decode().splitlines() == [name]
    assert run("roots", "add", given).returncode == 0  # it is one already
