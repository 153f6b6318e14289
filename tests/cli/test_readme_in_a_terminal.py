"""The README in a real terminal: a newcomer gets from the command to the first answer by what it says and nothing else."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import clean_env

ROOT = Path(__file__).parent.parent.parent
FILES = 400
WORDS = [
    "the",
    "harbour",
    "office",
    "keeps",
    "a",
    "list",
    "of",
    "ships",
    "that",
    "came",
    "and",
    "went",
    "since",
    "the",
    "lighthouse",
    "was",
    "built",
]
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\].*?(?:\x07|\x1b\\)|\x1b[=>()][A-Z0-9]?")

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed to try it")


class Tmux:
    """A shell in a terminal of tmux, and all that it ever wrote."""

    def __init__(self, folder: Path, env: dict[str, str], columns: int, rows: int) -> None:
        self._call = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self._env = env
        self._log = folder / "log"
        self._log.touch()
        self._run(
            "new-session",
            "-d",
            "-s",
            "it",
            "-c",
            str(folder),
            "-x",
            str(columns),
            "-y",
            str(rows),
            "bash",
            "--norc",
            "--noprofile",
        )
        self._run("pipe-pane", "-t", "it", f"cat >> {shlex.quote(str(self._log))}")
        self._said = 0
        self.type("")  # what stood there before the log began
        self.until("READY ")

    def type(self, line: str) -> None:
        """Press the keys of a line, and Enter."""
        self._run("send-keys", "-t", "it", "-l", line)
        self._run("send-keys", "-t", "it", "Enter")

    def until(self, pattern: str) -> str:
        """Wait until something was written since the last time, and give it up to there."""
        while not (found := re.compile(pattern).search(self.written, self._said)):
            assert self._run("list-sessions"), self.written
        before, self._said = self._said, found.end()
        return self.written[before : found.end()]

    @property
    def written(self) -> str:
        """Everything so far, without colours."""
        return _ESCAPES.sub("", self._log.read_text(encoding="utf-8", errors="replace"))

    def screen(self) -> list[str]:
        """What stands on the screen."""
        return self._run("capture-pane", "-p", "-t", "it").splitlines()

    def close(self) -> None:
        subprocess.run([*self._call, "kill-server"], env=self._env, capture_output=True, check=False)

    def _run(self, *args: str) -> str:
        return subprocess.run([*self._call, *args], env=self._env, capture_output=True, check=False).stdout.decode()


@pytest.fixture
def terminal(tmp_path):
    """Opens terminals in a home with a folder of documents, where only `context` is installed."""
    documents = tmp_path / "Documents"
    shutil.copytree(ROOT / "examples/handbook", documents / "handbook")
    for number in range(FILES):
        folder = documents / f"year {2000 + number % 25}" / "minutes of the harbour office"
        folder.mkdir(parents=True, exist_ok=True)
        turned = WORDS[number % len(WORDS) :] + WORDS[: number % len(WORDS)]
        text = f"# Minutes {number}\n\n" + " ".join(turned * 20) + "\n"
        (folder / f"minutes-{number:03}.{('md', 'txt', 'html')[number % 3]}").write_text(text, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/context"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m smart_context "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    env = {
        **clean_env(tmp_path),
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PS1": "READY ",
        "LANG": "C.UTF-8",
    }
    opened = []

    def open_one(columns: int) -> Tmux:
        opened.append(Tmux(tmp_path, {**env, "TERM": "screen-256color"}, columns, 24))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_the_first_answer_comes_after_two_commands_and_a_yes(terminal):
    shell = terminal(80)
    shell.type("context index ~/Documents")
    shell.until(r"Make it one\? \[y/N\]: ")
    shell.type("y")
    told = shell.until(r"\d indexed in [\d.,]+ s\s+READY ")
    # Something is told before the first file is done, and goes on being told.
    assert re.search(r"looking for files|indexing \[░{10}\] 0/", told)
    shell.type("context search how fast must a lost laptop be reported")
    answer = shell.until("READY ")
    assert "security.md" in answer
    assert len(shell.screen()) <= 24  # ten results, and nothing has scrolled away
    assert any("  1. " in line for line in shell.screen())
    assert [line for line in re.split(r"[\r\n]+", shell.written) if len(line) > 100] == []
    shell.type("context open 1")
    assert "Report a lost laptop within one hour" in shell.until("READY ")
    assert "Traceback" not in shell.written


def test_it_can_be_read_at_forty_columns(terminal):
    shell = terminal(40)
    shell.type("context search lost laptop --root ~/Documents/handbook")
    shell.until(r"Index\s+now\?\s+\[y/N\]: ")
    shell.type("y")
    shell.until("READY ")
    lines = shell.screen()
    assert any(re.match(r"  1\. .*security\.md  ", line) for line in lines)
    assert max(map(len, lines)) <= 40
