"""`context doctor`: each finding against a thing that is really broken, and nothing to say where all is well."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

import broken_encoders
import ready
from conftest import clean_env
from smart_context.cache import build
from smart_context.cli import checks
from smart_context.clients.command import words


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A root and an index of it, which nobody changes."""
    home = tmp_path_factory.mktemp("sound")
    (home / "root").mkdir()
    (home / "root/a.md").write_text("# Boats\nThe ferry.\n", encoding="utf-8")
    ready.run(
        [sys.executable, "-m", "smart_context", "index", home / "root"],
        env=clean_env(home),
        capture_output=True,
        check=True,
    )
    return home


@pytest.fixture
def doctor(run, sound, tmp_path):
    """A sound installation: a root, an index, a cache. Gives a function that asks for the findings that are not fine."""
    root = sound / "root"
    (tmp_path / "caches").mkdir()
    build.cache(root, tmp_path / "caches/docs", created_at="2026-01-01T00:00:00Z")
    config = tmp_path / "config/smart-context/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'roots = ["{root}"]\ncache_root = "{tmp_path / "caches"}"\n', encoding="utf-8")
    shutil.copytree(data(sound), data(tmp_path))

    def ask(*flags):
        done = run("doctor", "--json", *flags)
        assert b"Traceback" not in done.stderr
        findings = json.loads(done.stdout)
        assert all(finding["fix"] for finding in findings if finding["grade"] != "ok")
        assert done.returncode == int(any(finding["grade"] == "problem" for finding in findings))
        return sorted(
            (finding["area"], finding["grade"]) for finding in findings if finding["grade"] in {"warning", "problem"}
        )

    return ask, root, config


def data(tmp_path):
    return tmp_path / "data/smart-context"


def test_a_sound_installation_has_no_problem_and_nothing_is_changed_by_looking(doctor, tmp_path):
    ask, _, _ = doctor
    before = {path: path.stat().st_mtime_ns for path in data(tmp_path).rglob("*") if "sqlite-" not in path.name}
    assert ask() == []
    assert {p: p.stat().st_mtime_ns for p in data(tmp_path).rglob("*") if "sqlite-" not in p.name} == before


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        (["text._passage"], ["indexing takes more than twice as long"]),
        (["engine.local.ranking._brief"], ["a search takes some ten times as long"]),
        (
            ["text._passage", "engine.local.ranking._brief"],
            ["indexing takes more than twice as long, a search takes some ten times as long"],
        ),
    ],
)
def test_a_part_in_c_that_was_not_compiled_is_told_with_what_that_costs(tmp_path, lacking, told):
    without = f"for part in {lacking}: sys.modules[f'smart_context.{{part}}'] = None"
    program = f"import runpy, sys\n{without}\nrunpy.run_module('smart_context', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", program, "doctor", "--json"],
        env=clean_env(tmp_path),
        capture_output=True,
        check=False,
    )
    said = [finding["what"] for finding in json.loads(done.stdout)]
    begin = "the parts in C were not compiled: "
    assert [what.removeprefix(begin) for what in said if what.startswith(begin)] == told


def test_what_was_found_is_said_before_the_next_is_looked_at(tmp_path):
    late = tmp_path / "config.toml"
    findings = checks.examine({"config": str(late)}, ["false"])
    assert next(findings).area == "installation"
    late.write_text("[http]\nport = 1\n", encoding="utf-8")
    assert [finding.what for finding in findings if finding.area == "configuration"] == [str(late)]


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
    assert ask() == [("caches", "problem"), ("data", "problem"), ("roots", "warning")]


def test_a_root_that_is_a_file_is_found(doctor, tmp_path):
    ask, root, config = doctor
    config.write_text(config.read_text().replace(str(root), str(config)), encoding="utf-8")
    assert ask() == [("roots", "problem")]


def test_a_document_changed_inside_a_cache_is_found(doctor, tmp_path):
    ask, _, _ = doctor
    (document,) = (tmp_path / "caches/docs/documents").iterdir()
    document.write_bytes(document.read_bytes().replace(b"ferry", b"barge"))
    assert ask() == [("caches", "problem")]


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


@pytest.mark.parametrize("kind", ["idx", "pos", "term", "store", "fast", "fieldnorm"])
def test_one_bit_of_the_ranking_is_found_and_mended_as_it_says(doctor, run, tmp_path, kind):
    ask, _, _ = doctor
    file = max((data(tmp_path) / "ranking").glob(f"*.{kind}"), key=lambda path: path.stat().st_size)
    whole = bytearray(file.read_bytes())
    whole[0] ^= 4
    file.write_bytes(whole)
    assert ("index", "problem") in ask()
    assert run("maintain").returncode == 0
    assert ask() == []


def test_an_engine_that_cannot_read_a_language_is_found(doctor):
    ask, _, config = doctor
    with config.open("a") as file:
        file.write('[ocr]\nenabled = true\nengine = "rapidocr"\nlanguages = ["zh", "ru"]\n')
    assert ask() == [("OCR", "problem")]


