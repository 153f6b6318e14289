"""Completion in the shells themselves: their own machinery, the script that `context completion` prints, the real command."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import clean_env

TYPED = [("context res", "resolve"), ("context roots ad", "add"), ("context index --no-e", "--no-embed")]


@pytest.fixture
def shell(tmp_path, run):
    """An environment with `context` on its path, and the script of a shell; skips where that shell is not installed."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "context"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m smart_context "$@"\n', encoding="utf-8")
    program.chmod(0o755)
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


@pytest.mark.parametrize(("typed", "completed"), TYPED)
def test_zsh_completes(shell, typed, completed):
    env, script = shell("zsh")
    terminal, inner = pty.openpty()
    zsh = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=inner, stdout=inner, stderr=inner, env=env, start_new_session=True
    )
    try:
        os.write(terminal, f"autoload -Uz compinit; compinit -u -D; source {script}; echo re''ady\n".encode())
        _read_until(terminal, b"ready\r\n")
        os.write(terminal, f"{typed}\t".encode())
        _read_until(terminal, completed.encode())
    finally:
        zsh.kill()
        zsh.wait()
        os.close(inner)
        os.close(terminal)


def _read_until(terminal: int, awaited: bytes) -> None:
    seen = b""
    while awaited not in seen:
        assert select.select([terminal], [], [], 60)[0], seen
        seen += os.read(terminal, 4096)
