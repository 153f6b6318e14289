"""Fixtures shared across files: `tree` lays out a folder, `run` runs the real command, `port` is one for a server."""

from __future__ import annotations

import gc
import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

import ready
from machine import kept_port
from postgres_server import Server, running
from smart_context import launch

# No clock decides whether a test passes, and its examples are the same each time. New ones are looked for by `make fuzz`.
settings.register_profile("suite", deadline=None, database=None, derandomize=True, max_examples=50)
settings.register_profile("fuzz", deadline=None, database=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# Whoever runs the tests may have forbidden it, but thousands of processes are started here: each module is compiled once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Hundreds of them read a file or two: where all is loaded one is forked in a thirtieth of the time. What is started and how it lives stays the same.
subprocess.Popen = ready.Reading  # type: ignore[misc]

# Seconds after which something hangs, whatever else the machine has to do. Nothing that works ever waits so long.
PATIENCE = 300

# Measuring which lines and branches a test reaches takes half as long again as the test. What is reached is reached by many: every fourth test is enough
# to see it (MEASURED_OF=1 takes all), told by its name, and of one with many parameters so many.
_MEASURED_OF = int(os.environ.get("MEASURED_OF", "4"))
_MEASURED_EACH = 2
_IS_MEASURED = pytest.StashKey[bool]()
_COVERAGE = pytest.StashKey[Any]()

Tree = Callable[[Mapping[str, str | bytes]], Path]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def pytest_configure(config: pytest.Config) -> None:
    """Where tests run (not where they are handed out) coverage is measured only during the chosen ones, and processes are forked."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.stash[_COVERAGE] = ready.only_when_asked()
        ready.begin()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for no garbage in what is collected, then or later: thousands of tests that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the tests whose coverage is measured: not all, as it takes as long again as what is measured."""
    seen: Counter[str] = Counter()
    for item in items:
        name = item.nodeid.partition("[")[0]
        seen[name] += 1
        is_much = any(map(item.get_closest_marker, ("hypothesis", "unmeasured")))
        is_drawn = crc32(name.encode()) % _MEASURED_OF == 0
        item.stash[_IS_MEASURED] = is_drawn and seen[name] <= _MEASURED_EACH and not is_much


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Measure a test that was chosen."""
    coverage = item.config.stash.get(_COVERAGE, None)
    if coverage is None or not item.stash[_IS_MEASURED]:
        return (yield)
    coverage.start()
    try:
        return (yield)
    finally:
        coverage.stop()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep what was measured before it is said that all tests are done: a worker that takes some seconds to end then is killed."""
    if coverage := session.config.stash.get(_COVERAGE, None):
        coverage.save()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Write files (name → content) below a fresh folder and return it."""

    def lay_out(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "tree"
        root.mkdir(exist_ok=True)
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return lay_out


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `context …` as a user would, in a process of its own, with a home of its own."""

    def call(
        *args: str | os.PathLike[str] | bytes,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: bytes | None = None,
        timeout: float = PATIENCE,
    ) -> subprocess.CompletedProcess[bytes]:
        return ready.run(
            [sys.executable, "-m", "smart_context", *args],
            env={**clean_env(tmp_path), **(env or {})},
            cwd=cwd or tmp_path,
            input=stdin if stdin is not None else b"",
            capture_output=True,
            timeout=timeout,
            check=False,
        )

    return call


class Desktop:
    """A desktop whose applications take a file, or do not: a folder of programs for each exit status, to be the PATH. `opened` lists the files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.opened = folder / "opened"

    def __call__(self, status: int) -> str:
        program = self._folder / str(status) / launch.PROGRAM
        program.parent.mkdir(parents=True)
        program.write_text(
            f'#!/bin/sh\necho noise\necho noise >&2\necho "$1" >> {shlex.quote(str(self.opened))}\nexit {status}\n',
            encoding="utf-8",
        )
        program.chmod(0o755)
        return str(program.parent)


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    """A desktop that opens files."""
    return Desktop(tmp_path / "desktop")


@pytest.fixture
def port() -> Iterator[int]:
    """A port for a server that has to be told one."""
    with kept_port() as kept:
        yield kept


@pytest.fixture(scope="session")
def layers() -> tuple[str, ...]:
    """What this system has of the jail in which files are read."""
    from smart_context.sources import worker

    return worker.layers() if sys.platform == "linux" else ()


@pytest.fixture
def whole_jail(layers: tuple[str, ...]) -> None:
    """Needed by a test of the whole jail."""
    from smart_context.model import JAIL_LAYERS

    if layers != JAIL_LAYERS:
        pytest.skip(f"this system has no complete jail, but {layers or 'none'}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server for all tests that ask for one."""
    with running() as server:
        yield server


def clean_env(home: Path) -> dict[str, str]:
    """An environment with nothing of the developer's in it."""
    return {
        **ready.kept(),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
    }
