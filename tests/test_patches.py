"""What tests change of our own code while they run: bounds, so that little data reaches them, and what is listed here with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
NUMBERS = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator, ast.expr_context)

# Everything but a bound. What is counted still runs; the rest stands for a machine or a time that a test cannot have.
LISTED = {
    "cache/test_cache_build.py: names": "a file system that cannot exchange two names",
    "cache/test_cache_inverted.py: _mix": "words whose hashes collide: to look for real ones takes hours",
    "cache/test_cache_resident.py: read_document": "counted",
    "cache/test_cache_resident.py: watch": "a system without events of the kernel",
    "engine/test_cached_record.py: _CHARACTERS": "a bound, one after another",
    "engine/test_cached_record.py: _OPENED": "a bound, one after another",
    "engine/test_cached_record.py: _ROWS": "a bound, one after another",
    "engine/test_packed.py: _KEPT": "a bound, one after another",
    "engine/test_packed.py: _SMALL": "a bound, one after another",
    "engine/test_ranking.py: _RARE": "a bound, one after another",
    "engine/test_record.py: STEPS": "a record of a later version, with one more migration",
    "engine/test_record.py: VERSION": "the number of that version",
    "find/test_find.py: bound": "a bound, one after another",
    "find/test_find.py: described": "counted",
    "find/test_fused.py: DENSE": "a bound, one after another",
    "find/test_fused.py: _EACH": "a bound, one after another",
    "index/test_indexer.py: __version__": "a later version of the program",
    "meaning/test_semantic.py: _likely": "counted",
    "sources/test_walk.py: scandir": "a disk that fails while a folder is listed",
}


def patches() -> dict[str, bool]:
    """Where something is replaced, and whether it is a bound: a name in capitals that gets a number."""
    found = {}
    for path in sorted(HERE.rglob("test_*.py")):
        text = path.read_bytes()
        for node in ast.walk(ast.parse(text)) if b"monkeypatch" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "monkeypatch.setattr":
                owner, name = ast.unparse(node.args[0]).strip("'"), ast.unparse(node.args[-2]).strip("'")
                if owner != "sys":
                    short = name.rpartition(".")[2]
                    is_number = all(isinstance(part, NUMBERS) for part in ast.walk(node.args[-1]))
                    found[f"{path.relative_to(HERE).as_posix()}: {short}"] = is_number and short.isupper()
    return found


def test_what_is_no_bound_is_replaced_for_a_reason_only():
    assert {place for place, is_bound in patches().items() if not is_bound} == set(LISTED)


def test_no_test_uses_doubles_of_our_code():
    assert not [path for path in HERE.rglob("*.py") if "unittest" + ".mock" in path.read_text(encoding="utf-8")]
