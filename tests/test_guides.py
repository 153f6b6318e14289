"""Every command of the README and the guides works, also the second time. Each is run here, or named below with who runs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ready
from conftest import PATIENCE, clean_env

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/guides").glob("*.md"))]

_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_TOML = re.compile(r"```toml\n(\[\[question\]\].*?)```", re.DOTALL)

# What does not end by itself, asks a server, or needs a model: run by the test that is named.
ELSEWHERE = {
    "context search -i": "cli/test_interactive.py",
    "context ui": "page/test_ui_command.py",
    "context llm check": "cli/test_llm_cli.py",
    "context llm check --send": "cli/test_llm_cli.py",
    "context semantic prepare": "find/test_hybrid.py",
    "context semantic status": "find/test_hybrid.py",
    'context search "lower the rent" --explain': "find/test_hybrid.py",
    "context serve --http --watch --root /srv/share": "server/test_http.py",
    "context serve --http --processes 4 --root /srv/share": "server/test_processes.py",
    "context engine init": "engine/test_postgres.py",
    "context index --enqueue": "index/test_shared.py",
    "context worker": "test_deploy.py",
    "context audit --all-nodes --since 2026-05-01": "engine/test_shared_audit.py",
    "context audit verify --all-nodes": "engine/test_shared_audit.py",
    "context serve --connect https://context.example.com/mcp": "server/test_relay.py",
}
# What must not work a second time, or says by its status what it found.
STATUSES = {
    "context keygen --key me.key": (1, 6),  # a key is never replaced
    "context token add": (1, 6),  # nor is a token
    "context token revoke": (1, 4, 6),  # it is gone by then
    "context doctor": (1,),  # a problem that the page shows
    "context diff": (8,),  # there are differences
    "context audit": (4, 6),  # nobody has called a tool yet
}


@pytest.fixture
def stage(tmp_path):
    """A home as the pages suppose it, with the sample folder wherever they name one."""
    home, work = tmp_path / "home", tmp_path / "home/work"
    for folder in (home / "Documents", work / "docs", work / "examples/handbook", tmp_path / "srv/share/sales"):
        shutil.copytree(ROOT / "examples/handbook", folder)
    for folder in (home / "Downloads", home / "caches", tmp_path / "tmp", tmp_path / "bin"):
        folder.mkdir()
    (home / "Downloads/pass.txt").write_text("A boarding pass to Riga.\n", encoding="utf-8")
    ready.program(tmp_path / "bin/context")
    return tmp_path


def shell(stage, script):
    """Run a script as a reader would, with places of this machine for those that the pages name."""
    env = {**clean_env(stage / "home"), "PATH": f"{stage}/bin:{os.environ['PATH']}"}
    script = script.replace("/tmp/", f"{stage}/tmp/").replace("/srv/", f"{stage}/srv/")
    return subprocess.run(
        ["bash", "-c", script],
        cwd=stage / "home/work",
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def commands(page):
    """The commands of a page, in order; those of one block that go on from each other are one."""
    found = []
    for kind, block in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if kind not in {"", "sh", "console"}:
            continue
        lines = [line.strip() for line in block.splitlines()]
        if kind == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        lines = [re.sub(r"\s+# .*", "", line) for line in lines if line and not line.startswith("#")]
        if any(line.startswith("fresh=") for line in lines):
            found.append("\n".join(lines))
        else:
            found += [line for line in lines if line.startswith(("context ", "git diff"))]
    return found


def prepared(stage, page):
    """What the reader of a page has done before."""
    begin = "context roots add ~/Documents && context index"
    if page == "docs/guides/caches-in-ci.md":
        begin = "git init -q . && context build --sources docs --cache docs.cache && touch answer.json && git add answer.json"
        begin += ' && context resolve --cache docs.cache --query "how do I deploy" --budget 4000 > answer.json'
        begin += " && git add answer.json"
    if page == "docs/guides/freeze-and-prove.md":
        questions = _TOML.search((ROOT / page).read_text(encoding="utf-8"))[1]
        (stage / "home/work/questions.toml").write_text(questions, encoding="utf-8")
        begin += " && context build --sources docs --cache monday.cache && rm docs/notes/deploy.md"
        begin += " && context build --sources docs --cache friday.cache"
    if page == "README.md":
        begin = (
            "context roots add ~/Documents"  # as a person does who answers the question of its first command with yes
        )
    if page == "docs/guides/first-index.md":
        begin = "true"
    done = shell(stage, begin)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("page", [page for page in PAGES if set(commands(page)) - set(ELSEWHERE)])
def test_each_command_works_and_works_again(stage, page):
    prepared(stage, page)
    failed = []
    for time in ("first", "second"):
        for command in commands(page):
            if command in ELSEWHERE:
                continue
            # Nobody can be asked here.
            done = shell(stage, f"{command} --yes" if command.startswith("context connect") else command)
            meant = [code for begin, codes in STATUSES.items() if command.startswith(begin) for code in codes]
            if done.returncode not in {0, *meant} or b"Traceback" in done.stderr:
                failed.append((time, command, done.returncode, done.stderr.decode()))
    assert failed == []


def test_what_runs_elsewhere_is_still_on_a_page_and_its_test_there():
    told = {command for page in PAGES for command in commands(page)}
    assert set(ELSEWHERE) - told == set()
    assert [name for name in ELSEWHERE.values() if not (ROOT / "tests" / name).exists()] == []