def test_models_that_are_configured_and_missing_are_found(doctor):
    ask, _, config = doctor
    with config.open("a") as file:
        file.write('[llm]\nprovider = "openai"\n[semantic]\nmodel_dir = "/nowhere"\n')
    assert ask() == [("language model", "problem"), ("semantic", "problem")]


@pytest.mark.parametrize("kind", ["endless", "length varies"])
def test_a_model_that_is_no_encoder_is_found(doctor, tmp_path, kind):
    pytest.importorskip("onnxruntime", reason="the extra [semantic] is not installed")
    ask, _, config = doctor
    broken_encoders.write(tmp_path / "model", kind)
    with config.open("a") as file:
        file.write(f'[semantic]\nmodel_dir = "{tmp_path / "model"}"\ntimeout = 1\n')
    assert ask() == [("semantic", "problem")]


def test_settings_of_a_client_that_cannot_be_read_are_found(doctor, tmp_path):
    ask, _, _ = doctor
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text("{ not json", encoding="utf-8")
    assert ask() == [("clients", "warning")]


def entries(tmp_path, *words, codex=None):
    """Settings of two clients whose entry has these words; Codex may have others."""
    (tmp_path / ".cursor").mkdir(exist_ok=True)
    (tmp_path / ".codex").mkdir(exist_ok=True)
    entry = {"command": words[0], "args": list(words[1:])}
    (tmp_path / ".cursor/mcp.json").write_text(json.dumps({"mine": 1, "mcpServers": {"smart-context": entry}}))
    command, *args = codex or words
    (tmp_path / ".codex/config.toml").write_text(
        f"# mine\n[mcp_servers.smart-context]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
    )


def written(tmp_path):
    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["smart-context"]
    return [entry["command"], *entry["args"]]


def program(folder, code):
    path = folder / "context"
    path.write_text(f"#!{sys.executable}\n{code}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("kind", ["another version", "broken"])
def test_an_entry_whose_program_is_gone_old_or_broken_is_found_and_mended(doctor, tmp_path, kind):
    ask, root, _ = doctor
    code = "print('context, version 0.0.1')" if kind == "another version" else "raise SystemExit(3)"
    start, gone, rest = (
        program(tmp_path, code),
        str(tmp_path / "old/context"),
        ("serve", "--root", str(root), "--watch"),
    )
    entries(tmp_path, start, *rest, codex=(gone, *rest))
    assert ask() == [("clients", "warning"), ("clients", "warning")]
    assert ask("--fix") == []
    assert written(tmp_path)[-4:] == ["serve", "--root", str(root), "--watch"]
    assert written(tmp_path)[0] != start
    assert json.loads((tmp_path / ".cursor/mcp.json.before-smart-context").read_text())["mine"] == 1
    assert (tmp_path / ".codex/config.toml").read_text().startswith("# mine\n")
    assert gone not in (tmp_path / ".codex/config.toml").read_text()


def test_a_folder_of_an_entry_that_has_vanished_is_found_and_taken_out_while_others_remain(doctor, tmp_path):
    ask, root, _ = doctor
    start = words()
    entries(tmp_path, *start, "serve", "--root", str(tmp_path / "gone"), "--root", str(root))
    assert ask() == [("clients", "warning"), ("clients", "warning")]
    assert ask("--fix") == []
    assert written(tmp_path) == [*start, "serve", "--root", str(root)]


@pytest.mark.parametrize("gone", ["{}/gone", "/media/somebody/stick", "{}/not/there/either"])
def test_a_folder_that_may_come_back_or_is_the_only_one_is_left_to_the_user(doctor, tmp_path, gone):
    ask, root, _ = doctor
    place = gone.format(tmp_path)
    others = [] if place.endswith("gone") else ["--root", str(root)]
    entries(tmp_path, *words(), "serve", "--root", place, *others)
    before = (tmp_path / ".cursor/mcp.json").read_bytes()
    assert ask("--fix") == [("clients", "warning"), ("clients", "warning")]
    assert (tmp_path / ".cursor/mcp.json").read_bytes() == before


def test_the_program_of_a_projects_settings_is_never_run(doctor, run, tmp_path):
    entry = {"command": program(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')"), "args": ["serve"]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"smart-context": entry}}))
    run("doctor", "--fix")
    assert not (tmp_path / "ran").exists()


def test_a_data_folder_that_others_may_enter_is_closed_by_fix(doctor, tmp_path):
    ask, _, _ = doctor
    data(tmp_path).chmod(0o755)
    assert ask("--fix") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_root_that_cannot_be_read_is_found(doctor, tmp_path):
    ask, root, config = doctor
    (tmp_path / "closed").mkdir(0o000)
    config.write_text(config.read_text().replace(str(root), str(tmp_path / "closed")), encoding="utf-8")
    assert ("roots", "problem") in ask()


def test_reading_without_a_jail_is_found(doctor):
    ask, _, config = doctor
    with config.open("a") as file:
        file.write('[index]\njail = "off"\n')
    assert ask() == [("reading", "warning")]
