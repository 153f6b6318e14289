"""Whatever a command tells people fits a terminal of forty columns, and a terminal that can do nothing gets nothing but text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import clean_env
from smart_context.cli.layout import width_of
from terminal import Terminal

LONG = "a-rather-long-folder-name/and-another-one-inside-of-it"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A person's folder with an index, two caches, and a client whose settings are broken."""
    home = tmp_path_factory.mktemp("home")
    documents = home / "documents" / LONG
    documents.mkdir(parents=True)
    for number in range(8):
        text = f"# Note {number}\n\nThe gryphon was met in {2000 + number}, and nobody was harmed by it.\n"
        (documents / f"a note that has quite a long name {number}.md").write_text(text, encoding="utf-8")
    (documents / "an empty file with a rather long name as well.md").touch()
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_text("{broken", encoding="utf-8")
    call(home, "roots", "add", home / "documents")
    call(home, "index")
    for name, k in (("a.cache", 3), ("b.cache", 4)):
        call(home, "freeze", "gryphon", "--cache", home / name, "-k", str(k))
    return home


def call(home, *args):
    command = [sys.executable, "-m", "smart_context", *map(str, args)]
    subprocess.run(command, env=clean_env(home), cwd=home, check=True, capture_output=True)


def shown(home: Path, columns: int, *args: str) -> list[str]:
    """What a command has put on the screen when it has ended, what went over the edge included."""
    command = [sys.executable, "-m", "smart_context", *args]
    with Terminal(command, clean_env(home), home, columns, 200) as terminal:
        terminal.until_it_ends()
        terminal.columns = 500
        return [line for line in terminal.lines if line]


def test_a_server_that_a_person_starts_says_for_whom_it_waits(home):
    command = [sys.executable, "-m", "smart_context", "serve"]
    with Terminal(command, clean_env(home), home, 80, 24) as terminal:
        terminal.until("context connect")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.until_it_ends() in {0, 130}  # 130: it was not serving yet
        assert terminal.lines[0] == "waiting for an MCP client on standard input; end it with Ctrl-C"


@pytest.mark.parametrize(
    "words",
    [
        "search gryphon",
        "search gryphon --open 99",
        "search gryphon --ext .xyz",
        "status",
        "doctor",
        "connect",
        "uninstall",
        "why --cache a.cache --query gryphon --budget 30",
        "diff a.cache b.cache --stat",
        "replay a.cache",
        "eval --sample 3",
    ],
)
def test_no_line_is_wider_than_a_terminal_of_forty_columns(home, words):
    lines = shown(home, 40, *words.split())
    assert lines
    # A path of this checkout can be as long as it likes: it stands alone on its line, whole.
    assert [line for line in lines if width_of(line) > 40 and len(line.split()) > 1] == []


def test_on_a_wide_terminal_no_message_is_longer_than_a_hundred(home):
    lines = shown(home, 200, "connect", "kiro", "--root", str(home / "documents"), "--yes")
    assert any("context_inspect_cache" in line for line in lines)
    long = [line for line in lines if len(line) > 100 and str(home) not in line]
    assert [line for line in long if str(Path(sys.executable).parent) not in line] == []


def test_at_twenty_columns_a_result_is_its_file_and_its_passage(home):
    lines = shown(home, 20, "search", "gryphon", "-k", "2")
    assert max(map(width_of, lines)) <= 20
    assert lines[0].startswith("  1. ")
    assert "gryphon" in lines[1]


def test_a_terminal_that_cannot_erase_gets_neither_colours_nor_links_nor_a_bar(home):
    command = ["env", "TERM=dumb", sys.executable, "-m", "smart_context"]
    for words in (["search", "gryphon"], ["doctor"], ["index", "--full"]):
        with Terminal([*command, *words], clean_env(home), home, 80, 60) as terminal:
            terminal.until_it_ends()
            assert b"\x1b" not in terminal.raw
    with Terminal([*command, "search", "-i"], clean_env(home), home, 80, 24) as terminal:
        assert terminal.until_it_ends() == 1
        assert "cannot show an interactive search" in "\n".join(terminal.lines)


def test_a_terminal_without_the_letters_gets_escapes_instead(home):
    (home / "documents/turkish.md").write_text("# Şifreleme\n\nŞifreleme is encryption: 🔑.\n", encoding="utf-8")
    call(home, "index")
    command = [sys.executable, "-m", "smart_context", "search", "encryption"]
    env = {**clean_env(home), "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, env=env, cwd=home, capture_output=True, check=True)
    assert rb"\u015eifreleme is encryption: \U0001f511." in done.stdout
    told = subprocess.run([*command, "--json"], env=env, cwd=home, capture_output=True, check=True).stdout
    assert "Şifreleme is encryption: 🔑." in json.loads(told)["items"][0]["snippet"]


def test_a_standard_output_that_is_closed_is_no_bug(home):
    command = [sys.executable, "-m", "smart_context", "search", "gryphon"]
    done = subprocess.run(
        command, env=clean_env(home), cwd=home, stderr=subprocess.PIPE, check=False, preexec_fn=lambda: os.close(1)
    )
    assert (done.returncode, b"internal" in done.stderr) == (0, False)
