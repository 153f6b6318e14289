"""Servers that run take roots that `context roots` adds to their configuration file or removes from it; nobody sees more than before for it, who is to see some roots only."""

from __future__ import annotations

import json
import time

import pytest
from test_http import Served, called

from conftest import PATIENCE, clean_env
from machine import rest
from server_client import SERVE, Peer, text_of
from smart_context.access.roots_file import RootsFile
from smart_context.errors import ConfigError


@pytest.fixture
def folders(tree):
    return tree({"a/ferry.md": "The ferry leaves at seven.\n", "b/garage.md": "The garage opens at nine.\n"})


def until(given, is_so):
    """Ask until the answer is as wanted."""
    late = time.monotonic() + PATIENCE
    while not is_so(found := given()):
        assert time.monotonic() < late, found
        rest()
    return found


def changed(run, server, command, folder):
    """Change the roots as a person would while the server runs."""
    config = server.home / "config/smart-context/config.toml"
    assert run("roots", "--config", config, "--data-dir", server.home / "index", command, folder).returncode == 0


@pytest.mark.parametrize("processes", [1, 2])
def test_a_server_takes_roots_that_are_added_and_drops_those_that_are_removed(run, folders, tmp_path, processes):
    options = ["--watch", "--processes", str(processes)]
    server = Served(
        tmp_path, *options, config=f'roots = ["{folders}/a"]\n[rate_limits]\nsearchFiles = 0\nopenFile = 0\n'
    )

    def found():
        return [
            item["path"] for item in json.loads(text_of(called(server, "searchFiles", {"query": "garage"})))["items"]
        ]

    def opened():
        return json.loads(text_of(called(server, "openFile", {"path": f"{folders}/b/garage.md"})))

    assert opened()["error"]["code"] == "FORBIDDEN"
    changed(run, server, "add", folders / "b")
    until(found, lambda paths: paths == [f"{folders}/b/garage.md"])
    assert opened()["preview"] == "The garage opens at nine.\n"
    changed(run, server, "remove", folders / "b")
    until(opened, lambda answer: answer.get("error", {}).get("code") == "FORBIDDEN")
    assert found() == []
    (folders / "b/new.md").write_text("A new garage.\n")
    (folders / "a/new.md").write_text("A garage by the ferry.\n")
    until(found, lambda paths: paths == [f"{folders}/a/new.md"])  # what is watched was indexed, and the rest was not
    server.process.send_signal(15)
    assert server.process.wait(PATIENCE) == 0
    said = server.process.stderr.read().decode()
    server.process.stderr.close()
    assert f"{folders}/b is now a root, by " in said
    assert f"{folders}/b is no longer a root, by " in said
    assert (
        b"new.md" not in run("search", "new garage", "--root", folders / "b", "--data-dir", tmp_path / "index").stdout
    )


def test_a_token_for_some_roots_sees_nothing_of_those_that_are_added(run, folders, tmp_path):
    server = Served(tmp_path, config=f'roots = ["{folders}/a"]\n')
    done = run("token", "add", "ada", "--root", folders / "a", "--data-dir", server.home / "index",
               "--config", server.home / "config/smart-context/config.toml")  # fmt: skip
    ada = done.stdout.decode().split()[-1]
    changed(run, server, "add", folders / "b")

    def roots(token=None):
        return json.loads(text_of(called(server, "listRoots", {}, token=token)))["roots"]

    until(roots, lambda names: names == [f"{folders}/a", f"{folders}/b"])
    assert roots(ada) == [f"{folders}/a"]
    asked = called(server, "openFile", {"path": f"{folders}/b/garage.md"}, token=ada)
    assert json.loads(text_of(asked))["error"]["code"] == "FORBIDDEN"
    assert server.end() == 0


@pytest.mark.parametrize("told", ["option", "environment"])
def test_roots_that_the_command_line_or_the_environment_names_stay(run, folders, tmp_path, told):
    config = tmp_path / "config.toml"
    config.write_text(f'roots = ["{folders}/a"]\n[watch]\nenabled = true\n', encoding="utf-8")
    option = ["--root", f"{folders}/a"] if told == "option" else []
    env = {} if option else {"SMART_CONTEXT_ROOTS": f"{folders}/a"}
    with Peer([*SERVE, *option, "--config", str(config), "--data-dir", str(tmp_path / "data")], tmp_path, env) as peer:
        with Peer([*SERVE, "--config", str(config), "--data-dir", str(tmp_path / "data")], tmp_path) as other:
            for each in (peer, other):
                each.initialize()
            assert run("roots", "--config", config, "add", folders / "b").returncode == 0
            until(lambda: json.loads(text_of(other.call("listRoots"))), lambda told: len(told["roots"]) == 2)
        assert json.loads(text_of(peer.call("listRoots")))["roots"] == [f"{folders}/a"]


def test_a_watch_takes_them_too(run, folders, tmp_path):
    import subprocess
    import sys

    config = tmp_path / "config.toml"
    config.write_text(f'roots = ["{folders}/a"]\ndata_dir = "{tmp_path / "data"}"\n', encoding="utf-8")
    command = [sys.executable, "-m", "smart_context", "watch", "--config", str(config)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=clean_env(tmp_path), text=True) as watch:
        until(watch.stderr.readline, lambda line: "/a: 1 indexed" in line)
        assert run("roots", "--config", config, "add", folders / "b").returncode == 0
        until(watch.stderr.readline, lambda line: "/b: 1 indexed" in line)
        watch.terminate()


def test_a_file_that_is_wrong_or_missing_changes_nothing(tmp_path):
    path = tmp_path / "config.toml"
    file = RootsFile(str(path))
    assert file.changed() is None
    path.write_text('roots = ["/srv/a"]\n', encoding="utf-8")
    assert file.changed() == ("/srv/a",)
    assert file.changed() is None
    path.write_text('roots = ["/srv/a", \n', encoding="utf-8")
    with pytest.raises(ConfigError):
        file.changed()
    assert file.changed() is None
    path.unlink()
    assert file.changed() is None
    path.write_text('roots = ["/srv/a", "/srv/b"]\n', encoding="utf-8")
    assert file.changed() == ("/srv/a", "/srv/b")
