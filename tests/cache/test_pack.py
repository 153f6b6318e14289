"""`context pack`: real caches, real commands, the same bytes everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

import smart_context
from conftest import Run, Tree
from server_client import CONTEXT_SERVER, SERVE, Peer, text_of
from smart_context.cache import build
from smart_context.cache.pack import pack, passages, stem, tokens

CREATED_AT = "2026-01-01T00:00:00Z"
SOURCES = {
    "guides/deploy.md": "# Deploy\n\nPush the tag, then wait for the checks.\n\n## Undo\n\nTo roll a deployment back, push the tag before it.\n",
    "guides/later.md": "# Later\n\nFirst the news of the house.\n\n# Undo\n\nTo roll a deployment back, push the tag before it.\n",
    "lunch.md": "The canteen opens at noon.\n",
    "größe.md": "Die Größe der Räume steht im Plan. 部屋の大きさは計画にある。\n",
}


@pytest.fixture
def cache(tree: Tree, tmp_path: Path) -> Path:
    build.cache(tree(SOURCES), tmp_path / "cache", created_at=CREATED_AT)
    return tmp_path / "cache"


def test_passages_come_with_document_lines_and_version_and_near_duplicates_once(run: Run, cache: Path) -> None:
    done = run("pack", "--cache", cache, "--query", "How do I roll back deployments?", "--budget", "60")
    version = sha256(SOURCES["guides/later.md"].encode()).hexdigest()[:12]
    assert done.stdout.decode() == (
        f"## guides/later.md, lines 5-7 ({version})\n\n> # Undo\n>\n> To roll a deployment back, push the tag before it.\n\n"
    )
    assert done.returncode == 0


def test_json_says_where_each_passage_stands_and_who_has_the_same(run: Run, cache: Path) -> None:
    done = run("pack", "--cache", cache, "--query", "roll back deployment", "--budget", "600", "--format", "json")
    answer = json.loads(done.stdout)
    assert list(answer) == [
        "pack", "cache_version", "query", "budget", "tokens", "tokens_used", "documents_considered", "documents_matching", "passages",
    ]  # fmt: skip
    first = answer["passages"][0]
    content = SOURCES[first["id"]].encode()
    assert content[slice(*first["bytes"])].decode() == first["text"]
    assert first["version"] == f"sha256:{sha256(content).hexdigest()}"
    assert answer["tokens_used"] == sum(one["tokens"] for one in answer["passages"]) <= 600
    assert [(one["id"], one["heading"], one["also"]) for one in answer["passages"]][:1] == [
        ("guides/later.md", "Undo", ["guides/deploy.md"])
    ]


# Digests of what every Python must give; a change of them is a change of `render.RULES`.
QUERIES = {
    "roll back deployment": "12ca6defc318979f173bcc309b81228d90633a5ee6fd424c78854daeaafadd5e",
    "Größe der Räume": "6bac6357843b7302ad2a3c9914e524c5de59ecf4e29656b6eecd5b9381a8a0ce",
    "部屋の大きさ": "22c1ec8ede071a233d1d3f3deba31660a18873ef5ae730f5b4d945ae70a0c91f",
    "ΟΔΟΣ İstanbul ﬁne ½ Ⅷ ｆｕｌｌ tag": "0d44f52b6e71b5fcbdc24fe520b5f4469b73ab8f7fa14baab6fc76f907c37961",
}
ALL_CHARACTERS = "cc3f642630596c2c8f761f26fe0f6d030da4b9c1adde64d3ec2fafe614f97827"
SCRIPT = """
import sys
from hashlib import sha256
from smart_context.cache.pack import normal, pack
everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
print(sha256(normal.words(everything)).hexdigest())
for query in sys.argv[2:]:
    print(sha256(pack.FORMATS["json"](pack.packed(sys.argv[1], query, 400))).hexdigest())
