"""`context doctor`: each finding against a thing that is really broken, and nothing to say where all is well."""

from __future__ import annotations

import json
import os

import pytest

from smart_context.cache import build


@pytest.fixture
def doctor(run, tree, tmp_path):
    """A sound installation: a root, an index, a cache. Gives a function that asks for the findings that are not fine."""
    root = tree({"a.md": "# Boats\nThe ferry.\n"})
    (tmp_path / "caches").mkdir()
    build.cache(root, tmp_path / "caches/docs", created_at="2026-01-01T00:00:00Z")
    config = tmp_path / "config/smart-context/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'roots = ["{root}"]\ncache_root = "{tmp_path / "caches"}"\n', encoding="utf-8")
    assert run("index").returncode == 0

    def ask():
        done = run("doctor", "--json")
        assert b"Traceback" not in done.stderr
        findings = json.loads(done.stdout)
        assert all(finding["fix"] for finding in findings if finding["grade"] != "ok")
        assert done.returncode == int(any(finding["grade"] == "problem" for finding in findings))
        return {
            (finding["area"], finding["grade"]) for finding in findings if finding["grade"] in {"warning", "problem"}
        }

    return ask, root, config


def data(tmp_path):
    return tmp_path / "data/smart-context"


def test_a_sound_installation_has_no_problem_and_nothing_is_changed_by_looking(doctor, tmp_path):
    ask, _, _ = doctor
    before = {path: path.stat().st_mtime_ns for path in data(tmp_path).rglob("*") if "sqlite-" not in path.name}
    assert ask() == set()
    assert {p: p.stat().st_mtime_ns for p in data(tmp_path).rglob("*") if "sqlite-" not in p.name} == before


def test_a_wrong_key_is_found_with_its_place(doctor, run):
    _, _, config = doctor
    with config.open("a") as file:
        file.write("no_such_key = 1\n")
    done = run("doctor", "--json")
    (finding,) = [f for f in json.loads(done.stdout) if f["area"] == "configuration"]
    assert (done.returncode, finding["grade"]) == (1, "problem")
    assert "no_such_key" in finding["what"]


def test_roots_data_and_caches_that_are_broken_are_found(doctor, tmp_path):
    ask, root, config = doctor
    data(tmp_path).chmod(0o755)
    (tmp_path / "caches/docs/manifest.json").write_text("{}", encoding="utf-8")
    config.write_text(config.read_text().replace(str(root), f"{root}-missing"), encoding="utf-8")
    assert ask() == {("roots", "warning"), ("data", "problem"), ("caches", "problem")}


def test_a_document_changed_inside_a_cache_is_found(doctor, tmp_path):
    ask, _, _ = doctor
    (document,) = (tmp_path / "caches/docs/documents").iterdir()
    document.write_bytes(document.read_bytes().replace(b"ferry", b"barge"))
    assert ask() == {("caches", "problem")}


@pytest.mark.parametrize("how", ["head", "middle", "ranking"])
def test_a_damaged_index_is_found(doctor, tmp_path, how):
    ask, _, _ = doctor
    record = data(tmp_path) / "record.sqlite"
    if how == "ranking":
        for file in (data(tmp_path) / "ranking").iterdir():
            file.write_bytes(b"")
    else:
        whole = bytearray(record.read_bytes())
        at = 0 if how == "head" else 8192
        whole[at : at + 4096] = b"\xff" * 4096
        record.write_bytes(whole)
    assert ("index", "problem") in ask()


def test_models_that_are_configured_and_missing_are_found(doctor):
    ask, _, config = doctor
    with config.open("a") as file:
        file.write('[llm]\nprovider = "openai"\n[semantic]\nmodel_dir = "/nowhere"\n')
    assert ask() == {("language model", "problem"), ("semantic", "problem")}


def test_settings_of_a_client_that_cannot_be_read_are_found(doctor, tmp_path):
    ask, _, _ = doctor
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text("{ not json", encoding="utf-8")
    assert ask() == {("clients", "warning")}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_root_that_cannot_be_read_is_found(doctor):
    ask, root, _ = doctor
    root.chmod(0)
    try:
        assert ("roots", "problem") in ask()
    finally:
        root.chmod(0o755)


def test_reading_without_a_jail_is_found(doctor):
    ask, _, config = doctor
    with config.open("a") as file:
        file.write('[index]\njail = "off"\n')
    assert ask() == {("reading", "warning")}
