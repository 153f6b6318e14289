"""The golden cases of Context v0: exit status, stdout and the tree that is left, to the byte."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import unprivileged
from conftest import Run
from smart_context import cli

Case = dict[str, Any]

_BOOK = json.loads(gzip.decompress((Path(__file__).parents[1] / "goldens" / "context-v0.json.gz").read_bytes()))
_CASES: dict[str, Case] = {f"{case['group']}/{case['name']}": case for case in _BOOK["cases"]}
_AS_NOBODY = sorted(name for name, case in _CASES.items() if case.get("as_nobody"))
_PLAIN = sorted(set(_CASES) - set(_AS_NOBODY))
_IN_A_PROCESS = _PLAIN[::25]
_CREATED_AT = re.compile(rb'"created_at": "[^"]*"')


@pytest.mark.parametrize("name", _PLAIN)
def test_case_holds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    case = _CASES[name]
    lay_out_case(case, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["context", *(os.fsdecode(a) for a in arguments(case, tmp_path))])
    monkeypatch.delenv("CONTEXT_CACHE_ROOT", raising=False)
    with pytest.raises(SystemExit) as exited:
        cli.main()
    assert_holds(case, tmp_path, exited.value.code, capsysbinary.readouterr().out)


@pytest.mark.parametrize("name", _IN_A_PROCESS)
def test_case_holds_in_a_process_of_its_own(name: str, tmp_path: Path, run: Run) -> None:
    work = tmp_path / "work"
    work.mkdir()
    case = _CASES[name]
    lay_out_case(case, work)
    done = run(*arguments(case, work), cwd=work)
    assert_holds(case, work, done.returncode, done.stdout)


@unprivileged.needs_root
@pytest.mark.parametrize("name", _AS_NOBODY)
def test_case_holds_without_rights(name: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    case = _CASES[name]
    lay_out_case(case, work)
    done = unprivileged.run(work, *(os.fsdecode(a) for a in arguments(case, work)))
    assert_holds(case, work, done.returncode, done.stdout)


def lay_out_case(case: Case, work: Path) -> None:
    for mount in case["mounts"]:
        (work / mount["at"]).mkdir(parents=True, exist_ok=True)
        _lay_out(_BOOK["fixtures"][mount["fixture"]][mount["part"]], work / mount["at"], work)
    _lay_out(case["ops"], work, work)


def arguments(case: Case, work: Path) -> list[bytes]:
    return [
        base64.b64decode(a["b64"]) if isinstance(a, dict) else a.replace("{W}", str(work)).encode()
        for a in case["argv"]
    ]


def assert_holds(case: Case, work: Path, status: object, stdout: bytes) -> None:
    assert status == case["exit"]
    assert stdout.replace(os.fsencode(work), b"{W}") == _content(case["stdout"])
    wanted = case.get("want_tree")
    if wanted:
        place = work if wanted is True else work / wanted
        assert _tree(place) == {_name(entry): _state(entry) for entry in case["tree_after"] or ()}


def _lay_out(steps: Iterable[Case], root: Path, work: Path) -> None:
    for step in steps:
        path = Path(os.fsdecode(os.path.join(os.fsencode(root), _name(step))))
        if step.get("delete"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        elif "chmod" in step:
            path.chmod(step["chmod"])
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            _make(step, path, work)


def _make(step: Case, path: Path, work: Path) -> None:
    if step.get("dir"):
        path.mkdir(exist_ok=True)
    elif step.get("fifo"):
        os.mkfifo(path)
    elif "symlink" in step:
        path.unlink(missing_ok=True)
        path.symlink_to(step["symlink"].replace("{W}", str(work)))
    else:
        if path.is_dir():
            shutil.rmtree(path)
        content = _content(step)
        path.write_bytes(content.replace(b"{W}", os.fsencode(work)) if step.get("subst") else content)


def _name(step: Case) -> bytes:
    return base64.b64decode(step["path_b64"]) if "path_b64" in step else step["path"].encode()


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if "gen" in value:
        made = value["gen"]
        return (made.get("prefix", "") + made["unit"] * made["count"] + made.get("suffix", "")).encode()
    return base64.b64decode(value["b64"]) if "b64" in value else value["text"].encode()


def _state(entry: Case) -> object:
    if "symlink" in entry:
        return ("link", entry["symlink"])
    if entry.get("dir") or entry.get("fifo"):
        return "dir" if entry.get("dir") else "fifo"
    return _content(entry)


def _tree(root: Path) -> dict[bytes, object]:
    found: dict[bytes, object] = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        for name in folders + files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            relative = os.path.relpath(path, os.fsencode(root))
            if stat.S_ISLNK(mode):
                found[relative] = ("link", os.fsdecode(os.readlink(path)))
            elif stat.S_ISDIR(mode):
                if not os.listdir(path):
                    found[relative] = "dir"
            elif stat.S_ISFIFO(mode):
                found[relative] = "fifo"
            else:
                content = Path(os.fsdecode(path)).read_bytes()
                if name == b"manifest.json":
                    content = _CREATED_AT.sub(b'"created_at": "2026-01-01T00:00:00Z"', content, count=1)
                found[relative] = content
    return found
