"""Where something around the program is broken: a configuration, a home that cannot be written, a Ctrl-C that comes too early."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import clean_env


def test_a_broken_configuration_says_where_and_what_to_do(run, tmp_path):
    (tmp_path / "config/smart-context").mkdir(parents=True)
    file = tmp_path / "config/smart-context/config.toml"
    file.write_text("roots = [broken\n", encoding="utf-8")
    done = run("search", "x")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        f"error: {file}:1: invalid value",
        "hint: mend that line; the file is TOML",
    ]


def test_one_leaves_also_with_a_broken_configuration(run, tree, tmp_path):
    root = tree({"a.md": "The gryphon sleeps."})
    assert run("roots", "add", root).returncode == 0
    assert run("index").returncode == 0
    file = tmp_path / "config/smart-context/config.toml"
    file.write_text("roots = [broken\n", encoding="utf-8")
    assert str(file) in run("uninstall").stdout.decode().replace("~", str(tmp_path))
    done = run("uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    assert not file.exists()
    assert not list(tmp_path.rglob("record.sqlite*"))
    assert (root / "a.md").exists()


def test_what_cannot_be_removed_is_named_and_the_rest_goes(run, tree, tmp_path):
    root = tree({"a.md": "The gryphon sleeps."})
    assert run("index", "--root", root).returncode == 0
    data = next(path.parent for path in tmp_path.rglob("record.sqlite"))
    (data / "tokens.json").write_text("{}", encoding="utf-8")
    mount = subprocess.run(["mount", "--bind", data / "ranking", data / "ranking"], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("a mount, which cannot be removed, needs root")
    try:
        done = run("uninstall", "--yes")
    finally:
        subprocess.run(["umount", data / "ranking"], check=True)
    assert done.returncode == 6
    assert b"could not remove the index" in done.stderr
    assert not (data / "tokens.json").exists()


@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="root needs setpriv to give up its rights"
)
def test_doctor_says_that_a_home_cannot_be_written(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    env = {**clean_env(tmp_path), "XDG_DATA_HOME": str(home / "data")}
    done = subprocess.run(
        [*drop, sys.executable, "-m", "smart_context", "doctor"], env=env, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert f"✗ data            {home}/data/smart-context cannot be made" in done.stdout.decode()


@pytest.mark.parametrize(
    ("loading", "ends"), [("threading", (-signal.SIGINT, b"")), ("click", (130, b"interrupted\n"))]
)
def test_ctrl_c_while_the_program_is_loaded_ends_it_without_a_traceback(tmp_path, loading, ends):
    (tmp_path / f"{loading}.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8"
    )
    env = {**clean_env(tmp_path), "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-m", "smart_context"],
        env=env,
        capture_output=True,
        check=False,
        # Where the tests run in the background, a shell has this signal ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stderr) == ends


TYPO = {"SMART_CONTEXT_DATADIR": "s3cret", "SMART_CONTEXT_BANANA": "1", "SMART_CONTEXT_INDEX_WORKERS": "1"}


@pytest.mark.parametrize("command", [("search", "x"), ("search", "x", "--sort", "date"), ("status",), ("serve",)])
def test_every_command_names_variables_that_are_misspelt(run, command):
    done = run(*command, env=TYPO)
    assert [line for line in done.stderr.decode().splitlines() if "variable" in line] == [
        "warning: the variable SMART_CONTEXT_BANANA is unknown and ignored",
        "warning: the variable SMART_CONTEXT_DATADIR is unknown and ignored; did you mean SMART_CONTEXT_DATA_DIR?",
    ]
    assert b"s3cret" not in done.stderr + done.stdout
    assert b"variable" not in run(*command).stderr


def test_doctor_names_variables_that_are_misspelt(run):
    done = run("doctor", "--json", env=TYPO)
    found = {each["what"]: each["fix"] for each in json.loads(done.stdout) if "the variable " in each["what"]}
    assert found == {
        "the variable SMART_CONTEXT_BANANA is unknown and ignored": (
            "unset it; docs/reference/configuration.md lists all variables"
        ),
        "the variable SMART_CONTEXT_DATADIR is unknown and ignored": "rename it to SMART_CONTEXT_DATA_DIR",
    }
    assert b"variable" not in done.stderr
