"""`context build` as a person or a CI job runs it: what it left out, and what an empty cache looks like."""

from __future__ import annotations

import json

import pytest

MIXED = {"a.md": "one", "sub/b.txt": "two", "sub/c.csv": "x,y\n1,2\n", ".git/config": "[core]", ".hidden": "three"}


def test_a_build_says_how_many_files_of_other_formats_it_left_out_and_how_to_take_them(run, tree, tmp_path):
    done = run("build", "--sources", tree(MIXED), "--cache", tmp_path / "cache")
    first, *more = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (0, b"")
    assert first.startswith("1 document, sha256:")
    assert more == ["left out 2 files of other formats; --formats all takes them too"]


def test_a_build_of_some_formats_counts_the_others_and_one_of_all_has_none(run, tree, tmp_path):
    root = tree(MIXED)
    some = run("build", "--sources", root, "--cache", tmp_path / "some", "--formats", "*.csv")
    assert some.stderr.decode().splitlines()[-1] == "left out 1 file of other formats; --formats all takes them too"
    everything = run("build", "--sources", root, "--cache", tmp_path / "all", "--formats", "all")
    assert b"left out" not in everything.stderr


def test_a_build_of_markdown_alone_says_nothing_more(run, tree, tmp_path):
    done = run("build", "--sources", tree({"a.md": "one"}), "--cache", tmp_path / "cache")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("formats", [(), ("--formats", "pdf")])
def test_an_empty_cache_is_valid_and_comes_with_a_warning(run, tree, tmp_path, formats):
    done = run("build", "--sources", tree({"b.txt": "two"}), "--cache", tmp_path / "cache", *formats)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"warning: THE CACHE IS EMPTY" in done.stderr
    assert b"--fail-if-empty" in done.stderr
    assert all(len(line) <= 100 for line in done.stderr.decode().splitlines())
    verified = run("verify", "--cache", tmp_path / "cache")
    assert (verified.returncode, json.loads(verified.stdout)["document_count"]) == (0, 0)


@pytest.mark.parametrize("formats", [(), ("--formats", "pdf")])
def test_a_build_that_must_not_be_empty_fails_and_leaves_what_stood(run, tree, tmp_path, formats):
    root = tree({"b.txt": "two"})
    args = ("--sources", root, "--cache", tmp_path / "new" / "cache", *formats, "--fail-if-empty")
    done = run("build", *args)
    assert (done.returncode, done.stdout) == (6, b"")
    assert done.stderr.startswith(b"error: no document in ")
    assert not (tmp_path / "new").exists()
    (root / "a.md").write_text("one")
    assert run("build", *args).returncode == 0
    before = (tmp_path / "new" / "cache" / "manifest.json").read_bytes()
    (root / "a.md").unlink()
    assert run("build", *args, "--force").returncode == 6
    assert (tmp_path / "new" / "cache" / "manifest.json").read_bytes() == before
