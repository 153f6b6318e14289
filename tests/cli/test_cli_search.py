"""`context search` and `context open` as a person runs them."""

from __future__ import annotations

import json
import os
import re

import pytest

from server_client import SERVE, Peer


@pytest.fixture
def share(tree):
    return tree(
        {
            "plan.md": "# Plan\nThe gryphon is fed at noon. Ask bob@example.org.\n",
            "esc\x1b[31m.md": "gryphon \x1b]0;owned\x07 \u009b2J and so on, in words enough to be text, and then some more of them",
        }
    )


MALFORMED = [("",), (" ",), ("x", "-k", "0"), ("x", "-k", "101"), ("x", "--offset", "-1"), ("x", "--year", "21")]


@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_malformed_search_is_refused_with_or_without_an_index(run, share, is_indexed):
    if is_indexed:
        run("index", "--root", share)
    for args in MALFORMED:
        done = run("search", *args, "--root", share)
        assert (done.returncode, done.stdout) == (1, b""), args
        assert done.stderr.startswith(b"error: "), args
        assert b"hint: " in done.stderr, args


@pytest.mark.parametrize("offset", [2, 3, 10**30])
def test_who_passes_over_all_results_is_told_so(run, share, offset):
    run("index", "--root", share)
    done = run("search", "gryphon", "--root", share, "--offset", str(offset))
    told = f"no more results: there are about 2, and --offset passes over {offset:,}\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (0, b"", told)
    assert b"\nnothing found\n" in run("search", "walrus", "--root", share, "--offset", "2").stderr


def test_before_anything_is_indexed_a_search_says_how_to_begin(run, share):
    done = run("search", "gryphon", "--root", share)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"context index" in done.stderr


@pytest.mark.parametrize("style", [(), ("--json",), ("-l",)])
def test_a_root_that_was_never_indexed_is_named_with_how_to_index_it(run, share, tmp_path, style):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.md").write_text("a gryphon too")
    run("index", "--root", share)
    both = ("--root", share, "--root", tmp_path / "other")
    done = run("search", "gryphon", *both, *style)
    assert (done.returncode, b"plan.md" in done.stdout, b"other/a.md" in done.stdout) == (0, True, False)
    told = done.stderr.decode().splitlines()
    assert told[0] == "not searched, because it was never indexed: other"
    assert told[1] == "index it with: context index other"
    run("index", *both)
    done = run("search", "gryphon", *both, *style)
    assert b"a.md" in done.stdout
    assert b"indexed" not in done.stderr


def test_results_are_one_json_document_and_open_takes_what_they_name(run, share):
    run("index", "--root", share)
    items = json.loads(run("search", "gryphon", "--root", share, "--json").stdout)["items"]
    assert {item["path"] for item in items} == {str(path) for path in share.iterdir()}
    for item in items:
        opened = json.loads(run("open", item["path"], "--pointer", item["pointer"], "--root", share, "--json").stdout)
        assert list(opened) == ["path", "pointer", "preview", "truncated"]
        assert (opened["path"], opened["pointer"]) == (item["path"], item["pointer"])
        assert "gryphon" in opened["preview"]
        assert "bob@" not in opened["preview"] + item["snippet"]


@pytest.mark.parametrize("name", [b"new\nline.md", b"caf\xe9.md", b"a\\x62.md", "🎉 party.md".encode()])
def test_names_can_be_given_to_another_program_as_they_are_on_disk(run, share, tmp_path, name):
    (share / os.fsdecode(name)).write_text("a walrus", encoding="utf-8")
    run("index", "--root", share)
    found = run("search", "-0", "walrus", "--root", share, cwd=share)
    assert (found.returncode, found.stdout) == (0, name + b"\0")
    assert (
        run("search", "walrus", "--null", "--root", share).stdout
        == os.fsencode(share.relative_to(tmp_path)) + b"/" + found.stdout
    )


@pytest.mark.parametrize("ways", [("--json", "-l"), ("--jsonl", "--json"), ("-0", "--json")])
def test_one_way_to_print_is_taken(run, share, ways):
    done = run("search", "gryphon", "--root", share, *ways)
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_neither_names_nor_text_reach_a_terminal_as_commands(run, share, as_json):
    run("index", "--root", share)
    done = run("search", "gryphon", "--root", share, *as_json)
    told = (done.stdout + done.stderr).decode()
    assert "esc" in told
    assert not {"\x1b", "\x07", "\x9b"} & set(told)


TOOLS = re.compile(r"searchFiles|openFile|indexFolder|listRoots|`(k|offset|exts|years|pointer|before|after|full)`")
COMMANDS = re.compile(r"context [a-z]+|--[a-z]+")


@pytest.mark.parametrize(
    ("command", "tool", "arguments"),
    [
        (["open", "/etc/passwd"], "openFile", {"path": "/etc/passwd"}),
        (["open", "{root}/gone.md"], "openFile", {"path": "{root}/gone.md"}),
        (["open", "{root}"], "openFile", {"path": "{root}"}),
        (
            ["open", "{root}/plan.md", "--pointer", "page 9"],
            "openFile",
            {"path": "{root}/plan.md", "pointer": "page 9"},
        ),
        (["open", "{root}/plan.md", "--pointer", "frob"], "openFile", {"path": "{root}/plan.md", "pointer": "frob"}),
        (["open", "{root}/plan.md", "--before", "-1"], "openFile", {"path": "{root}/plan.md", "before": -1}),
        (["open", "{root}/empty.md"], "openFile", {"path": "{root}/empty.md"}),
        (["search", "x", "-k", "0"], "searchFiles", {"query": "x", "k": 0}),
        (["search", "x", "--offset", "-1"], "searchFiles", {"query": "x", "offset": -1}),
        (["search", "x", "--year", "21"], "searchFiles", {"query": "x", "years": ["21"]}),
        (["search", "x", "--ext", ""], "searchFiles", {"query": "x", "exts": [""]}),
        (["search", "x", "--in", "/etc"], "searchFiles", {"query": "x", "roots": ["/etc"]}),
        (["index", "{root}/gone"], "indexFolder", {"root": "{root}/gone"}),
    ],
)
def test_an_error_names_commands_to_a_person_and_tools_to_a_client(run, server, command, tool, arguments):
    root, peer = server
    done = run(*(word.replace("{root}", str(root)) for word in command), "--root", root)
    told = peer.call(
        tool, {k: v.replace("{root}", str(root)) if isinstance(v, str) else v for k, v in arguments.items()}
    )
    error = told["structuredContent"]["error"]
    assert (done.returncode != 0, b"hint: " in done.stderr) == (True, True)
    assert not TOOLS.search(done.stderr.decode())
    assert error["details"]["hint"]
    assert not COMMANDS.search(f"{error['message']} {error['details']['hint']}".replace(str(root), ""))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "share").mkdir()
    (home / "share/plan.md").write_text("The gryphon is fed at noon.", encoding="utf-8")
    (home / "share/empty.md").write_text("", encoding="utf-8")
    with Peer((*SERVE, "--root", str(home / "share")), home) as peer:
        peer.initialize()
        yield home / "share", peer
