"""A server indexes by itself what nobody has indexed yet: when a search needs it, and never in anybody's way."""

from __future__ import annotations

import json

import pytest

from machine import rest
from server_client import PATIENT, SERVE, Peer


@pytest.fixture
def start(tree, tmp_path):
    root = tree(
        {
            "boats.md": "# Boats\nThe ferry to the island leaves at seven.\n",
            "sub/cars.md": "The garage opens at nine.\n",
        }
    )
    started = []

    def begin(**env):
        env = {"SMART_CONTEXT_INDEX_AT_START": "true", **PATIENT, **env}
        peer = Peer([*SERVE, "--root", str(root), "--data-dir", str(tmp_path / "data")], tmp_path, env)
        started.append(peer)
        peer.initialize()
        return root, peer

    yield begin
    for peer in started:
        peer.__exit__(None, None, None)


def paths(result):
    return [item["path"] for item in result["structuredContent"]["items"]]


def test_the_first_search_finds_something_though_nobody_indexed(start):
    root, peer = start()
    assert paths(peer.call("searchFiles", {"query": "when does the ferry leave"})) == [str(root / "boats.md")]


def test_who_indexes_first_meets_nobody_else(start):
    root, peer = start()
    answer = json.loads(peer.call("indexFolder", {"root": str(root)})["content"][0]["text"])
    # On a slow machine the server may have begun by itself: it makes way, and what it has done is done.
    assert (answer["indexed"] + answer["skipped"], answer["failed"]) == (2, 0)


def test_it_is_off_unless_asked_for(start, tmp_path):
    _, peer = start(SMART_CONTEXT_INDEX_AT_START="")
    assert paths(peer.call("searchFiles", {"query": "ferry"})) == []
    assert not (tmp_path / "data/record.sqlite").exists()


def test_a_root_that_was_indexed_is_not_looked_at_again(start):
    root, peer = start()
    peer.call("searchFiles", {"query": "ferry"})
    assert peer.finish() == []
    (root / "new.md").write_text("a new ferry", encoding="utf-8")
    _, peer = start()
    assert paths(peer.call("searchFiles", {"query": "ferry"})) == [str(root / "boats.md")]


def test_roots_of_a_new_configuration_join_those_that_were_indexed(tree, tmp_path):
    old, new = tree({"old/a.md": "The ferry."}) / "old", tree({"new/b.md": "The harbour."}) / "new"
    config = tmp_path / "config.toml"
    config.write_text("[rate_limits]\nsearchFiles = 0\n[index]\nat_start = true\n", encoding="utf-8")
    argv = [*SERVE, "--config", str(config), "--data-dir", str(tmp_path / "data"), "--root", str(old)]
    with Peer(argv, tmp_path, PATIENT) as peer:
        peer.initialize()
        assert len(paths(peer.call("searchFiles", {"query": "ferry"}))) == 1
    with Peer([*argv, "--root", str(new)], tmp_path, PATIENT) as peer:
        peer.initialize()
        while not paths(peer.call("searchFiles", {"query": "harbour"})):
            assert peer.process.poll() is None
            rest()
