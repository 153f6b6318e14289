"""A client's session with `context serve` over a real pipe: index, search meanwhile, preview, limits, audit, and the walls."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from server_client import SERVE, Peer, call

OFF = {"SMART_CONTEXT_INDEX_AT_START": "false"}
SECRET = "alice.smith@example.com"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("session")
    share = home / "share"
    for number in range(30):
        (share / f"team {number % 3}").mkdir(parents=True, exist_ok=True)
        text = f"# Note {number}\nThe turbine inspection of 20{number % 10 + 10} found nothing. Ask {SECRET}.\n"
        (share / f"team {number % 3}/note {number}.md").write_text(text, encoding="utf-8")
    (share / "budget.csv").write_text("item,eur\nturbine,4200\n", encoding="utf-8")
    (home / "share-sibling").mkdir()
    (home / "share-sibling/other.md").write_text("outside turbine", encoding="utf-8")
    (share / "link out.md").symlink_to(home / "share-sibling/other.md")
    (share / "folder out").symlink_to(home / "share-sibling")
    (share / "inner link.md").symlink_to("budget.csv")
    return home


@pytest.fixture(scope="module")
def peer(home):
    with Peer([*SERVE, "--root", str(home / "share"), "--data-dir", str(home / "data")], home, OFF) as peer:
        peer.initialize()
        yield peer


def body(result):
    """The object of an answer; its text and its structured content are the same."""
    found = json.loads(result["content"][0]["text"])
    assert found == result["structuredContent"]
    assert list(found)[-1] == "mcp_version"
    return found


def test_a_session_from_the_roots_to_the_audit_log(peer, home):
    share = str(home / "share")
    assert body(peer.call("listRoots")) == {"roots": [share], "mcp_version": "v1.0.0"}
    assert body(peer.call("searchFiles", {"query": "turbine"}))["items"] == []
    params = {**call("indexFolder", {"root": share}), "_meta": {"progressToken": "p"}}
    indexing = peer.post("tools/call", params)
    searching = peer.post("tools/call", call("searchFiles", {"query": "turbine"}))
    answers, progress = {}, 0
    while len(answers) < 2:
        frame = peer.read()
        if "id" in frame:
            answers[frame["id"]] = body(frame["result"])
        else:
            assert frame["method"] == "notifications/progress"
            progress += 1
    assert "items" in answers[searching]
    report = answers[indexing]
    assert (report["indexed"], report["skipped"], report["removed"], report["failed"]) == (31, 0, 0, 0)
    assert progress

    found = body(peer.call("searchFiles", {"query": "turbine inspection", "k": 3}))
    assert [list(item) for item in found["items"]] == [
        ["path", "pointer", "snippet", "score", "ext", "modified", "highlights"]
    ] * 3
    assert all(SECRET not in item["snippet"] and "[redacted:email]" in item["snippet"] for item in found["items"])
    assert found["pagination"]["returned"] == 3
    assert found["pagination"]["total_estimate"] >= 30
    first = found["items"][0]
    opened = body(peer.call("openFile", {"path": first["path"], "pointer": first["pointer"]}))
    assert list(opened) == ["path", "pointer", "preview", "truncated", "mcp_version"]
    assert SECRET not in opened["preview"]
    assert "[redacted:email]" in opened["preview"]

    lines = [json.loads(line) for line in (home / "data/audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["tool"] for line in lines[:2]] == ["listRoots", "searchFiles"]
    assert lines[-1]["tool"] == "openFile"
    assert all(line["client"] == "peer" and SECRET not in json.dumps(line) for line in lines)


def test_pages_neither_repeat_nor_lose_a_result(peer):
    whole = body(peer.call("searchFiles", {"query": "turbine", "k": 100}))["items"]
    pages = [
        body(peer.call("searchFiles", {"query": "turbine", "k": 7, "offset": n}))["items"] for n in range(0, 42, 7)
    ]
    assert [item for page in pages for item in page] == whole
    assert [item["score"] for item in whole] == sorted((item["score"] for item in whole), reverse=True)


@pytest.mark.parametrize(
    "path",
    [
        "{home}/share-sibling/other.md",
        "{home}/share-sibling/absent.md",
        "{home}/share/../share-sibling/other.md",
        "{home}/share/folder out/other.md",
        "{home}/share/folder out/absent.md",
        "{home}/share/link out.md",
        "{home}/sharex",
        "{home}",
        "/etc/passwd",
        "/etc/absent",
        "/proc/self/root{home}/share/budget.csv",
        "/proc/self/cwd",
        "share/budget.csv",
        "budget.csv",
        "file://{home}/share/budget.csv",
        "{home}/share\x00/budget.csv",
        "{home}/SHARE/budget.csv",
        "~/share/budget.csv",
        "%2e%2e/etc/passwd",
        "\\\\server\\share\\x",
    ],
)
def test_what_is_outside_is_forbidden_whether_it_exists_or_not(peer, home, path):
    wanted = path.replace("{home}", str(home))
    answers = [
        body(peer.call("openFile", {"path": wanted})),
        body(peer.call("searchFiles", {"query": "x", "roots": [wanted]})),
        body(peer.call("indexFolder", {"root": wanted})),
        body(peer.call("summarizeResults", {"query": "x", "results": [{"path": wanted, "snippet": "y"}]})),
    ]
    for answer in answers:
        assert answer["error"]["code"] == "FORBIDDEN"
        assert answer["error"] == {**answer["error"], "message": answers[0]["error"]["message"]}
        assert answer["error"]["details"]["hint"]


def test_what_is_inside_but_absent_is_not_found(peer, home):
    assert body(peer.call("openFile", {"path": str(home / "share/absent.md")}))["error"]["code"] == "NOT_FOUND"
    assert body(peer.call("indexFolder", {"root": str(home / "share/absent")}))["error"]["code"] == "NOT_FOUND"
    csv = str(home / "share/budget.csv")
    assert body(peer.call("openFile", {"path": csv, "pointer": "page 9"}))["error"]["code"] == "NOT_FOUND"
    assert body(peer.call("openFile", {"path": csv, "pointer": "frob"}))["error"]["code"] == "BAD_REQUEST"
    assert body(peer.call("openFile", {"path": str(home / "share")}))["error"]["code"] == "BAD_REQUEST"


def test_what_changed_since_it_was_indexed_is_read_anew(peer, home):
    file = home / "share/fresh.md"
    file.write_text("# Fresh\nNever indexed, call 415-555-2671.\n", encoding="utf-8")
    shown = body(peer.call("openFile", {"path": str(file)}))
    assert shown["preview"] == "# Fresh\nNever indexed, call [redacted:phone].\n"
    note = home / "share/team 0/note 0.md"
    note.write_text("rewritten\n", encoding="utf-8")
    assert body(peer.call("openFile", {"path": str(note)}))["preview"] == "rewritten\n"


def test_a_link_inside_the_root_leads_to_its_file(peer, home):
    assert "turbine,4200" in body(peer.call("openFile", {"path": str(home / "share/inner link.md")}))["preview"]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '""',
        "*",
        "a*b",
        "((((",
        ") OR (",
        "NEAR/",
        "text:turbine",
        "-",
        "AND",
        "x' OR 1=1 --",
        "\x00",
        "a" * 5000,
        "[* TO *]",
        "turbine^9",
    ],
)
def test_no_query_is_a_syntax_error_or_reaches_an_engine(peer, query):
    answer = body(peer.call("searchFiles", {"query": query}))
    assert "items" in answer, answer


def test_the_rate_of_a_client_holds_across_servers(home):
    config = home / "limited.toml"
    config.write_text(
        f'roots = ["{home / "share"}"]\ndata_dir = "{home / "limited"}"\n[rate_limits]\nopenFile = 3\n',
        encoding="utf-8",
    )
    path = str(home / "share/budget.csv")
    codes = []
    for _ in range(2):
        with Peer([*SERVE, "--config", str(config)], home, OFF) as peer:
            peer.initialize()
            for _ in range(2):
                answer = body(peer.call("openFile", {"path": path}))
                codes.append(answer.get("error", {}).get("code", "ok"))
            peer.finish()
    assert codes == ["ok", "ok", "ok", "RATE_LIMITED"]


def test_a_project_folder_cannot_change_the_configuration(run, tmp_path):
    for name in ("config.toml", "smart-context.toml", ".smart-context/config.toml", "smart-context/config.toml"):
        (tmp_path / "project" / Path(name).parent).mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text('roots = ["/"]\n', encoding="utf-8")
    done = run("roots", "--json", cwd=tmp_path / "project")
    assert b'"/"' not in done.stdout


def test_without_roots_the_tools_say_what_to_do(tmp_path):
    with Peer([*SERVE, "--data-dir", str(tmp_path / "d")], tmp_path, OFF) as peer:
        peer.initialize()
        assert body(peer.call("listRoots"))["error"]["code"] == "INTERNAL_ERROR"
        assert body(peer.call("searchFiles", {"query": "x"}))["error"]["code"] == "FORBIDDEN"
        peer.finish()


def test_names_that_are_not_utf8_are_found_and_opened(tmp_path):
    root = tmp_path / "odd"
    root.mkdir()
    names = [b"bad-\xff.md", b"new\nline.md", b"quote'\".md"]
    for name in names:
        with open(os.path.join(os.fsencode(root), name), "wb") as file:
            file.write(b"zephyr " + name.hex().encode())
    with Peer([*SERVE, "--root", str(root), "--data-dir", str(tmp_path / "d")], tmp_path, OFF) as peer:
        peer.initialize()
        assert body(peer.call("indexFolder", {"root": str(root)}))["indexed"] == 3
        items = body(peer.call("searchFiles", {"query": "zephyr"}))["items"]
        assert len(items) == 3
        shown = {body(peer.call("openFile", {"path": item["path"]}))["preview"] for item in items}
        assert shown == {f"zephyr {name.hex()}" for name in names}
        peer.finish()
