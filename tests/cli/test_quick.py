"""What is read of a command line without click is what click reads of it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import click
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conftest import clean_env
from smart_context.cli import program, quick

COMMANDS = {name: program.cli.get_command(click.Context(program.cli), name) for name in quick.COMMANDS}


def by_click(args):
    """What click gives a command; None for what it refuses, or answers by itself."""
    try:
        with COMMANDS[args[0]].make_context(args[0], args[1:]) as context:
            return context.params
    except (click.ClickException, click.exceptions.Exit):
        return None


def by_quick(args):
    """What a command is given without click, with its defaults; None for what is left to click."""
    given = quick.parsed(args)
    return None if given is None else {**defaults(args[0]), **given}


def defaults(name):
    module = import_module(f"smart_context.cli.{quick._MODULES[name]}")
    own = inspect.signature(module.run).parameters
    told = {key: one.default for key, one in own.items() if key != "settings"}
    return told | {"config_file": None, "roots": (), "data_dir": None, "cache_root": None}


@pytest.mark.parametrize("name", quick.COMMANDS)
def test_the_table_holds_what_click_was_told(name):
    options = {opt: one for one in COMMANDS[name].params for opt in one.opts if isinstance(one, click.Option)}
    for option, (key, kind) in quick.COMMANDS[name][1].items():
        assert options[option].name == key
        assert options[option].multiple == kind.endswith("s")
        assert options[option].is_flag == (kind == "flag")


@pytest.mark.parametrize("name", quick.COMMANDS)
def test_a_command_has_the_defaults_that_click_was_told(name):
    assert by_click([name, *(["word"] if name == "search" else [])]) == by_quick(
        [name, *(["word"] if name == "search" else [])]
    )


OPTIONS = sorted({option for _, options in quick.COMMANDS.values() for option in options})
WORDS = ["walrus", "", "-", "--", "3", "-3", "x=y", "~", "/", "/dev/null", "~/x", "date", "new", "ü", " 7 ", "1_0"]
ODD = ["-h", "--help", "--debug", "-i", "-k3", "-lk", "--frob", "--lim", "---", "--=", "--json=1", "--watch="]
WORD = st.one_of(
    st.sampled_from(OPTIONS),
    st.sampled_from(WORDS),
    st.sampled_from(ODD),
    st.builds("{}={}".format, st.sampled_from(OPTIONS), st.sampled_from(WORDS)),
)


@given(st.sampled_from(sorted(quick.COMMANDS)), st.lists(WORD, max_size=5))
@example("search", ["walrus", "-k", "3", "herring"])
@example("search", ["--root=~/x", "--root", "/", "walrus"])
@example("search", ["--", "-k", "3"])
@example("search", ["a", "--", "b", "--", "c"])
@example("search", ["walrus", "--in", "~/x", "--in=y"])
@example("search", ["walrus", "--json", "--json"])
@example("search", ["walrus", "-k", "3", "--limit", "4"])
@example("search", ["walrus", "--root", "/dev/null"])
@example("search", ["walrus", "--config", "/"])
@example("search", ["walrus", "--sort", "date", "--since", ""])
@example("search", ["walrus", "--sort=new"])
@example("search", ["walrus", "--offset"])
@example("index", ["~/x", "/", "--full"])
@example("index", ["/dev/null"])
@example("serve", ["--watch", "--root", "/"])
@example("serve", ["walrus"])
def test_what_is_understood_is_what_click_understands(name, words):
    args = [name, *words]
    mine = by_quick(args)
    if mine is not None:
        assert mine == by_click(args)


@pytest.mark.parametrize(
    "args",
    [
        ["search", "walrus", "herring", "-k", "3", "--root", "/", "--data-dir=/x", "--json"],
        ["search", "--ext", ".pdf", "--", "-draft"],
        ["index"],
        ["index", "/", "--root", "/"],
        ["serve", "--root", "/", "--data-dir", "/x", "--watch"],
    ],
    ids=" ".join,
)
def test_what_is_mostly_typed_needs_no_click(args):
    assert by_quick(args) == by_click(args) is not None


def test_a_search_loads_no_click_and_answers_as_with_it(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("The walrus sleeps on the ice.\n", encoding="utf-8")

    def run(*args, **env):
        whole = [sys.executable, *args, "--root", "notes", "--data-dir", "data"]
        return subprocess.run(whole, cwd=tmp_path, env={**clean_env(tmp_path), **env}, capture_output=True, check=False)

    context = ("-m", "smart_context")
    assert run(*context, "index", "notes").returncode == 0
    (tmp_path / "broken/click").mkdir(parents=True)
    (tmp_path / "broken/click/__init__.py").write_text("raise ImportError", encoding="utf-8")
    by_click = "import sys; from smart_context.cli import program; sys.exit(program.run(sys.argv[1:]))"
    for more in ((), ("--json",), ("-l",), ("--explain", "--group"), ("--jsonl",), ("-k", "900")):
        with_click = run("-c", by_click, "search", "walrus", *more)
        without = run(*context, "search", "walrus", *more, PYTHONPATH=str(tmp_path / "broken"))
        if more != ("-k", "900"):
            assert without.stdout == with_click.stdout != b""
            assert (without.stderr, without.returncode) == (with_click.stderr, with_click.returncode)
        else:  # what is refused later than by click is said in the same words
            assert (without.stdout, without.returncode) == (b"", 1)
            assert run(*context, "search", "walrus", *more, "--debug").stderr.endswith(without.stderr)


@pytest.mark.parametrize("columns", [None, "0", "50", "x"])
@pytest.mark.parametrize("lines", [None, "33"])
def test_a_screen_is_as_large_as_shutil_finds_it(tmp_path, columns, lines):
    asked = (
        "import shutil; from smart_context import cli; print(cli.screen((7, 3)) == shutil.get_terminal_size((7, 3)))"
    )
    told = {key: value for key, value in (("COLUMNS", columns), ("LINES", lines)) if value is not None}
    done = subprocess.run(
        [sys.executable, "-c", asked], env={**clean_env(tmp_path), **told}, capture_output=True, check=True
    )
    assert done.stdout == b"True\n"
