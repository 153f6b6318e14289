"""Client settings: our entry comes and goes, everything else stays, broken files are left alone."""

from __future__ import annotations

import json
import os
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.clients import change, codex_toml, jsonc, probe
from smart_context.clients.known import CLIENTS, Places
from smart_context.errors import ConfigError, IoError
from unprivileged import NOBODY, needs_root

COMMAND = ["/opt/bin/context", "serve", "--root", "/srv/a folder"]

COMMENTED = """// my settings
{
    "theme": "dark", // not the light one
    /* servers */
    "context_servers": {
        "other": {"command": "x"}, // keep
    },
    "servers": {
        "other": {"command": "x"}
    },
    "list": [1, 2.5, true, null, "ü",],
}
"""


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path / "home", tmp_path / "home/.config", platform="linux", project=tmp_path / "home/project")


def entry(client, file):
    text = file.read_bytes().decode()
    data = tomllib.loads(text) if client.format == "toml" else jsonc.loads(text)
    return data.get(client.path[0], {}).get(change.NAME)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_connecting_to_a_client_without_settings_makes_them(client, places):
    plan = change.add(client, places, COMMAND)
    assert change.write(plan, places) is None
    assert entry(client, plan.file) == client.entry(COMMAND)
    assert change.command_of(client, places) == COMMAND
    assert change.add(client, places, COMMAND).is_empty


@pytest.mark.parametrize("client", [c for c in CLIENTS.values() if c.format != "toml"], ids=lambda c: c.name)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_foreign_keys_and_line_endings_survive(client, places, newline):
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    before = COMMENTED.replace("\n", newline)
    file.write_bytes(before.encode())
    change.write(change.add(client, places, COMMAND), places)
    after = file.read_bytes().decode()
    for kept in ("// my settings", "// not the light one", "/* servers */", "// keep", '[1, 2.5, true, null, "ü",]'):
        assert kept in after
    assert after.count("\n") == after.count(newline)
    assert jsonc.loads(after).items() >= {"theme": "dark"}.items()
    change.write(change.remove(client, places), places)
    assert jsonc.loads(file.read_bytes().decode()) == jsonc.loads(before) | {
        client.path[0]: jsonc.loads(before).get(client.path[0], {})
    }
    assert entry(client, file) is None


CODEX = """# mine
model = "gpt"

[mcp_servers.other]
command = "x"
args = ["[mcp_servers.smart-context]"]

# about profiles
[profiles.fast]
model = "small"
"""


def test_codex_tables_come_and_go_in_place(places):
    client = CLIENTS["codex"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    file.write_text(CODEX, encoding="utf-8")
    change.write(change.add(client, places, ["/old/context", "serve"]), places)
    change.write(change.add(client, places, COMMAND), places)
    text = file.read_text(encoding="utf-8")
    assert text.startswith(CODEX)
    assert entry(client, file) == {"command": COMMAND[0], "args": COMMAND[1:]}
    change.write(change.remove(client, places), places)
    assert file.read_text(encoding="utf-8") == CODEX


def test_a_codex_table_between_others_is_replaced_with_its_sub_tables():
    text = (
        '[mcp_servers."smart-context"]\ncommand = "x"\n[mcp_servers.smart-context.env]\nA = "1"\n\n# next\n[z]\na = 1\n'
    )
    new = codex_toml.put(text, "mcp_servers", "smart-context", {"command": "y", "args": ['q"\\ü']})
    assert tomllib.loads(new) == {"mcp_servers": {"smart-context": {"command": "y", "args": ['q"\\ü']}}, "z": {"a": 1}}
    assert "\n# next\n[z]" in new


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("claude-desktop", b"{"),
        ("claude-desktop", b"[]"),
        ("claude-desktop", b'{"mcpServers": []}'),
        ("claude-desktop", b'{"mcpServers": {"smart-context": 1'),
        ("cursor", b"\xff\xfe"),
        ("vscode", b'{"servers": {"a": undefined}}'),
        ("codex", b"[mcp_servers\n"),
        ("codex", b'mcp_servers = "x"\n'),
    ],
)
def test_a_broken_file_is_left_as_it_is(places, name, content):
    file = CLIENTS[name].settings(places)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(ConfigError):
        change.add(CLIENTS[name], places, COMMAND)
    assert file.read_bytes() == content


