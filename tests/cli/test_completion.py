"""Completion in the shells themselves: their own machinery, the script that `context completion` prints, the real command."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
from pathlib import Path

import pytest

import ready
from conftest import PATIENCE, clean_env

TYPED = [("context res", "resolve"), ("context roots ad", "add"), ("context index --no-e", "--no-embed")]


@pytest.fixture
def shell(tmp_path, run):
    """An environment with `context` on its path, and the script of a shell; skips where that shell is not installed."""
    (tmp_path / "bin").mkdir()
    ready.program(tmp_path / "bin/context")
    env = {**clean_env(tmp_path), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "TERM": "dumb"}

    def prepared(name: str) -> tuple[dict[str, str], Path]:
        if not shutil.which(name):
            pytest.skip(f"{name} is not installed to try it")
        script = tmp_path / "script"
        script.write_bytes(run("completion", name, env=env).stdout)
        return env, script

    return prepared


@pytest.mark.parametrize(("typed", "completed"), TYPED)
def test_bash_completes(shell, typed, completed):
    env, script = shell("bash")
    words = typed.split()
    ask = f"source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _context_completion context; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "--norc", "-c", ask], env=env, capture_output=True, check=True)
    assert done.stdout.decode().split() == [completed]


@pytest.mark.parametrize(("typed", "completed"), TYPED)
def test_fish_completes(shell, typed, completed):
    env, script = shell("fish")
    ask = f"source {script}; complete -C '{typed}'"
    done = subprocess.run(["fish", "--no-config", "-c", ask], env=env, capture_output=True, check=True)
    assert [line.split("\t")[0] for line in done.stdout.decode().splitlines()] == [completed]


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "bind 'set bell-style none'; source {}"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; source {}"),
}


@pytest.mark.parametrize(("typed", "completed"), TYPED)
def test_zsh_completes(shell, typed, completed):
    with Typing("zsh", *shell("zsh")) as typing:
        typing.type(f"{typed}\t")
        typing.until(completed)


@pytest.fixture
def indexed(tree, run):
    """A folder that is indexed."""
    root = tree(
        {"ferry.html": "<h1>Leaving, at 7</h1><p>The ferry.</p><h1>Prices</h1><p>Two euro.</p>", "plain.txt": "x\n"}
    )
    assert run("roots", "add", root).returncode == 0
    assert run("index").returncode == 0
    return root


@pytest.mark.parametrize("name", SHELLS)
def test_file_names_and_pointers_are_completed_as_the_shell_needs_them(indexed, shell, name):
    with Typing(name, *shell(name), cwd=indexed) as typing:
        typing.type("context open fer\t")
        typing.until("ferry.html")
        typing.type("--pointer sec\t")  # both begin alike, and that much is put
        typing.until("section\\ \\'")
        typing.type("Pr\t")
        typing.until("Prices")
        typing.type("\r")
        typing.until("Two euro.")


def test_fish_completes_file_names_and_pointers(indexed, shell):
    env, script = shell("fish")
    for typed, completed in (
        ("context open fer", ["ferry.html"]),
        ("context open ferry.html --pointer ", ["section 'Leaving, at 7'", "section 'Prices'"]),
    ):
        ask = f"source {script}; complete -C '{typed}'"
        done = subprocess.run(["fish", "--no-config", "-c", ask], env=env, cwd=indexed, capture_output=True, check=True)
        assert [line.split("\t")[0] for line in done.stdout.decode().splitlines()] == completed


def test_a_file_that_is_not_indexed_or_not_in_a_root_has_no_pointers(indexed, run, tmp_path):
    for typed in ("absent.md", "/etc/hostname"):
        env = {
            "_CONTEXT_COMPLETE": "bash_complete",
            "COMP_WORDS": f"context\nopen\n{typed}\n--pointer\n",
            "COMP_CWORD": "4",
        }
        done = run(env=env, cwd=indexed)
        assert (done.stdout.strip(), done.stderr) == (b"", b"")


def test_no_heading_of_a_file_becomes_a_command_where_bash_completes_it(shell, tree, run):
    headings = ["$(touch pwned)", "`touch pwned`", '";touch pwned;"', "';touch pwned;'"]
    root = tree({f"{number}.html": f"<h1>{heading}</h1><p>The ferry.</p>" for number, heading in enumerate(headings)})
    assert run("roots", "add", root).returncode == 0
    assert run("index").returncode == 0
    env, script = shell("bash")
    ask = 'source "$1"; COMP_WORDS=(context open "$2" --pointer "$3sec"); COMP_CWORD=4; _context_completion context'
    ask += '; eval "set -- $3${COMPREPLY[0]}$3"; printf %s "$1"'
    for number, heading in enumerate(headings):
        for quote in ("'", '"', ""):
            command = ["bash", "--norc", "-c", ask, "bash", script, f"{number}.html", quote]
            done = subprocess.run(command, env=env, cwd=root, capture_output=True, check=False)
            assert done.stdout.decode() == "section '" + heading.replace("'", "''") + "'", (quote, done.stderr)
    assert not (root / "pwned").exists()


class Typing:
    """An interactive shell that has read its completion script, and somebody who types."""

    def __init__(self, name: str, env: dict[str, str], script: Path, cwd: Path | None = None) -> None:
        command, begin = SHELLS[name]
        self._terminal, self._inner = pty.openpty()
        self._shell = subprocess.Popen(
            command,
            stdin=self._inner,
            stdout=self._inner,
            stderr=self._inner,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
        self._seen = b""
        self.type(f"{begin.format(script)}; echo re''ady\n")
        self.until("ready\r\n")

    def __enter__(self) -> Typing:
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.kill()
        self._shell.wait()
        os.close(self._inner)
        os.close(self._terminal)

    def type(self, keys: str) -> None:
        self._seen = b""
        os.write(self._terminal, keys.encode())

    def until(self, awaited: str) -> None:
        while awaited.encode() not in self._seen:
            assert select.select([self._terminal], [], [], PATIENCE)[0], self._seen
            self._seen += os.read(self._terminal, 4096)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("bash", ".local/share/bash-completion/completions/context"),
        ("fish", ".config/fish/completions/context.fish"),
        ("zsh", ".zfunc/_context"),
    ],
)
def test_the_examples_of_the_help_work_in_an_empty_home(run, shell, tmp_path, name, written):
    env, _ = shell("bash")
    told = [line.strip() for line in run("completion", "--help").stdout.decode().splitlines()]
    end = next(at for at, line in enumerate(told) if line.startswith(f"context completion {name} "))
    subprocess.run(["bash", "--norc", "-ec", "\n".join(told[end - 1 : end + 1])], env=env, check=True)
    assert (tmp_path / written).read_bytes() == run("completion", name, env=env).stdout != b""
