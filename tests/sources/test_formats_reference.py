"""The reference page on formats says what the code does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from smart_context.sources import extract
from smart_context.sources.formats import FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(extract.__file__).parent.glob("*.py")))


def test_every_reason_for_refusing_a_file_is_explained():
    reasons = set(re.findall(r'Refused\(\s*"([^"]+)"', SOURCES)) | {reason for reason, _ in extract.NO_TEXT.values()}
    assert sorted(reason for reason in reasons if f"`{reason}`" not in PAGE) == []


def test_every_extension_is_listed():
    listed = set(re.findall(r"`(\.[a-z0-9.]+)`", PAGE))
    known = {ext for each in FORMATS if each.kind not in {"code", "xml"} for ext in each.extensions.split()}
    assert sorted(known - listed) == []


def test_every_format_has_one_row_and_a_reader():
    assert len({each.kind for each in FORMATS}) == len(FORMATS)
    readers = {path.stem for path in Path(extract.__file__).parent.glob("*.py")}
    assert {each.reader for each in FORMATS} <= readers


READER = """
from smart_context.model import Extracted, Unit

def read(data, job):
    return Extracted("toy", "", (Unit((), bytes(data[4:]).decode(), divisible="lines"),))
"""
USE = """
from smart_context.find import filters
from smart_context.model import Limits
from smart_context.sources.extract import extract, preload
preload.everything()
print(extract(b"TOY:hello", "a.toy", Limits()).units[0].text, filters.read("toys about boats").exts)
"""


def test_a_new_format_takes_a_row_and_a_module(tmp_path):
    package = tmp_path / "smart_context"
    shutil.copytree(Path(extract.__file__).parents[2], package, ignore=shutil.ignore_patterns("__pycache__"))
    rows = package / "sources" / "formats.py"
    row = 'Format("toy", "toy", "lines", ".toy", starts=(b"TOY:",), called="toys"),'
    rows.write_text(rows.read_text("utf-8").replace('    Format("pdf"', f'    {row}\n    Format("pdf"', 1), "utf-8")
    (package / "sources" / "extract" / "toy.py").write_text(READER, "utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", USE], env=env, cwd=tmp_path, capture_output=True, check=False)
    assert done.stdout == b"hello ('.toy',)\n", done.stderr


def test_every_kind_of_pointer_is_shown():
    kinds = set(re.findall(r'Part\("(\w+)"', SOURCES)) | {"lines", "rows", "paragraphs", "attachment", "entry"}
    assert sorted(kind for kind in kinds if not re.search(rf"`[^`\n]*\b{kind}\b", PAGE)) == []