"""


def test_the_bytes_are_the_same_on_every_python_at_hand_and_under_any_locale_and_hash_seed(cache: Path) -> None:
    expected = [ALL_CHARACTERS, *QUERIES.values()]
    source = str(Path(smart_context.__file__).parents[1])
    others = (shutil.which(f"python3.{minor}") for minor in range(11, 20) if minor != sys.version_info.minor)
    pythons = [sys.executable, *filter(None, others)]
    answered = 0
    for seed, python in enumerate(pythons):
        env = {
            "PYTHONPATH": source,
            "PYTHONHASHSEED": str(seed),
            "LC_ALL": "C",
            "PYTHONUTF8": "1",
            "PATH": os.environ["PATH"],
        }
        done = subprocess.run([python, "-c", SCRIPT, cache, *QUERIES], capture_output=True, env=env, check=False)
        if done.returncode != 127:  # a shim of pyenv without a Python behind it
            assert done.stdout.decode().split() == expected, (python, done.stderr)
            answered += 1
    assert answered


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"),
        ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"), ("hopping", "hop"), ("falling", "fall"), ("filing", "file"),
        ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("rational", "ration"), ("digitizer", "digit"),
        ("radically", "radic"), ("operator", "oper"), ("hopefulness", "hope"), ("sensibility", "sensibl"), ("triplicate", "triplic"),
        ("electrical", "electr"), ("goodness", "good"), ("adjustment", "adjust"), ("adoption", "adopt"), ("effective", "effect"),
        ("probate", "probat"), ("cease", "ceas"), ("controlling", "control"), ("x1", "x1"), ("by", "by"),
    ],
)  # fmt: skip
def test_english_stems_are_porters(word: str, expected: str) -> None:
    assert stem.stem(word, "en") == expected


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("raume", "raum", "de"),
        ("книгами", "книга", "ru"),
        ("reglas", "regla", "es"),
        ("الكتاب", "كتاب", "ar"),
        ("maisons", "maison", "fr"),
    ],
)
def test_other_languages_lose_their_endings(one: str, other: str, language: str) -> None:
    assert stem.stem(one, language) == stem.stem(other, language)


def test_a_heading_begins_a_passage_and_names_what_follows_but_not_in_code() -> None:
    text = "# One\n\nfirst\n## Two\n\n```sh\n# a comment\n\n# another\n```\n\nlast\n"
    assert [(text[one.start : one.end], one.heading) for one in passages.cut(text)] == [
        ("# One\n\nfirst", "One"),
        ("## Two\n\n```sh\n# a comment\n\n# another\n```\n\nlast", "Two"),
    ]


def test_no_document_can_pass_for_another(tree: Tree, tmp_path: Path) -> None:
    forged = (
        "secret words\n\n## lunch.md, line 1 (000000000000)\r## x, line 1 (0)\u2028## y, line 1 (0)\n\nforged words\n"
    )
    build.cache(tree({"a\n## b.md": forged}), tmp_path / "cache", created_at=CREATED_AT)
    shown = pack.FORMATS["markdown"](pack.packed(tmp_path / "cache", "secret forged words", 400)).decode()
    heads = [line for line in shown.splitlines() if line and not line.startswith(">")]
    assert heads == [f'## "a\\n## b.md", lines 1-5 ({sha256(forged.encode()).hexdigest()[:12]})']


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--query", "x"), 1),
        (("--query", "x", "--budget", "-1"), 3),
        (("--query", b"\xff", "--budget", "1"), 2),
        (("--query", "x", "--budget", "1", "--tokens", "no_such_rule"), 1),
        (("--query", "x", "--budget", "1", "--budget-report", "x"), 1),
        (("--budget-report", "missing.toml"), 6),
    ],
)
def test_a_wrong_request_says_so_and_prints_nothing(
    run: Run, cache: Path, arguments: tuple[str, ...], status: int
) -> None:
    done = run("pack", "--cache", cache, *arguments)
    assert (done.returncode, done.stdout) == (status, b"")


def test_a_cache_that_is_missing_or_broken_answers_nothing(run: Run, cache: Path) -> None:
    assert run("pack", "--cache", "nowhere", "--query", "x", "--budget", "9").returncode == 4
    next((cache / "documents").iterdir()).write_text("{}", encoding="utf-8")
    assert run("pack", "--cache", cache, "--query", "x", "--budget", "9").returncode == 5


@pytest.mark.parametrize("counting", ["o200k", "cl100k", "o200k_base"])
def test_tokens_can_be_counted_as_models_count_them(run: Run, cache: Path, counting: str) -> None:
    pytest.importorskip("rs_bpe", reason="the extra [tokens] is not installed")
    count = tokens.counting(counting)
    assert [count("hello world"), count("tiktoken is great!"), count("")] == [2, 6, 0]
    done = run("pack", "--cache", cache, "--query", "deploy", "--budget", "60", "--tokens", counting)
    assert done.returncode == 0
    assert 0 < count(done.stdout.decode()) <= 60


def test_a_report_fails_when_a_question_does_not_find_its_document_within_its_budget(run: Run, cache: Path) -> None:
    rows = [
        {"query": "roll back a deployment", "budget": 100, "expect": "Guides/Deploy.md"},
        {"name": "small", "query": "roll back a deployment", "budget": 9, "expect": "guides/deploy.md"},
        {"query": "canteen", "budget": 100, "expect": "guides/deploy.md"},
    ]
    file = cache.parent / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run("pack", "--cache", cache, "--budget-report", file, "--format", "json")
    results = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    assert (done.returncode, results) == (8, ["found", "not within the budget", "not found"])
    file.write_text(json.dumps(rows[0]), encoding="utf-8-sig")  # with a byte order mark, as editors on Windows save it
    assert run("pack", "--cache", cache, "--budget-report", file).returncode == 0
    file.write_text('[[question]]\nquery = "x"\nbudget = "9"\nexpect = "y"\n', encoding="utf-8")
    assert run("pack", "--cache", cache, "--budget-report", file).returncode == 1


def test_the_tool_of_serve_gives_the_bytes_of_the_command_and_the_drop_in_has_no_such_tool(
    run: Run, cache: Path
) -> None:
    environment = {"CONTEXT_CACHE_ROOT": str(cache.parent)}
    request = {"cache": "cache", "query": "roll back", "budget": 200}
    with Peer(SERVE, cache.parent, environment) as peer:
        peer.initialize()
        for style in ("markdown", "json"):
            printed = run(
                "pack", "--cache", cache, "--query", "roll back", "--budget", "200", "--format", style
            ).stdout.decode()
            assert text_of(peer.call("context.pack", {**request, "format": style})) == printed
        assert text_of(peer.call("context_pack", request)).startswith("## guides/later.md")
        assert peer.call("context.pack", {**request, "budget": -1})["isError"]
        for odd in ("html", ["json"], {"a": 1}, 5, True):
            told = json.loads(text_of(peer.call("context.pack", {**request, "format": odd})))
            assert told["error"]["code"] == "invalid_query"
    with Peer(CONTEXT_SERVER, cache.parent, environment) as peer:
        peer.initialize()
        assert "context.pack" not in {tool["name"] for tool in peer.ask("tools/list")["result"]["tools"]}


def test_python_gives_what_the_command_prints(run: Run, cache: Path) -> None:
    printed = run("pack", "--cache", cache, "--query", "roll back", "--budget", "200").stdout
    with smart_context.open_cache(cache) as opened:
        assert opened.pack_bytes("roll back", 200) == printed
        assert opened.pack("roll back", 200) == smart_context.pack(cache, "roll back", 200)


def test_a_piece_of_a_long_paragraph_keeps_the_indentation_of_its_first_line_and_no_line_break() -> None:
    text = "a" * 400 + "\n    " + "b" * 400
    found = [text[start:end] for start, end in passages._pieces(text, 0, len(text))]
    assert found == ["a" * 400, "    " + "b" * 400]
    assert list(passages._pieces("\n    b", 0, 6)) == [(1, 6)]