def test_an_inline_table_that_cannot_be_changed_safely_is_refused(places):
    client = CLIENTS["codex"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    file.write_text('mcp_servers = { other = { command = "x" } }\n', encoding="utf-8")
    with pytest.raises(ConfigError):
        change.add(client, places, COMMAND)


def test_the_old_file_stays_as_a_copy_with_its_mode(places):
    client = CLIENTS["claude-code"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"a": 1}')
    os.chmod(file, 0o600)
    backup = change.write(change.add(client, places, COMMAND), places)
    assert backup is not None
    assert backup.read_bytes() == b'{"a": 1}'
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_state_before_the_first_change_is_kept_for_ever_beside_the_last(places):
    client = CLIENTS["cursor"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"mine": 1}')
    first = change.write(change.add(client, places, COMMAND), places)
    changed = file.read_bytes()
    last = change.write(change.remove(client, places), places)
    change.write(change.add(client, places, COMMAND), places)
    assert (first.name, last.name) == ("mcp.json" + change.FIRST, "mcp.json" + change.LAST)
    assert first.read_bytes() == b'{"mine": 1}'
    assert last.read_bytes() != changed
    assert jsonc.loads(last.read_text(encoding="utf-8")) == {"mine": 1, "mcpServers": {}}


@pytest.mark.parametrize("ending", [change.FIRST, change.LAST])
def test_a_link_in_the_place_of_a_copy_is_replaced_and_not_followed(places, tmp_path, ending):
    client = CLIENTS["cursor"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"{}")
    precious = tmp_path / "precious"
    precious.write_bytes(b"of somebody else")
    file.with_name(file.name + ending).symlink_to(precious)
    change.write(change.add(client, places, COMMAND), places)
    change.write(change.remove(client, places), places)
    assert precious.read_bytes() == b"of somebody else"
    assert not file.with_name(file.name + ending).is_symlink()


@needs_root
def test_root_changes_a_users_settings_as_that_user(places, tmp_path):
    tmp_path.chmod(0o755)
    for outer in tmp_path.parents:
        if "pytest-of-" in str(outer):
            outer.chmod(0o711)
    places.home.mkdir()
    os.chown(places.home, NOBODY, NOBODY)
    cursor, zed, windsurf = (CLIENTS[name] for name in ("cursor", "zed", "windsurf"))
    change.write(change.add(cursor, places, COMMAND), places)
    assert {path.stat().st_uid for path in (cursor.settings(places), cursor.settings(places).parent)} == {NOBODY}
    # A link of the user's that leads to root's file, and a folder that is one.
    roots = tmp_path / "roots"
    roots.mkdir(mode=0o755)
    (roots / "settings.json").write_bytes(b"{}")
    zed.settings(places).parent.mkdir(parents=True)
    zed.settings(places).symlink_to(roots / "settings.json")
    windsurf.settings(places).parent.parent.mkdir(parents=True)
    windsurf.settings(places).parent.symlink_to(roots)
    for client in (zed, windsurf):
        with pytest.raises(IoError):
            change.write(change.add(client, places, COMMAND), places)
    assert os.geteuid() == 0
    assert os.listdir(roots) == ["settings.json"]
    assert (roots / "settings.json").read_bytes() == b"{}"


@needs_root
def test_owner_group_and_mode_of_settings_stay(places):
    client = CLIENTS["claude-code"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"{}")
    os.chown(file, 1234, 4321)
    os.chmod(file, 0o640)
    change.write(change.add(client, places, COMMAND), places)
    found = file.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (1234, 4321, 0o640)


@pytest.mark.parametrize("kind", ["fifo", "folder", "40 MB of JSON", "40 MB of blanks", "many parts", "deep"])
def test_settings_that_cannot_be_read_are_an_error(places, kind):
    client = CLIENTS["codex" if kind in {"many parts", "deep"} else "claude-code"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif "40 MB" in kind:
        file.write_bytes(b'{"a": [' + b"1," * 20_000_000 + b"1]}" if "JSON" in kind else b" " * 40_000_000)
    else:
        file.write_text("a." * 5000 + "a = 1\n" if kind == "many parts" else "a = " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(ConfigError):
        change.add(client, places, COMMAND)
    with pytest.raises(ConfigError):
        change.command_of(client, places)


def test_plain_settings_of_megabytes_are_changed_as_small_ones_are():
    document = {
        "projects": {f"/p{i}": {"history": [{"text": "x" * 80, "n": 1.5}] * 40} for i in range(500)},
        "b": {"c": 1},
    }
    text = json.dumps(document, indent=2)
    new = jsonc.put(text, ("b", "d"), {"e": [1]})
    assert json.loads(new) == {**document, "b": {"c": 1, "d": {"e": [1]}}}
    assert jsonc.drop(new, ("b", "d")) == text


def test_a_path_that_is_not_utf8_is_refused(places):
    with pytest.raises(ConfigError):
        change.add(CLIENTS["cursor"], places, ["/opt/bin/context", "serve", "--root", "/srv/\udcff"])


def test_a_file_that_changed_since_the_plan_is_not_written(places):
    client = CLIENTS["claude-code"]
    plan = change.add(client, places, COMMAND)
    plan.file.parent.mkdir(parents=True)
    plan.file.write_bytes(b'{"b": 2}')
    with pytest.raises(IoError):
        change.write(plan, places)
    assert plan.file.read_bytes() == b'{"b": 2}'


def test_each_client_gets_the_entry_that_its_documentation_shows(places):
    told = {
        name: (str(client.settings(places).relative_to(places.home)), client.path[0])
        for name, client in CLIENTS.items()
    }
    assert told == {
        "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
        "claude-code": (".claude.json", "mcpServers"),
        "vscode": (".config/Code/User/mcp.json", "servers"),
        "cursor": (".cursor/mcp.json", "mcpServers"),
        "codex": (".codex/config.toml", "mcp_servers"),
        "gemini": (".gemini/settings.json", "mcpServers"),
        "zed": (".config/zed/settings.json", "context_servers"),
        "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
        "copilot-cli": (".copilot/mcp-config.json", "mcpServers"),
        "opencode": (".config/opencode/opencode.json", "mcp"),
        "lmstudio": (".lmstudio/mcp.json", "mcpServers"),
        "antigravity": (".gemini/config/mcp_config.json", "mcpServers"),
        "kiro": (".kiro/settings/mcp.json", "mcpServers"),
        "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
        "qwen": (".qwen/settings.json", "mcpServers"),
        "claude-code-project": ("project/.mcp.json", "mcpServers"),
    }
    assert CLIENTS["opencode"].entry(["/c", "serve"]) == {"type": "local", "enabled": True, "command": ["/c", "serve"]}
    assert CLIENTS["copilot-cli"].entry(["/c", "serve"]) == {
        "type": "local", "tools": ["*"], "command": "/c", "args": ["serve"],
    }  # fmt: skip


def test_the_file_that_a_client_already_has_is_changed(places):
    client = CLIENTS["opencode"]
    there = places.home / ".config/opencode/opencode.jsonc"
    there.parent.mkdir(parents=True)
    there.write_text('{ // mine\n  "theme": "x",\n}', encoding="utf-8")
    change.write(change.add(client, places, COMMAND), places)
    assert "// mine" in there.read_text(encoding="utf-8")
    assert change.command_of(client, places) == COMMAND
    assert not there.with_suffix(".json").exists()


@pytest.mark.parametrize("entry", ["3", "{}", '{"command": 3}', '{"command": "", "args": [1]}'])
def test_an_entry_that_starts_nothing_has_no_command(places, entry):
    file = CLIENTS["kiro"].settings(places)
    file.parent.mkdir(parents=True)
    file.write_text(f'{{"mcpServers": {{"smart-context": {entry}}}}}', encoding="utf-8")
    assert change.command_of(CLIENTS["kiro"], places) == []


def test_a_linked_settings_file_stays_a_link(places, tmp_path):
    client = CLIENTS["cursor"]
    file = client.settings(places)
    file.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.json"
    real.write_bytes(b"{}")
    file.symlink_to(real)
    change.write(change.add(client, places, COMMAND), places)
    assert file.is_symlink()
    assert entry(client, real)


keys = st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)
documents = st.dictionaries(keys, values, max_size=4)


@given(documents, st.lists(keys, min_size=1, max_size=3), values, st.sampled_from([None, 2, "\t"]))
def test_put_sets_one_member_and_drop_removes_it(document, path, value, indent):
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    expected = json.loads(text)
    place = expected
    for key in path[:-1]:
        inner = place.setdefault(key, {})
        if not isinstance(inner, dict):
            with pytest.raises(jsonc.Broken):
                jsonc.put(text, path, value)
            return
        place = inner
    place[path[-1]] = value
    new = jsonc.put(text, path, value)
    assert jsonc.loads(new) == expected
    del place[path[-1]]
    assert jsonc.loads(jsonc.drop(new, path)) == expected


@given(st.text())
def test_no_text_does_more_than_break(text):
    try:
        jsonc.parse(text)
    except jsonc.Broken:
        pass


def test_the_probe_tells_what_the_server_wrote(tmp_path):
    with pytest.raises(IoError) as failure:
        probe.tools([sys.executable, "-c", "import sys; sys.exit('no roots here')"])
    assert failure.value.reason == "no roots here"
    with pytest.raises(IoError):
        probe.tools([str(tmp_path / "absent")])
    with pytest.raises(IoError):
        probe.tools([sys.executable, "-c", "print('hello')"])


def test_the_probe_does_not_hang_with_the_server():
    with pytest.raises(IoError):
        probe.tools([sys.executable, "-c", "import signal; signal.pause()"], timeout=0.2)
