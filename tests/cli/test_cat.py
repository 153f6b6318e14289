"""`context cat`: the whole text of a file, redacted unless its owner says otherwise, which is logged."""

from __future__ import annotations

import json

import pytest

TEXT = (
    "# Keys\n\nWrite to bob@example.org.\n\npassword = hunter2-Zebra-99\n"
    + "\n".join(f"line {i}" for i in range(3000))
    + "\n"
)


@pytest.fixture
def share(tree):
    return tree({"keys.md": TEXT, "outside.txt": "x"})


def test_the_whole_file_is_printed_and_what_must_be_hidden_is(run, share):
    done = run("cat", share / "keys.md", "--root", share)
    told = done.stdout.decode()
    assert done.returncode == 0
    assert told.rstrip("\n").endswith("line 2999")
    assert "hunter2" not in told
    assert "bob@" not in told
    assert (
        run("cat", share / "keys.md", "--pointer", "lines 10-12", "--root", share).stdout == b"line 4\nline 5\nline 6\n"
    )


def test_its_owner_may_see_everything_and_that_is_logged(run, share, tmp_path):
    done = run("cat", share / "keys.md", "--unredacted", "--root", share, "--data-dir", tmp_path / "data")
    assert done.stdout.decode() == TEXT
    [line] = (tmp_path / "data/audit.jsonl").read_text(encoding="utf-8").splitlines()
    entry = json.loads(line)
    assert (entry["tool"], entry["caller"], entry["query"]) == ("cat --unredacted", "owner", str(share / "keys.md"))


def test_what_cannot_be_logged_is_not_shown_unredacted(run, share, tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data/audit.jsonl").mkdir()
    done = run("cat", share / "keys.md", "--unredacted", "--root", share, "--data-dir", tmp_path / "data")
    assert (done.returncode, done.stdout) == (6, b"")


def test_nothing_outside_the_roots_is_printed(run, share, tmp_path):
    (tmp_path / "secret.txt").write_text("hidden", encoding="utf-8")
    done = run("cat", tmp_path / "secret.txt", "--root", share)
    assert (done.returncode, done.stdout) == (6, b"")
