"""`context search -i` in a real pseudo-terminal: results as one types, keys, windows of all sizes, and leaving."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import clean_env
from terminal import Terminal

pytest.importorskip("prompt_toolkit", reason="the extra [tui] is not installed")

FILES = {
    "bees.txt": "Bees are fed with sugar in autumn.\nThe colony survives the winter.\n",
    "wasps.md": "# Wasps\n\nWasps build nests; their colony dies in winter.\n",
    "kana.txt": "養蜂家は秋に砂糖水を与えて群れが冬を越せるようにする。\n",
    "steer\x1b[31m.txt": "A zebra stripe\u202e here.\n" + "A line that is only words of plain text.\n" * 40,
    "key.txt": "The giraffe has token ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 on it.\n",
}
DOWN, CTRL_C, CTRL_F, CTRL_N, CTRL_Y, F1 = "\x1b[B", "\x03", "\x06", "\x0e", "\x19", "\x1bOP"


@pytest.fixture
def screen(run, tree, tmp_path) -> Callable[..., Terminal]:
    folder = tree(FILES)

    def start(*words: str, columns: int = 80, rows: int = 24, index: bool = True, path: str = "") -> Terminal:
        if index:
            assert run("index", folder).returncode == 0
        command = [sys.executable, "-m", "smart_context", "search", "-i", "--root", str(folder), *words]
        env = clean_env(tmp_path)
        return Terminal(command, {**env, "PATH": path or env["PATH"]}, folder, columns, rows)

    return start


def test_results_come_as_one_types_and_the_preview_follows_the_choice(screen):
    with screen() as terminal:
        terminal.until("type to search")
        terminal.type("colo")
        terminal.type("ny")
        lines = terminal.until(
            lambda lines: "search: colony" in lines[0] and any("2 results" in line for line in lines)
        )
        assert lines[1].startswith(">  ")
        first, second = ("bees.txt", "wasps.md") if "bees" in lines[1] else ("wasps.md", "bees.txt")
        text = {"bees.txt": "Bees are fed with sugar", "wasps.md": "# Wasps"}
        below = next(number for number, line in enumerate(lines) if line.startswith("───"))
        terminal.until(lambda lines: first in lines[below + 1] and any(text[first] in line for line in lines[below:]))
        terminal.type(CTRL_N)
        terminal.until(lambda lines: second in lines[below + 1] and any(text[second] in line for line in lines[below:]))
        assert [line[0] for line in terminal.lines[1:4:2]] == [" ", ">"]
        terminal.type("\x1b[A")
        terminal.until(lambda lines: lines[1].startswith(">") and first in lines[below + 1])
        terminal.type("\x15giraffe")
        terminal.until(lambda lines: "key.txt" in lines[1] and any("1 result" in line for line in lines))
        terminal.until("[redacted:")
        assert b"ghp_" not in terminal.raw


@pytest.mark.parametrize("key", ["\x1b", CTRL_C])
def test_leaving_gives_the_terminal_back_as_it_was(screen, key):
    with screen("sugar") as terminal:
        terminal.until("1 result")
        terminal.type(key)
        assert terminal.until_it_ends() == 0
        assert terminal.after() == terminal.before
        assert terminal.raw.count(b"\x1b[?1049h") == terminal.raw.count(b"\x1b[?1049l") == 1
        assert terminal.raw.rindex(b"\x1b[?25h") > terminal.raw.rindex(b"\x1b[?25l")


def test_a_tiny_window_shows_results_and_preview_and_a_larger_one_puts_them_side_by_side(screen):
    with screen("sugar", columns=40, rows=10) as terminal:
        lines = terminal.until("Bees are fed")
        assert len([line for line in lines if len(line) > 40]) == 0
        lines = terminal.until(lambda lines: any(line.startswith("────") for line in lines) and "1 result" in lines[9])
        assert lines[1].startswith(">  bees.txt")
        terminal.resize(120, 30)
        lines = terminal.until(lambda lines: "│bees.txt" in lines[1] and "Esc leave" in lines[29])
        assert "│Bees are fed with sugar in autumn." in lines[3]
        terminal.resize(40, 10)
        terminal.until(lambda lines: any(line.startswith("────") for line in lines) and "│" not in "".join(lines))


def test_wide_characters_stay_in_their_columns(screen):
    with screen(columns=100) as terminal:
        terminal.until("type to search")
        terminal.type("砂糖水")
        lines = terminal.until(lambda lines: "kana.txt" in lines[1] and any("│養蜂家は秋に" in line for line in lines))
        assert "search: 砂糖水" in lines[0]
        bars = {sum(2 if ord(c) > 0x2E80 else 1 for c in line[: line.index("│")]) for line in lines if "│" in line}
        assert bars == {50}


def test_text_of_files_cannot_steer_the_terminal(screen):
    with screen("zebra") as terminal:
        lines = terminal.until(r"A zebra stripe\u202e here.")
        assert lines[1].startswith(r">  steer\x1b[31m.txt")
        assert "\u202e".encode() not in terminal.raw
        assert b"\x1b[31m" not in terminal.raw


def test_without_an_index_it_says_how_to_begin(screen):
    with screen("sugar", index=False) as terminal:
        terminal.until("nothing is indexed yet; begin with: context index FOLDER")


def test_what_was_looked_for_instead_is_said(screen):
    with screen("zebraa") as terminal:
        terminal.until("1 result; nothing has 'zebraa'; looked for 'zebra' instead")


def test_keys_are_told_and_a_passage_is_copied_with_its_source(screen):
    with screen("sugar", columns=100) as terminal:
        terminal.until("1 result")
        terminal.type(F1)
        terminal.until("copy the passage with its source")
        terminal.type(F1)
        terminal.until("bees.txt")
        terminal.type(CTRL_Y)
        terminal.until("copied with its source")
        sent = terminal.raw.split(b"\x1b]52;c;")[1].split(b"\x07")[0]
        copied = base64.b64decode(sent).decode()
        assert copied.startswith("Bees are fed with sugar in autumn.")
        assert copied.endswith("\n\nSource: bees.txt, lines 1-2\n")


@pytest.mark.parametrize(
    ("status", "said"), [(0, "opened bees.txt"), (3, "no application opened bees.txt; open it by hand")]
)
def test_enter_opens_the_file_and_says_whether_an_application_took_it(screen, desktop, status, said):
    with screen("sugar", path=desktop(status), columns=120) as terminal:
        terminal.until("1 result")
        terminal.type("\r")
        terminal.until(said)
        assert b"noise" not in terminal.raw


def test_marked_results_are_frozen_into_a_cache(screen, tmp_path):
    cache = tmp_path / "answer.cache"
    with screen("colony") as terminal:
        terminal.until("2 results")
        terminal.type("\t")
        terminal.until("1 marked")
        terminal.type(DOWN + "\t")
        terminal.until("2 marked")
        terminal.type(CTRL_F)
        terminal.until("cache to make:")
        terminal.type(f"{cache}\r")
        terminal.until("2 documents frozen into")
    frozen = json.loads((Path(cache) / "freeze.json").read_text(encoding="utf-8"))
    assert "bees.txt" in json.dumps(frozen)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("exactly8 next", ["exactly8", "next"]),
        ("unbreakable word", ["unbreaka", "ble word"]),
        ("砂糖水を与えて", ["砂糖水を", "与えて"]),
    ],
)
def test_a_preview_breaks_lines_between_words(line, pieces):
    from smart_context.cli.screen import wrapped

    assert list(wrapped(line, 8)) == pieces


def test_it_needs_a_terminal_and_takes_no_other_way_of_showing(run, tree):
    folder = tree(FILES)
    done = run("search", "-i", "--root", folder)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"needs a terminal" in done.stderr
    assert run("search", "-i", "--json", "--root", folder).returncode == 1
    assert b"QUERY" in run("search", "--root", folder).stderr
