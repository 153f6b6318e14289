"""Results on a terminal: two lines each, cut to its width; names alone, by file, as lines of JSON."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from conftest import clean_env

LONG = "a-rather-long-folder-name/and-another-one-inside-of-it"


@pytest.fixture
def share(run, tree):
    text = "Words come first and they go on for quite a while before the gryphon is met, " * 3
    root = tree(
        {f"{LONG}/notes {i:02}.md": f"# Note {i}\n\n{text}{i}\n" for i in range(12)} | {"龍.md": "gryphon 漢字" * 40}
    )
    assert run("index", "--root", root).returncode == 0
    return root


def on_terminal(tmp_path, columns, *args):
    """What a command shows on a terminal of so many columns."""
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {**clean_env(tmp_path), "TERM": "xterm"}
    command = [sys.executable, "-m", "smart_context", *map(str, args)]
    with subprocess.Popen(command, stdout=inner, stderr=subprocess.DEVNULL, env=env) as process:
        os.close(inner)
        shown = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(terminal)
    assert process.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def plain(shown):
    return re.sub(r"\x1b\]8;;.*?\x1b\\|\x1b\[[0-9;]*m", "", shown)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_ten_results_fit_a_screen_and_no_line_is_longer_than_it(tmp_path, share, columns):
    from smart_context.cli.show import width_of

    lines = plain(on_terminal(tmp_path, columns, "search", "gryphon", "--root", share)).splitlines()
    assert len(lines) == 20
    assert max(map(width_of, lines)) <= columns
    assert [line[:4] for line in lines[::2]] == [f"{n:>3}." for n in range(1, 11)]
    assert all("gryphon" in line for line in lines[1::2])


def test_a_name_is_a_link_to_its_file_and_the_match_is_marked(tmp_path, share):
    shown = on_terminal(tmp_path, 100, "search", "gryphon", "--root", share, "--ext", ".md", "-k", "3")
    assert "\x1b]8;;file:///" in shown
    assert "notes%20" in shown
    assert re.search(r"\x1b\[33m\x1b\[1mgryphon\x1b\[0m", shown)


def test_a_link_names_the_file_as_it_is_on_disk(tmp_path, run, tree):
    root = tree({"a.md": "wyvern"})
    os.rename(root / "a.md", os.fsencode(root) + b"/bad\xff.md")
    assert run("index", "--root", root).returncode == 0
    shown = on_terminal(tmp_path, 100, "search", "wyvern", "--root", root)
    assert f"file://{root}/bad%FF.md" in shown


def test_copies_are_counted_where_the_screen_has_no_room_to_name_them(tmp_path, run, tree):
    texts = {n: f"# Note {n}\n\n" + f"A gryphon was met in {1900 + n}. " * 40 for n in range(10)}
    root = tree({f"{place}/{n}.md": text for n, text in texts.items() for place in ("here", "there")})
    assert run("index", "--root", root).returncode == 0
    lines = plain(on_terminal(tmp_path, 80, "search", "gryphon", "--root", root)).splitlines()
    assert len(lines) == 20
    assert all(line.endswith("  +1 like it") for line in lines[::2])
    few = plain(on_terminal(tmp_path, 80, "search", "gryphon", "--root", root, "-k", "2")).splitlines()
    assert [line.strip()[:7] for line in few[2::3]] == ["also in", "also in"]


def test_unquoted_words_are_one_query(run, share):
    quoted, unquoted = (
        run("search", *q, "--root", share, "--json") for q in (["note 7 gryphon"], ["note", "7", "gryphon"])
    )
    assert quoted.stdout == unquoted.stdout
    assert json.loads(quoted.stdout)["items"]


def test_names_alone_and_lines_of_json_are_for_pipes(run, share):
    names = run("search", "-l", "gryphon", "--root", share).stdout.decode().splitlines()
    items = [json.loads(line) for line in run("search", "--jsonl", "gryphon", "--root", share).stdout.splitlines()]
    assert len(names) == len(set(names)) == 10
    assert [share.parent / name for name in names] == list(dict.fromkeys(Path(item["path"]) for item in items))


def test_results_of_a_file_stand_together(run, tree):
    root = tree({"a.md": "\n".join(f"# Part {i}\n" + "gryphon " * 300 for i in range(3)), "b.md": "gryphon"})
    run("index", "--root", root)
    lines = run("search", "gryphon", "--group", "--root", root).stdout.decode().splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert sorted(os.path.basename(head) for head in heads) == ["a.md", "b.md"]


def test_a_result_that_is_not_there_cannot_be_opened(run, share):
    done = run("search", "gryphon", "--open", "99", "--root", share)
    assert done.returncode == 1
    assert b"there is no result 99" in done.stderr
