"""Search, the whole way: real files, real index, one page at a time."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from searching import Searched, indexed
from smart_context.engine.local.ranking import Ranking
from smart_context.errors import BadRequest
from smart_context.find import plan

OFFICE = {
    "finance/budget 2021.txt": "The budget for the northern office: rent, wages and travel. Forecast for the year 2021.",
    "finance/budget 2020.txt": "The budget for the southern office: rent and wages. Forecast for the year 2020.",
    "finance/rents.csv": "city,rent\nOslo,900\nBergen,800\n",
    "legal/vendor x.md": "# Vendor X\n\nThe contract with Vendor X covers deliveries of flour. Signed in 2021.\n",
    "legal/vendor y.md": "# Vendor Y\n\nThe contract with Vendor Y was cancelled. The vendor keeps the deposit.\n",
    "legal/notes.txt": "Vendor list. Far below, after many other words about other things and people, a contract is mentioned.",
    "code/users.py": "def getUserName(user_id):\n    return table[user_id].name\n",
    "code/iso.txt": "Certified under ISO-27001 since release v2.1.3; invoice INV-2021-00417.",
    "ops/report.html": "<html><head><title>Outage</title></head><body><p>The database failed at night.</p></body></html>",
}


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    folder = tmp_path_factory.mktemp("office")
    write(folder / "root", OFFICE)
    with indexed(folder / "root", folder / "data") as opened:
        yield opened


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"contract with vendor x"', {"legal/vendor x.md"}),
        ('"vendor contract"', set()),
        ('vendor "was cancelled"', {"legal/vendor y.md"}),
        ("vendor -cancelled", {"legal/vendor x.md", "legal/notes.txt"}),
        ("vendor NOT cancelled", {"legal/vendor x.md", "legal/notes.txt"}),
        ("contract AND flour", {"legal/vendor x.md"}),
        ("flour OR database", {"legal/vendor x.md", "ops/report.html"}),
        ("(flour OR database) AND night", {"ops/report.html"}),
        ("vendor NEAR/3 contract", {"legal/vendor x.md", "legal/vendor y.md"}),
        ("contract NEAR/20 vendor", {"legal/vendor x.md", "legal/vendor y.md", "legal/notes.txt"}),
        ("certif*", {"code/iso.txt"}),
        ("deliver* AND contract", {"legal/vendor x.md"}),
        ("getUserName", {"code/users.py"}),
        ("27001", {"code/iso.txt"}),
        ("ISO27001", {"code/iso.txt"}),
        ("v2.1.3", {"code/iso.txt"}),
        ("INV-2021-00417", {"code/iso.txt"}),
        ("outage", {"ops/report.html"}),  # its title
        ("northern", {"finance/budget 2021.txt"}),
        ("nowhere-to-be-found xyzzyx", set()),
    ],
)
def test_a_query_finds_the_files_that_match(office, query, expected):
    assert set(office.names(query)) == expected


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("user name", "code/users.py"),
        ("budgets of northern offices", "finance/budget 2021.txt"),
        ("what does the contract with vendor Y say about the deposit", "legal/vendor y.md"),
        ("why did the databases fail in the middle of the night last winter", "ops/report.html"),
        ("budget from 2020", "finance/budget 2020.txt"),
        ("vendor x 2021", "legal/vendor x.md"),
        ("the", "ops/report.html"),  # stop words find where there is nothing else
    ],
)
def test_what_answers_best_comes_first(office, query, first):
    assert office.names(query)[:1] == [first]


@pytest.mark.parametrize(
    ("query", "more", "expected"),
    [
        ("budget 2021", {}, {"finance/budget 2021.txt"}),
        ("budget 2020-2021", {}, {"finance/budget 2020.txt", "finance/budget 2021.txt"}),
        ("rent in csv", {}, {"finance/rents.csv"}),
        ("rent spreadsheets", {}, {"finance/rents.csv"}),
        ("markdown", {}, {"legal/vendor x.md", "legal/vendor y.md"}),  # filters alone list what they leave
        ("html files", {}, {"ops/report.html"}),
        ("rent", {"exts": (".CSV",)}, {"finance/rents.csv"}),
        ("rent", {"exts": ("csv", ".md")}, {"finance/rents.csv"}),
        ("rent", {"years": ("2020",)}, {"finance/budget 2020.txt"}),
        (
            "rent in csv",
            {"exts": (".txt",)},
            {"finance/budget 2020.txt", "finance/budget 2021.txt"},
        ),  # what is given binds
        ("rent 2020", {"years": ("2021",)}, {"finance/budget 2021.txt"}),
        (
            "budget pptx",
            {},
            {"finance/budget 2020.txt", "finance/budget 2021.txt"},
        ),  # there are none: the words stay words
        ("rent in docx from 1999", {}, {"finance/budget 2020.txt", "finance/budget 2021.txt", "finance/rents.csv"}),
    ],
)
def test_types_and_years_in_the_text_narrow_and_never_widen(office, query, more, expected):
    assert set(office.names(query, **more)) == expected


def test_a_search_stays_below_its_folders(office):
    below = str(office.root / "legal")
    assert set(office.names("vendor OR budget", folders=(below,))) == {
        "legal/vendor x.md",
        "legal/vendor y.md",
        "legal/notes.txt",
    }
    assert office.names("budget", folders=(below + "/vendor x.md", str(office.root / "leg"))) == []


def test_files_that_must_not_show_are_left_out(office):
    assert office.names("flour", never_show=("legal/",)) == []
    assert office.names("vendor", never_show=("vendor y*",)) == ["legal/vendor x.md", "legal/notes.txt"]


def test_a_typing_error_finds_what_was_meant_and_says_so(office):
    page = office.page("databse faild")
    assert [Path(item.path).name for item in page.items] == ["report.html"]
    assert page.notes == (
        "nothing has 'databse'; looked for 'database' instead",
        "nothing has 'faild'; looked for 'failed' instead",
    )
    assert office.names("INV-2021-00418") != []  # a number is never taken for another: only its parts are found
    assert office.page("00418").items == ()


def test_a_result_says_what_the_specification_wants(office):
    os.utime(office.root / "ops" / "report.html", (1730815391, 1730815391))
    office.update()
    page = office.page("database at night")
    item = page.items[0]
    assert (item.path, item.ext, item.modified) == (
        str(office.root / "ops" / "report.html"),
        ".html",
        "2024-11-05T14:03:11Z",
    )
    assert item.snippet == "Outage The database failed at night."
    assert 0 < item.score <= 1
    assert page.total_estimate == 1
    assert any(line.startswith("words: database, night") for line in page.interpretation)
    assert any(line.startswith("database × 1") for line in item.explanation)


@pytest.mark.parametrize(
    ("query", "more"),
    [
        ("", {}),
        ("  \n", {}),
        ("a", {"k": 0}),
        ("a", {"k": 101}),
        ("a", {"offset": -1}),
        ("a", {"years": ("now",)}),
        ("a", {"exts": ("",)}),
    ],
)
def test_bad_requests_are_refused(office, query, more):
    with pytest.raises(BadRequest) as caught:
        office.page(query, **more)
    assert caught.value.hint


@pytest.mark.parametrize(
    "query", ["(" * 10_000, "word " * 10_000, '"' * 9_999, "a* " * 500, "-" * 5000, "\x00\ud800", "NEAR/5 " * 3000]
)
def test_hostile_queries_are_answered(office, query):
    office.page(query)


def test_a_query_without_a_word_finds_nothing_unless_a_filter_says_what_to_list(office):
    assert office.names("?! …") == []
    assert office.names("*", exts=(".html",)) == ["ops/report.html"]
    assert office.names("*", years=("2020",)) == ["finance/budget 2020.txt"]


@pytest.mark.parametrize(("between", "expected"), [(0, {0}), (1, {0, 1}), (3, {0, 1, 2, 3})])
def test_near_allows_so_many_words_between(tmp_path, between, expected):
    texts = {f"{n}.txt": f"start {'word ' * n}goal" for n in range(6)}
    write(tmp_path / "root", texts)
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        names = {f"{n}.txt" for n in expected}
        assert set(searched.names(f"start NEAR/{between} goal")) == names
        assert set(searched.names(f"goal NEAR/{between} start")) == names


def test_a_phrase_is_found_wherever_a_file_is_cut_into_segments(tmp_path):
    lines = [f"first{n} {'some words between them ' * (n % 5)}last{n}" for n in range(200)]
    write(tmp_path / "root", {"long.txt": "\n".join(lines)})
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        assert searched.index.ranking.view().segments > 5
        for n in range(199):
            assert searched.names(f'"last{n} first{n + 1}"') == ["long.txt"]
        assert searched.names('"last7 first9"') == []


def test_exclusions_alone_find_all_that_is_left(office):
    assert set(office.names("-the -vendor", 50)) == {"finance/rents.csv", "code/users.py", "code/iso.txt"}


def test_a_beginning_finds_every_word_that_begins_so_however_many_those_are(tmp_path):
    few = {f"{n:02}.txt": f"ba{n:02} " + "other words " * n for n in range(60)}
    write(tmp_path / "root", few | {"much.txt": "ba01 ba02 ba03", "none.txt": "nothing of the kind"})
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        assert set(searched.names("ba*", 100)) == {*few, "much.txt"}
        assert searched.names("ba*")[0] == "much.txt"
        assert searched.names("-ba*") == ["none.txt"]
        assert searched.names("ba* AND kind") == []


def test_in_a_sentence_on_a_large_index_what_most_texts_have_counts_but_does_not_find(tmp_path, monkeypatch):
    texts = {f"{n}.txt": f"the report on {word}" for n, word in enumerate(["budget", "travel", "roofs", "boats"])}
    write(tmp_path / "root", texts | {"plain.txt": "a report", "best.txt": "reports and budget for travel and roofs"})
    sentence = "which report tells me about travel budget and new roofs"
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        small = [(item.path, item.score) for item in searched.page(sentence).items]
        monkeypatch.setattr(plan, "_LARGE", 5)
        monkeypatch.setattr(plan, "_COMMON", 3)  # so that few texts are enough
        large = [(item.path, item.score) for item in searched.page(sentence).items]
        left_out = {str(searched.root / name) for name in ("3.txt", "plain.txt")}
        assert large == [(path, score) for path, score in small if path not in left_out]
        assert len(small) == len(large) + 2
        assert set(searched.names("which report tells me about any of all these things")) == set(texts) | {
            "plain.txt",
            "best.txt",
        }


def test_an_index_of_nothing_finds_nothing(tmp_path):
    (tmp_path / "root").mkdir()
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        for query in ("rent", "pdf files", "-rent", '"a b"', "ren*"):
            page = searched.page(query)
            assert (page.items, page.total_estimate) == ((), 0)


# One order, however the index came to be


def passages(seed: int, count: int) -> dict[str, str]:
    rnd = random.Random(seed)
    words = [f"{a}{b}" for a in "bdfglmprst" for b in ("ar", "en", "il", "on", "um")]
    texts = {}
    for n in range(count):
        lines = [" ".join(rnd.choices(words, k=rnd.randint(3, 60))) for _ in range(rnd.choice([1, 1, 1, 1, 90]))]
        texts[f"{n % 7}/{n:03}.txt"] = "\n".join(lines)
    return texts


QUERIES = [
    "baren",
    "baren denil",
    "garum",
    "bar",
    "denon garil lumar tilon",
    "bar den gil",
    "rar OR ril",
    "bar AND den",
    "ba*",
    '"ren son"',
]


def everything(searched: Searched, query: str, k: int) -> list[tuple[str, str, float, str]]:
    out, offset = [], 0
    while page := searched.page(query, k, offset).items:
        out += [(str(Path(i.path).relative_to(searched.root)), i.pointer, i.score, i.snippet) for i in page]
        offset += k
    return out


def test_pages_neither_repeat_nor_lose_a_result_and_count_what_there_is(tmp_path):
    write(tmp_path / "root", passages(1, 60))
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        for query in QUERIES:
            whole = everything(searched, query, 100)
            assert everything(searched, query, 17) == whole
            assert len({(path, pointer) for path, pointer, _, _ in whole}) == len(whole)
            assert [(-score, path, pointer) for path, pointer, score, _ in whole] == sorted(
                (-score, path, pointer) for path, pointer, score, _ in whole
            )
            files = [path for path, _, _, _ in whole]
            assert all(files.count(path) <= 3 for path in files)
            assert searched.page(query, 5).total_estimate == len(whole)


@pytest.mark.unmeasured
def test_the_order_of_indexing_updates_and_deletions_make_no_difference(tmp_path):
    texts = passages(2, 60)
    other = passages(3, 60)
    write(tmp_path / "root", texts)
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        plain = {query: everything(searched, query, 100) for query in QUERIES}
    shutil.rmtree(tmp_path / "root")

    rnd = random.Random(4)
    with indexed_after_changes(tmp_path, texts, other, rnd) as searched:
        assert {query: everything(searched, query, 100) for query in QUERIES} == plain


def indexed_after_changes(tmp_path, texts, other, rnd):
    """Index the same folder in another order, in pieces, after many files came, changed and went."""
    root = tmp_path / "root"
    names = sorted(texts)
    rnd.shuffle(names)
    (root / "0").mkdir(parents=True)
    opened = indexed(root, tmp_path / "data2")
    searched = opened.__enter__()
    clock = 1_600_000_000
    for step in range(0, len(names), 12):
        for name in rnd.sample(sorted(other), 30):
            write(root, {name: other[name] + " changed" * rnd.randint(0, 9)})
        write(root, {f"gone/{step}.txt": "baren denil " * 50})
        for name in names[step : step + 12]:
            write(root, {name: texts[name]})
        for path in sorted(root.rglob("*.txt")):
            clock += 1
            os.utime(path, (clock, clock))
        searched.update()
    shutil.rmtree(root / "gone")
    write(root, texts)
    for path in sorted(root.rglob("*.txt")):
        clock += 1
        os.utime(path, (clock, clock))
    searched.update()

    class Context:
        def __enter__(self):
            return searched

        def __exit__(self, *error):
            opened.__exit__(*error)

    return Context()


def test_merging_makes_no_difference(tmp_path):
    write(tmp_path / "root", passages(5, 40))
    with indexed(tmp_path / "root", tmp_path / "data") as searched:
        before = {query: everything(searched, query, 100) for query in QUERIES}
        ranking: Ranking = searched.index.ranking
        ranking.merge()
        ranking.reload()
        assert {query: everything(searched, query, 100) for query in QUERIES} == before


@pytest.mark.parametrize("phrase", ["砂糖水", "秋に砂糖", "养蜂人在秋天", "冬を越せる"])
def test_a_phrase_of_a_script_without_spaces_is_found_where_it_stands(tree, tmp_path, phrase):
    root = tree(
        {
            "ja.txt": "養蜂家は秋に砂糖水を与えて群れが冬を越せるようにする。\n",
            "zh.txt": "养蜂人在秋天喂糖水。\n",
            "other.txt": "水と糖と砂",
        }
    )
    with indexed(root, tmp_path / "data") as found:
        assert found.names(f'"{phrase}"') == ["zh.txt" if phrase.startswith("养") else "ja.txt"]
        assert found.names(f'"{phrase[::-1]}"') == []
