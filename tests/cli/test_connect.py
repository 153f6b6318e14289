"""`context connect` as a user runs it: settings change, nothing else does, and the server is tried."""

from __future__ import annotations

import json


def settings(tmp_path):
    return tmp_path / "config/Claude/claude_desktop_config.json"


def test_without_a_client_it_lists_them_all(run, tmp_path):
    from smart_context.clients.known import CLIENTS

    done = run("connect")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.decode().splitlines()] == list(CLIENTS)


def test_where_nobody_can_be_asked_nothing_changes_without_yes(run, tree, tmp_path):
    done = run("connect", "claude-desktop", "--root", tree({"a.md": "x"}))
    assert done.returncode == 1
    assert b"+" in done.stderr
    assert not settings(tmp_path).exists()


def test_connecting_tries_the_server_and_removing_undoes_it(run, tree, tmp_path):
    settings(tmp_path).parent.mkdir(parents=True)
    settings(tmp_path).write_text('{"theme": "dark"}', encoding="utf-8")
    root = tree({"a.md": "x"})
    done = run("connect", "claude-desktop", "--root", root, "--yes")
    assert done.returncode == 0, done.stderr
    assert b"context_resolve" in done.stderr
    entry = json.loads(settings(tmp_path).read_text(encoding="utf-8"))["mcpServers"]["smart-context"]
    assert entry["args"][-5:] == ["--root", str(root), "--watch", "--tool-names", "underscore"]
    assert run("connect", "claude-desktop", "--remove", "--yes").returncode == 0
    assert json.loads(settings(tmp_path).read_text(encoding="utf-8")) == {"theme": "dark", "mcpServers": {}}


def test_removing_what_was_not_connected_says_so_and_writes_nothing(run, tmp_path):
    done = run("connect", "claude-desktop", "--remove", "--yes")
    assert (done.returncode, done.stderr) == (0, b"Claude Desktop was not connected\n")
    assert not settings(tmp_path).exists()


def test_a_missing_folder_or_nothing_to_serve_is_refused(run, tmp_path):
    assert run("connect", "cursor", "--yes").returncode == 1
    assert run("connect", "cursor", "--root", tmp_path / "absent", "--yes").returncode == 1
    assert run("connect", "netscape").returncode == 1
    assert not (tmp_path / ".cursor").exists()


def test_root_in_an_entry_takes_the_place_of_the_configured_roots_and_that_is_said(run, tree, tmp_path):
    configured = tree({"a.md": "x"})
    other = tmp_path / "other"
    other.mkdir()
    assert run("roots", "add", configured).returncode == 0
    said = run("connect", "cursor", "--root", other, "--print").stderr.decode()
    assert f"this client will search {other} alone" in said
    assert str(configured) in said
    for words in (("--root", str(configured)), ()):
        assert "alone" not in run("connect", "cursor", *words, "--print").stderr.decode()


def test_a_project_gets_its_own_file(run, tree, tmp_path):
    root = tree({"a.md": "x"})
    project = tmp_path / "project"
    project.mkdir()
    done = run("connect", "claude-code-project", "--root", root, "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "smart-context" in json.loads((project / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]


def test_print_shows_the_settings_and_writes_none(run, tree, tmp_path):
    done = run("connect", "claude-desktop", "--root", tree({"a.md": "x"}), "--print")
    assert "smart-context" in json.loads(done.stdout)["mcpServers"]
    assert not settings(tmp_path).exists()


def test_settings_that_were_moved_are_found_where_they_are(run, tree, tmp_path):
    root = tree({"a.md": "x"})
    for client, variable, file in (
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("copilot-cli", "COPILOT_HOME", "mcp-config.json"),
    ):
        done = run("connect", client, "--root", root, "--yes", env={variable: str(tmp_path / client)})
        assert done.returncode == 0, done.stderr
        assert "smart-context" in (tmp_path / client / file).read_text(encoding="utf-8")
    assert not (tmp_path / ".claude.json").exists()
    assert not (tmp_path / ".codex").exists()
