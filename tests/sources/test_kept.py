"""Modules whose code is kept are imported from memory, as they would be from their files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import smart_context
from conftest import clean_env

NUMBERS = r"""
import sys
from smart_context.index import reading_child
from smart_context.redact import Redactor
text = "\n".join(["tel +49 30 901820", "call +33 1 42 68 53 00", "+81 3-3580-3311 office", "+1 202-456-1414", "+881 6 3145 2222",
                  "phone 020 7946 0958", "fax: 044 668 18 00"])
if sys.argv[1] == "kept":
    reading_child._load_rules()
    Redactor().clean("warm up: name@example.com +49 30 1234567 password=1")
    def no_file(event, args):
        if event == "open":
            raise OSError(f"opened {args[0]}")
    sys.addaudithook(no_file)
print([(span.start, span.end, span.kind) for span in Redactor().spans(text)])
"""

CODECS = r"""
import codecs, encodings, hashlib, pkgutil, sys
names = sorted(each.name for each in pkgutil.iter_modules(encodings.__path__))
if sys.argv[1] == "kept":
    from smart_context.sources.extract import preload
    preload.everything()
    def no_file(event, args):
        if event == "open":
            raise OSError(f"opened {args[0]}")
    sys.addaudithook(no_file)
for name in names:
    try:
        found = codecs.lookup(name)
        print(found.name, found._is_text_encoding and hashlib.sha256(bytes(range(32, 256)).decode(name, "replace").encode("utf-8", "replace")).hexdigest())
    except (LookupError, UnicodeError, ValueError) as error:
        print(name, type(error).__name__)
"""


@pytest.mark.parametrize("code", [NUMBERS, CODECS], ids=["numbering plans", "codecs"])
def test_what_is_kept_works_without_opening_a_file_as_it_does_with(code):
    kept, loaded = (
        subprocess.run([sys.executable, "-c", code, how], capture_output=True, text=True, check=True).stdout
        for how in ("kept", "loaded")
    )
    assert kept == loaded
    assert len(loaded) > 100


def test_a_module_without_compiled_code_is_compiled_when_it_is_imported(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "inner.py").write_text("from . import other\nVALUE = other.VALUE + 1\n")
    (tmp_path / "pack" / "other.py").write_text("VALUE = 41\n")
    code = (
        "import sys, shutil; sys.path.insert(0, sys.argv[1])\nimport pack\nfrom smart_context.sources.kept import Kept\n"
        "print(sorted(Kept().keep(pack)))\nshutil.rmtree(sys.argv[1])\nimport pack.inner\nprint(pack.inner.VALUE, pack.inner.__package__)"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['pack.inner', 'pack.other']", "42 pack"]


@pytest.mark.parametrize("may_write", [True, False])
def test_the_readers_of_an_installation_without_compiled_code_are_compiled_once_where_that_is_allowed(
    tmp_path, may_write
):
    package = tmp_path / "lib" / "smart_context"
    shutil.copytree(Path(smart_context.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.txt").write_text("a gryphon")
    command = [sys.executable, "-m", "smart_context", "index", "--root", tmp_path / "documents"]
    env = clean_env(tmp_path) | {"PYTHONPATH": str(tmp_path / "lib")}
    if not may_write:
        env["PYTHONDONTWRITEBYTECODE"] = "1"
    subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, check=True)
    assert bool(list((package / "sources" / "extract").glob("__pycache__/docx.*.pyc"))) is may_write
    assert may_write or not list(package.rglob("__pycache__"))
