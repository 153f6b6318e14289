"""What is written in C is compiled where there is a compiler, and missed by nobody where there is none."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("_*.c"))
NAMES = [".".join(path.with_suffix("").parts) for path in SOURCES]


def test_there_is_something_to_compile():
    assert SOURCES


@pytest.mark.skipif(shutil.which("gcc") is None and shutil.which("cc") is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("name", NAMES)
def test_it_is_compiled_here_and_the_python_beside_it_uses_it(name):
    room, _, short = name.rpartition("._")
    assert importlib.import_module(f"{room}.{short}").compiled is importlib.import_module(name)


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_its_types_are_declared(source):
    assert (ROOT / "src" / source).with_suffix(".pyi").exists()


def test_a_wheel_that_is_built_without_a_compiler_has_everything_but_that(tmp_path):
    without = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist"],
        cwd=ROOT, env=without, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert wheel.name.endswith("-py3-none-any.whl")
    assert [name for name in names if name.endswith((".so", ".c"))] == []
    assert done.stderr.count("was not compiled") == len(SOURCES)
