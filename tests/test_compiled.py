"""What is written in C is compiled where there is a compiler. `cli/test_install.py` has a package that was built where there is none."""

from __future__ import annotations

import importlib
import shutil
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
