"""From a search to a cache and back: freeze, replay, build of other formats, black box on real files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import smart_context
from conftest import Run, Tree, clean_env
from server_client import SERVE, Peer, text_of
from smart_context.frozen import ids, markdown, provenance

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"
QUESTION = ("archive", "scanning", "price")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(HANDBOOK, tmp_path / "handbook")
    return tmp_path / "handbook"


@pytest.fixture
def frozen(run: Run, folder: Path) -> Path:
    """A cache of what the handbook says about the question, with the index beside it."""
    assert run("index", folder, "--root", folder).returncode == 0
    done = run("freeze", "--root", folder, "--cache", "answer", *QUESTION)
    assert done.returncode == 0, done.stderr
    return folder.parent / "answer"


def manifest(cache: Path) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((cache / "manifest.json").read_text(encoding="utf-8"))
    return loaded


def contents(cache: Path) -> dict[str, str]:
    files = [json.loads(file.read_text(encoding="utf-8")) for file in (cache / "documents").iterdir()]
    return {file["id"]: file["content"] for file in files}


def without_time(cache: Path) -> list[str]:
    lines = (cache / "freeze.json").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "created_at" not in line]


def test_a_search_becomes_a_cache_of_passages_with_where_they_come_from(run: Run, frozen: Path, folder: Path) -> None:
    assert run("verify", "--cache", frozen).returncode == 0
    found = json.loads(run("search", "--root", folder, "--json", " ".join(QUESTION)).stdout)["items"]
    origin = provenance.read(frozen)
    assert [(str(folder / one.source), one.pointer, one.score) for one in origin.documents] == [
        (item["path"], item["pointer"], item["score"]) for item in found
    ]
    texts = contents(frozen)
    assert texts["projects/vendor-x-contract.docx/section %27pricing%27.md"].startswith(
        "# Pricing\n\nThe price is 18.50 EUR"
    )
    assert texts["finance/budget-2026.xlsx/sheet %27q2%27.md"].startswith(
        "| Item | Owner | EUR |\n|---|---|---|\n| Archive"
    )
    assert "mira.okafor@example.com" not in texts["mail/kickoff.eml/message.md"]
    assert "[redacted:email]" in texts["mail/kickoff.eml/message.md"]


def test_another_root_time_order_locale_and_hash_seed_give_the_same_cache(
    run: Run, frozen: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere" / "deep"
    other.mkdir(parents=True)
    for file in sorted((file for file in HANDBOOK.rglob("*") if file.is_file()), reverse=True):
        target = other / file.relative_to(HANDBOOK)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        os.utime(target, (1_000_000_000, 1_000_000_000))
    env = {"LC_ALL": "C", "PYTHONHASHSEED": "5", "TZ": "Asia/Tokyo"}
    for part in ("policies", "projects", "."):  # in parts, so that files are indexed in another order
        assert run("index", other / part, "--root", other, "--data-dir", "data2", env=env).returncode == 0
    done = run("freeze", "--root", other, "--data-dir", "data2", "--cache", "again", *QUESTION, env=env)
    assert done.returncode == 0, done.stderr
    assert manifest(tmp_path / "again")["cache_version"] == manifest(frozen)["cache_version"]
    assert without_time(tmp_path / "again") == without_time(frozen)


def test_a_folder_can_be_frozen_without_an_index_and_none_is_left(
    run: Run, frozen: Path, folder: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = run(
        "freeze",
        "--sources",
        folder,
        "--data-dir",
        "unused",
        "--cache",
        "direct",
        *QUESTION,
        env={"TMPDIR": str(scratch)},
    )
    assert done.returncode == 0, done.stderr
    assert without_time(tmp_path / "direct") == without_time(frozen)
    again = run("replay", "direct", "--sources", folder, "--data-dir", "unused", env={"TMPDIR": str(scratch)})
    assert again.returncode == 0, again.stderr
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "unused").exists()


def test_what_an_editor_saved_with_a_byte_order_mark_is_frozen_too(
    run: Run, frozen: Path, folder: Path, tmp_path: Path
) -> None:
    found = run("search", "--root", folder, "--json", " ".join(QUESTION)).stdout
    (tmp_path / "found.json").write_bytes(b"\xef\xbb\xbf" + found)
    (tmp_path / "list").write_bytes(b"\xef\xbb\xbfhandbook/policies/security.md\r\n")
    assert run("freeze", "--root", folder, "--from", "found.json", "--cache", "chosen").returncode == 0
    assert contents(tmp_path / "chosen") == contents(frozen)
    assert run("freeze", "--root", folder, "--paths-from", "list", "--cache", "named").returncode == 0


def test_whole_files_and_chosen_results_and_named_paths_are_frozen_too(
    run: Run, frozen: Path, folder: Path, tmp_path: Path
) -> None:
    assert run("freeze", "--root", folder, "--whole-files", "-k", "2", "--cache", "whole", *QUESTION).returncode == 0
    assert set(contents(tmp_path / "whole")) == {"finance/budget-2026.xlsx", "projects/vendor-x-contract.docx"}
    found = run("search", "--root", folder, "--json", " ".join(QUESTION)).stdout
    (tmp_path / "found.json").write_bytes(found)
    assert run("freeze", "--root", folder, "--from", "found.json", "--cache", "chosen").returncode == 0
    assert contents(tmp_path / "chosen") == contents(frozen)
    (tmp_path / "list").write_text(
        "handbook/policies/security.md\nhandbook/policies/travel-policy.pdf\n", encoding="utf-8"
    )
    assert run("freeze", "--root", folder, "--paths-from", "list", "--cache", "named").returncode == 0
    named = contents(tmp_path / "named")
    assert named.keys() == {"policies/security.md", "policies/travel-policy.pdf"}
    original = (folder / "policies" / "security.md").read_text(encoding="utf-8")
    assert named["policies/security.md"].split("\n")[0] == original.split("\n")[0]
    assert "## page 1" in named["policies/travel-policy.pdf"]
    for cache in ("whole", "chosen", "named"):
        assert run("replay", cache, "--root", folder).returncode == 0, cache


def test_what_is_hidden_stays_hidden_unless_the_owner_says_otherwise_and_that_is_logged(
    run: Run, frozen: Path, folder: Path
) -> None:
    done = run("freeze", "--root", folder, "--data-dir", "data", "--cache", "open", "--unredacted", "lost laptop")
    assert done.returncode == 4  # that data folder has no index
    done = run("freeze", "--root", folder, "--cache", "open", "--unredacted", "lost laptop")
    assert done.returncode == 0, done.stderr
    texts = contents(folder.parent / "open")
    assert any("security@example.com" in text for text in texts.values())
    assert provenance.read(folder.parent / "open").rules == ""
    log = next(folder.parent.rglob("audit.jsonl")).read_text(encoding="utf-8")
    assert json.loads(log.splitlines()[-1])["tool"] == "freeze --unredacted"


def test_a_question_that_finds_nothing_freezes_nothing(run: Run, frozen: Path, folder: Path, tmp_path: Path) -> None:
    done = run("freeze", "--root", folder, "--cache", "nothing", "xyzzyplugh")
    assert (done.returncode, done.stdout) == (2, b"")
    assert not (tmp_path / "nothing").exists()
    before = (frozen / "manifest.json").read_bytes()
    assert run("freeze", "--root", folder, "--cache", frozen, *QUESTION).returncode == 6
    assert run("freeze", "--root", folder, "--cache", frozen, "--force", "xyzzyplugh").returncode == 2
    assert (frozen / "manifest.json").read_bytes() == before
    assert run("freeze", "--root", folder, "--cache", frozen, "--force", *QUESTION).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--from", "x", "word"),
        ("--sources", "handbook", "--from", "x"),
        ("--from", "bad.json"),
        ("-k", "0", "word"),
    ],
)
def test_a_wrong_request_is_refused(run: Run, frozen: Path, folder: Path, arguments: tuple[str, ...]) -> None:
    (folder.parent / "bad.json").write_text("[]", encoding="utf-8")
    done = run("freeze", "--root", folder, "--cache", "wrong", *arguments)
    assert (done.returncode, done.stdout) == (1, b"")
    assert not (folder.parent / "wrong").exists()


def test_paths_outside_of_the_roots_are_refused(run: Run, frozen: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("/etc/passwd\n", encoding="utf-8")
    assert run("freeze", "--root", folder, "--paths-from", "list", "--cache", "stolen").returncode == 6
    assert not (tmp_path / "stolen").exists()


def test_replay_says_what_became_of_each_document(run: Run, frozen: Path, folder: Path) -> None:
    assert run("replay", frozen, "--root", folder).returncode == 0
    (folder / "projects" / "roadmap-2026.pptx").unlink()
    (folder / "finance" / "budget-2026.xlsx").rename(folder / "finance" / "budget.xlsx")
    mail = folder / "mail" / "kickoff.eml"
    mail.write_bytes(mail.read_bytes() + b"\nThe price of scanning is new.\n")
    assert run("index", folder, "--root", folder).returncode == 0
    done = run("replay", frozen, "--root", folder, "--json")
    answer = json.loads(done.stdout)
    states = {row["id"]: row["state"] for row in answer["documents"]}
    assert (done.returncode, answer["same"], answer["query"]) == (8, False, " ".join(QUESTION))
    assert states["projects/roadmap-2026.pptx/slide 3.md"] == "missing"
    assert states["finance/budget-2026.xlsx/sheet %27q2%27.md"] == "missing"
    assert states["finance/budget.xlsx/sheet %27q2%27.md"] == "new"
    assert states["mail/kickoff.eml/message.md"] == "changed"
    assert set(states.values()) >= {"missing", "new", "changed"}
    assert run("replay", frozen, "--root", folder).stdout.decode().startswith("state")


def test_only_files_of_a_time_are_frozen_which_freeze_json_names_by_its_days(
    run: Run, frozen: Path, folder: Path
) -> None:
    for file in folder.rglob("*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    note = folder / "note.md"
    note.write_text("The price of scanning is new.\n", encoding="utf-8")
    assert run("index", folder, "--root", folder).returncode == 0
    freeze = ("freeze", "--root", folder, "--force", "--cache")
    assert run(*freeze, "dated", "price", "of", "scanning", "--since", "yesterday").returncode == 0
    origin = provenance.read(frozen.parent / "dated")
    assert {one.source for one in origin.documents} == {"note.md"}
    assert (len(origin.question.since), origin.question.until) == (len("2024-03-31"), "")
    assert run("replay", "dated", "--root", folder).returncode == 0
    assert run(*freeze, "old", "price", "of", "scanning", "--until", "2023-11").returncode == 0
    assert "note.md" not in {one.source for one in provenance.read(frozen.parent / "old").documents}
    assert b'"since"' not in (frozen / "freeze.json").read_bytes()
    assert run(*freeze, "bad", "price", "--since", "soon").stderr.decode().splitlines() == [
        "error: `--since` is no date: 'soon'",
        "hint: a date looks like 2024-03-31, 31.03.2024, 2024-03, 2024, yesterday or last week",
    ]
    assert b"give it as --since" in run(*freeze, "words", "price of scanning last week").stderr


def test_a_cache_that_was_not_frozen_cannot_be_replayed_and_says_why(run: Run, tree: Tree, tmp_path: Path) -> None:
    root = tree({"a.md": "alpha"})
    assert run("build", "--sources", root, "--cache", "plain").returncode == 0
    done = run("replay", "plain", "--root", root)
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"freeze.json: is missing: the cache was not made by `context freeze`" in done.stderr


def test_the_whole_way_freeze_sign_copy_verify_resolve_pack_change_replay_diff_why(
    run: Run, frozen: Path, folder: Path, tmp_path: Path
) -> None:
    assert run("keygen", "--key", "me.key").returncode == 0
    assert run("sign", "--cache", frozen, "--key", "me.key").returncode == 0
    copy = tmp_path / "far" / "copy"
    shutil.copytree(frozen, copy)
    assert run("verify", "--cache", copy, "--key", "me.pub").returncode == 0
    request = ("--query", "what does scanning cost", "--budget", "300")
    for command in ("resolve", "pack", "why"):
        here, there = run(command, "--cache", frozen, *request), run(command, "--cache", copy, *request)
        assert (here.returncode, here.stdout) == (0, there.stdout)
        assert b"canning" in here.stdout or command == "why"
    for name in ("kickoff.eml", "deploy.md", "vendor-x-contract.docx"):
        next(folder.rglob(name)).unlink()
    assert run("index", folder, "--root", folder).returncode == 0
    assert run("replay", copy, "--root", folder).returncode == 8
    assert run("freeze", "--root", folder, "--cache", "later", *QUESTION).returncode == 0
    done = run("diff", copy, "later", "--stat", "--query", "scanning price", "--budget", "300")
    assert done.returncode == 8
    assert b"removed  mail/kickoff.eml/message.md" in done.stdout


def test_names_that_differ_in_case_alone_and_hostile_ones_have_documents_of_their_own(
    run: Run, tree: Tree, tmp_path: Path
) -> None:
    root = tree({
        "Notes/Plan.txt": "alpha one",
        "notes/plan.txt": "alpha two",
        "100%/a'b\"c\\d.txt": "alpha three",
        "line\nbreak.txt": "alpha four",
        "# forged.md": "# '/../x\n\nalpha five",
        os.fsdecode(b"bad\xff.txt"): "alpha six",
    })  # fmt: skip
    assert run("freeze", "--sources", root, "--cache", "odd", "alpha").returncode == 0
    assert run("verify", "--cache", "odd").returncode == 0
    origin = provenance.read(tmp_path / "odd")
    assert len(origin.documents) == 6
    names = {one.id for one in origin.documents}
    assert {"%4eotes/%50lan.txt/lines 1-1.md", "notes/plan.txt/lines 1-1.md"} <= names
    assert {"100%25/a'b\"c%5cd.txt/lines 1-1.md", "line%0abreak.txt/lines 1-1.md", "bad%ff.txt/lines 1-1.md"} <= names


def test_the_same_path_below_two_roots_is_refused_naming_both(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"alpha {name}", encoding="utf-8")
        assert run("index", name, "--root", "one", "--root", "two").returncode == 0
    done = run("freeze", "--root", "one", "--root", "two", "--cache", "both", "alpha")
    assert done.returncode == 5
    assert b"one/a.txt" in done.stderr
    assert b"two/a.txt" in done.stderr
    assert not (tmp_path / "both").exists()
    assert run("freeze", "--root", "one", "--root", "two", "--in", "two", "--cache", "both", "alpha").returncode == 0


def test_a_source_that_changed_since_it_was_indexed_is_frozen_as_it_was_read(
    run: Run, tree: Tree, tmp_path: Path
) -> None:
    root = tree({"a.txt": "alpha before"})
    assert run("index", root, "--root", root).returncode == 0
    (root / "a.txt").write_text("alpha after, and longer", encoding="utf-8")
    assert run("freeze", "--root", root, "--cache", "was", "alpha").returncode == 0
    assert contents(tmp_path / "was") == {"a.txt/lines 1-1.md": "alpha before\n"}


def test_a_killed_freeze_leaves_nothing_half_written(run: Run, frozen: Path, folder: Path, tmp_path: Path) -> None:
    script = "from smart_context.cli import main; main()"
    asked = ("freeze", "--root", folder, "--cache", "killed", "--force", *QUESTION)
    for delay in (0.05, 0.2, 0.35, 0.5, 0.65, 0.8):
        process = subprocess.Popen(
            [sys.executable, "-c", script, *asked], cwd=tmp_path, env=clean_env(tmp_path), stderr=subprocess.DEVNULL
        )
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if (tmp_path / "killed").exists():
            assert manifest(tmp_path / "killed")["cache_version"] == manifest(frozen)["cache_version"]
            assert (tmp_path / "killed" / "freeze.json").exists()
    assert run(*asked).returncode == 0
    assert contents(tmp_path / "killed") == contents(frozen)
    assert not list(tmp_path.glob(".killed.build-*"))


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("a/b.pdf", "page 3"),
        ("x%2fy", "entry 'a/b.txt' lines 1-2"),
        ("c\\d", "section 'It''s \"q\"'"),
        ("e", "sheet 'Q/2' rows 1-4"),
    ],
)
def test_an_id_is_read_back(path: str, pointer: str) -> None:
    (name,) = ids.of_places([(path, pointer)])
    assert ids.place(name, whole_file=False) == (path, pointer.lower())


def test_tables_and_headings_are_kept() -> None:
    assert (
        markdown.passage("sheet 'Q1' rows 1-2", "", "a\tb|c\n1\t2\t3")
        == "| a | b\\|c |  |\n|---|---|---|\n| 1 | 2 | 3 |\n"
    )
    assert markdown.passage("slide 2", "Risks", "Risks\nfew") == "# Risks\n\nfew\n"
    assert markdown.whole(
        [("sheet 'A' rows 1-1", "", "a\tb"), ("sheet 'A' rows 2-2", "", "1\t2"), ("sheet 'B'", "", "c\td")]
    ) == ("## sheet 'A'\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## sheet 'B'\n\n| c | d |\n|---|---|\n")
    assert markdown.whole([("lines 1-1", "", "one\n"), ("lines 2-2", "", "two\n")]) == "one\ntwo\n"


def test_a_build_takes_other_formats_when_asked_and_markdown_as_it_is(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("build", "--sources", folder, "--cache", "plain").returncode == 0
    done = run("build", "--sources", folder, "--cache", "all", "--formats", "all")
    assert done.returncode == 0, done.stderr
    assert run("verify", "--cache", "all").returncode == 0
    plain, everything = contents(tmp_path / "plain"), contents(tmp_path / "all")
    assert plain.items() < everything.items()
    assert len(everything) == 13
    assert "| Archive scanning (Vendor X) | Legal | 29600 |" in everything["finance/budget-2026.xlsx"]
    assert run("build", "--sources", folder, "--cache", "some", "--formats", "PDF,.docx").returncode == 0
    some = contents(tmp_path / "some")
    assert some.keys() - plain.keys() == {"policies/travel-policy.pdf", "projects/vendor-x-contract.docx"}
    assert run("build", "--sources", folder, "--cache", "none", "--formats", ",").returncode == 1
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    done = run("build", "--sources", folder, "--cache", "rest", "--formats", "pdf")
    assert done.returncode == 0
    assert b"broken.pdf" in done.stderr


def test_python_freezes_and_replays_as_the_command_does(
    run: Run, frozen: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in clean_env(tmp_path).items():
        monkeypatch.setenv(name, value)
    built = smart_context.freeze(" ".join(QUESTION), tmp_path / "python", roots=[folder])
    assert built.cache_version == manifest(frozen)["cache_version"]
    assert without_time(tmp_path / "python") == without_time(frozen)
    with smart_context.open_index([folder]) as index:
        assert {one.state for one in index.replay(tmp_path / "python")} == {"unchanged"}
        assert index.freeze("laptop", tmp_path / "one", k=1, exts=[".md"]).document_count == 1


def test_a_server_freezes_only_where_it_is_configured_and_below_the_cache_root_alone(
    run: Run, frozen: Path, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "caches").mkdir()
    arguments = ("--root", str(folder), "--cache-root", str(tmp_path / "caches"))
    with Peer((*SERVE, *arguments), tmp_path) as peer:
        peer.initialize()
        assert "freezeSearch" not in {tool["name"] for tool in peer.ask("tools/list")["result"]["tools"]}
    (tmp_path / "allowed.toml").write_text("[cache]\nfreeze = true\n", encoding="utf-8")
    request = {"query": " ".join(QUESTION), "cache": "answer"}
    with Peer((*SERVE, "--config", str(tmp_path / "allowed.toml"), *arguments), tmp_path) as peer:
        peer.initialize()
        answer = json.loads(text_of(peer.call("freezeSearch", request)))
        assert answer == {
            "cache": "answer",
            "cache_version": manifest(frozen)["cache_version"],
            "document_count": 6,
            "mcp_version": "v1.0.0",
        }
        assert text_of(peer.call("context.pack", {"cache": "answer", "query": "scanning", "budget": 100}))
        faults = {}
        for name, more in {
            "taken": {},
            "outside": {"cache": "../out"},
            "hidden": {"cache": ".x"},
            "nothing": {"query": "xyzzyplugh", "cache": "n"},
        }.items():
            faults[name] = json.loads(text_of(peer.call("freezeSearch", {**request, **more})))["error"]["code"]
        assert faults == {
            "taken": "CONFLICT",
            "outside": "BAD_REQUEST",
            "hidden": "BAD_REQUEST",
            "nothing": "NOT_FOUND",
        }
    assert sorted(path.name for path in (tmp_path / "caches").iterdir()) == ["answer"]
    assert not (tmp_path / "out").exists()
    log = next(tmp_path.rglob("audit.jsonl")).read_text(encoding="utf-8")
    assert [json.loads(line)["tool"] for line in log.splitlines()].count("freezeSearch") == 5
