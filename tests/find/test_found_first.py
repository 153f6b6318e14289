"""What a person expects first: the word as typed, the whole identifier, the file of that name, the sentence itself."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from searching import indexed
from smart_context.find import beginning, plan

PROSE = "The committee met again and talked about the weather, the harvest and the price of grain."
FILES = {
    "notes/hidden.txt": f"The switch is called zqhidden13 here. {PROSE}",
    "notes/open.txt": f"The switch is called zqopen13 here, zqopen13 and 13 again. {PROSE}",
    "notes/opener.txt": f"They bought a zqopener in spring. {PROSE}",
    "notes/openal.txt": f"The zqopenal was a good zqopenal and the zqopenal stayed. {PROSE}",
    "notes/plain.txt": f"One zqlift was seen. {PROSE}",
    "notes/lifting.txt": f"The zqlifting of a zqlifting by zqlifting. {PROSE}",
    "paths/join.md": f"# Joining\n\nUse os.path.join to put parts together. {PROSE}",
    "paths/os.md": f"# The path\n\nThe os has a path, and to join the path of the os is to join a path. path join os join path. {PROSE}",
    "paths/camel.md": f"Call getUserName first. {PROSE}",
    "paths/words.md": f"To get the name of a user, name the user and get it. user name user name. {PROSE}",
    "manual/explains.txt": f"Paths\n\nzq.path.joint(path, *paths)\nPut parts of a path together. {PROSE} {PROSE}\n\nzq_most_links (integer)\nHow many there may be. {PROSE}",
    "manual/uses.txt": "Call zq.path.joint() and zq.path.joint(a): zq.path.joint, zq_most_links and zq_most_links, zq.path.joint.\n" * 4,
    "manual/uses.py": "x = zq.path.joint(a, b)\ny = zq.path.joint(zq_most_links)\n" * 4,
    "git/push.txt": f"git push --force-with-lease refuses to overwrite. {PROSE}",
    "git/option.txt": f"With --user only yours are shown. {PROSE}",
    "git/user.txt": f"A user is a user: the user of a user. {PROSE}",
    "git/lease.txt": f"A lease with force: the lease was signed with force, by force of the lease. {PROSE}",
    "money/invoice.txt": f"The amount due is 1,249.50 euros. {PROSE}",
    "money/other.txt": f"The amount due is 1,249.00 euros and 50 cents for 1249 things, 50 in all. {PROSE}",
    "src/base_events.py": '"""The loop."""\n\nclass Loop:\n    pass\n',
    "src/argparse.py": '"""Command lines."""\n\nclass Parser:\n    pass\n',
    "src/usage.py": "import argparse\nimport base_events\n# argparse.py and base_events.py: see argparse, base_events\n" * 4,
    "docs/argparse.md": f"argparse reads arguments; argparse.py is in the library. {PROSE}",
    "docs/layouts.md": f"What a page may look like. {PROSE}",
    "docs/more.md": "All layouts: layouts.md lists the layouts, see layouts.md for layouts of layouts.\n" * 4,
    "docs/multi page.txt": f"Several of them. {PROSE}",
    "docs/pages.txt": "A multi page file has multi pages. A page, multi page.\n" * 4,
    "src/base.py": "base = 1  # the base of a base, base by base\n" * 3,
    "src/sub/_base.py": f"# Something else. {PROSE}\nbase = 1\n",
    "man/zq_rollback.3.gz": gzip.compress(f"ZQ undoes what was done. {PROSE}".encode(), mtime=0),
    "docs/zq.md": f"zq_rollback, zq_rollback and zq_rollback: see zq_rollback. {PROSE}",
    "tests/d.input": "( x y )\n",
    "names/long-name-of-many-words.svg.gz": gzip.compress(b"<svg><text>Nothing of it.</text></svg>", mtime=0),
    "names/list.txt": "names/long-name-of-many-words.svg and a long name of many words.svg, names of long words\n" * 3,
    "docs/inputs.md": f"The tests read input: tests of input, input of tests, d for the input of tests. {PROSE}",
    "money/thousands.txt": f"There are 250,000 of them. {PROSE}",
    "money/plain.txt": f"250 and 250000 and 250000, 250 of 250000. {PROSE}",
    "money/few.txt": f"250 came, 250 went, 250 stayed. 250! {PROSE}",
    "money/rates.csv": "zqday,low,high,mean\n1,0.38774098,45.25,0.41\n2,0.40112376,45.75,0.43\n",
    "money/place.txt": f"zqlat 47,376886912 {PROSE}",
    "money/rate.txt": f"It was 0.38774099 at noon, 45 at night, 0 at 38774098 Main Street, 25 for 45. {PROSE}",
    "stop/often.txt": f"zqvideo zqvideo, zqvideo. Zqvideo! zqvideo. {PROSE}",
    "stop/both.txt": f"Other players show a zqvideo. {PROSE}",
    "src/joined.py": "USER_ZQBASE = 1\n",
    "src/apart.py": "userzqbase = userzqbase + userzqbase  # userzqbase\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("first")
    for name, text in FILES.items():
        file = base / "root" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with indexed(base / "root", base / "data") as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("zqhidden13", "notes/hidden.txt"),
        ("zqopen13", "notes/open.txt"),
        ("ZQ-Hidden-13", "notes/hidden.txt"),
        ("os.path.join", "paths/join.md"),
        ("os_path_join", "paths/join.md"),
        ("osPathJoin", "paths/join.md"),
        ("getUserName", "paths/camel.md"),
        ("get_user_name", "paths/camel.md"),
        ("--force-with-lease", "git/push.txt"),
        ("git push --force-with-lease", "git/push.txt"),
        ("--user", "git/option.txt"),
        ("1249.50", "money/invoice.txt"),
        ("1.249,50", "money/invoice.txt"),
        ("0.38774098", "money/rates.csv"),
        ("0,38774098", "money/rates.csv"),
        ("0,38774099", "money/rate.txt"),
        ("0.3877409901", "money/rates.csv"),  # its first digits
        ("0.38774098%", "money/rates.csv"),
        ("0.38774099%", "money/rate.txt"),
        ("mean 0.38774099", "money/rate.txt"),
        ("0.38774098 noon", "money/rates.csv"),
        ("0.38774098 OR zqnothing", "money/rates.csv"),
        ("0.4011*", "money/rates.csv"),
        ('"0.40112376"', "money/rates.csv"),
        ("It was 0.38774099 at noon, 45 at night", "money/rate.txt"),
        ("38774098", "money/rate.txt"),
        ("zqlat 47.37688", "money/place.txt"),
        ("47,376886912", "money/place.txt"),
        ("45.25", "money/rates.csv"),
        ("45.75,0.43", "money/rates.csv"),
        ("250,000", "money/thousands.txt"),
        ("250000", "money/plain.txt"),
        ("USER_ZQBASE", "src/joined.py"),
        ("userzqbase", "src/apart.py"),
    ],
)
def test_a_whole_identifier_outweighs_its_parts(folder, query, first):
    assert folder.names(query)[:1] == [first]


@pytest.mark.parametrize(("as_words", "first"), [(2, "word"), (1, "option")])
def test_an_option_is_what_a_name_without_dashes_means_unless_most_texts_have_it_as_a_word(tmp_path, as_words, first):
    root = tmp_path / "root"
    root.mkdir()
    (root / "option.txt").write_text(f"zq --zq-readable, --zq-readable, --zq-readable. {PROSE}", encoding="utf-8")
    for number in range(as_words):
        text = f"Note {number}: the zq-readable form. {PROSE} {PROSE} {PROSE}"
        (root / f"word{number}.txt").write_text(text, encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert opened.names("zq-readable")[0].startswith(first)


def test_of_two_or_three_words_those_count_too_that_are_left_out_of_longer_queries(folder):
    assert folder.names("zqvideo")[0] == "stop/often.txt"
    page = folder.page("zqvideo other")
    assert folder.names("zqvideo other") == ["stop/both.txt", "stop/often.txt"]
    assert page.interpretation == ("words: zqvideo, other",)
    [item, *_] = page.items
    assert [item.snippet[start:end] for start, end in item.highlights] == ["zqvideo"]
    assert "left out: other, of" in folder.page("zqvideo other committee of harvest").interpretation


@pytest.mark.parametrize(
    ("query", "is_name"),
    [
        ("zq_events.py", True),
        ("zq_events", True),
        ("ZQ_Events", True),
        ("lib/zq_events.py", True),
        ("zq.events", False),  # another name, that of something in it perhaps
        ("zq_events zqloop", False),  # another word stands elsewhere
        ("zqloop", False),
        ("zq events", False),  # words as well as a name
    ],
)
def test_who_types_the_name_of_a_file_gets_its_beginning(tmp_path, query, is_name):
    file = tmp_path / "root" / "lib" / "zq_events.py"
    file.parent.mkdir(parents=True)
    loop = "\n\ndef later():\n    # zq_events: zqloop of zq_events, see zq_events.py\n" + "    pass\n" * 300
    file.write_text('"""What happens, and when."""\n' + "\nimport sys\n" * 200 + loop * 3, encoding="utf-8")
    (file.parent / "uses.txt").write_text("zq_events.py and zq_events: zqloop.\n", encoding="utf-8")
    with indexed(tmp_path / "root", tmp_path / "data") as opened:
        page = opened.page(query)
        ours = [item for item in page.items if item.path == str(file)]
        assert (ours[0].pointer.startswith("lines 1-"), "What happens" in ours[0].snippet) == (is_name, is_name)
        assert len({item.pointer for item in ours}) == len(ours) == 3
        scores = [item.score for item in page.items]
        assert scores == sorted(scores, reverse=True)
        told = ("the beginning of a file of the name that was typed",)
        assert (ours[0].why() == told, any(item.why() == told for item in ours[1:])) == (is_name, False)
        one_by_one = [opened.page(query, 1, offset).items[0] for offset in range(len(page.items))]
        assert [(item.path, item.pointer) for item in one_by_one] == [(item.path, item.pointer) for item in page.items]


def test_of_files_that_share_a_name_the_first_results_show_their_beginnings(tmp_path, monkeypatch):
    monkeypatch.setattr(beginning, "_FILES", 1)
    for folder in ("a", "b"):
        file = tmp_path / "root" / folder / "zq_events.py"
        file.parent.mkdir(parents=True)
        says = "\n\ndef later():\n    # zq_events: see zq_events.py\n" + f"    {folder} = 1\n" * 300
        file.write_text(
            '"""What happens, and when: it is told here."""\n' + f"\nimport {folder}{folder}\n" * 200 + says,
            encoding="utf-8",
        )
    with indexed(tmp_path / "root", tmp_path / "data") as opened:
        items = opened.page("zq_events.py").items
        firsts = {item.path: "What happens" in item.snippet for item in reversed(items)}
        assert sorted(firsts.values()) == [False, True]
        one_by_one = [opened.page("zq_events.py", 1, offset).items[0] for offset in range(len(items))]
        assert [(item.path, item.pointer) for item in one_by_one] == [(item.path, item.pointer) for item in items]


def test_what_is_written_with_signs_that_the_index_does_not_keep_is_found_where_it_is_written_so(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "letters.txt").write_text("c, c and c: the c of c, C.", encoding="utf-8")
    (root / "_c.txt").write_text("Another letter.", encoding="utf-8")  # no file of the name that is typed
    (root / "plus.txt").write_text(f"Written in C++ by hand. {PROSE}", encoding="utf-8")
    (root / "sharp.txt").write_text(f"Written in C# by hand. {PROSE}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert [opened.names(query)[0] for query in ("C++", "C#", "c")] == ["plus.txt", "sharp.txt", "_c.txt"]


@pytest.mark.parametrize("name", [".NET", "$HOME", "@scope/pkg", "#define", "#4711", "%autoreload", r"\frac"])
def test_what_begins_with_a_sign_is_found_where_it_is_written_so(tmp_path, name):
    root = tmp_path / "root"
    root.mkdir()
    bare = re.sub(r"^\W", "", name)
    (root / "bare.txt").write_text(f"{bare}, {bare} and {bare}: the {bare} of {bare}.", encoding="utf-8")
    (root / "joined.txt").write_text(f"An odd{name} and {bare}.", encoding="utf-8")
    (root / "signed.txt").write_text(f"It has {name} in it. {PROSE}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert [opened.names(query)[0] for query in (name, bare)] == ["signed.txt", "bare.txt"]


def test_the_digits_of_a_number_that_no_text_has_do_not_outweigh_words(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "reading.txt").write_text(f"A call that blocks while it is reading. {PROSE}", encoding="utf-8")
    (root / "table.txt").write_text("2 reading rooms, 1 door, 1 table, 5 chairs", encoding="utf-8")
    for number in range(30):
        (root / f"other{number}.txt").write_text(f"Room {number} is another one. {PROSE}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert opened.names("2.1.1.5 blocking read")[0] == "reading.txt"
        assert opened.names("2.1.1.5")[0] == "table.txt"  # of nothing else that was typed


def test_a_version_is_found_with_a_v_before_it_and_without(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "v.txt").write_text(f"The draft is v2.3.1 now. {PROSE}", encoding="utf-8")
    (root / "bare.txt").write_text(f"It needs 4.10.2 at least. {PROSE}", encoding="utf-8")
    (root / "numbers.txt").write_text("2 eggs, 3 cups, 1 spoon. 4 plates, 10 forks, 2 knives.", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        for typed, found in (("2.3.1", "v.txt"), ("v2.3.1", "v.txt"), ("v4.10.2", "bare.txt"), ("4.10.2", "bare.txt")):
            assert opened.names(typed)[:1] == [found]
        assert opened.names("2.3.1") == ["v.txt"]  # its numbers are not the whole of it


def test_what_is_excluded_and_a_price_are_no_names_of_files(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "zqfoo-bar.txt").write_text(f"Another file. {PROSE}", encoding="utf-8")
    (root / "says.txt").write_text(f"Zqfoo, and zqfoo again. {PROSE}", encoding="utf-8")
    (root / "2.0.txt").write_text(f"What is new. {PROSE}", encoding="utf-8")
    (root / "price.txt").write_text(f"It costs € 20 a piece. {PROSE}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        page = opened.page("zqfoo -bar")
        assert [Path(item.path).name for item in page.items] == ["says.txt"]
        assert page.items[0].score == opened.page("zqfoo").items[0].score
        assert opened.names("€ 20") == ["price.txt"]
        assert opened.names("2.0")[:1] == ["2.0.txt"]


def test_the_beginning_of_a_file_is_more_than_its_title(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    says = "<p>zq-walrus, zq-walrus and zq-walrus again.</p>"
    page = f"<title>Walruses</title><body><div>Menu</div><h1>Walruses</h1><p>{PROSE}</p><h2>Names</h2>{says * 3}"
    (root / "zq-walrus.html").write_text(page, encoding="utf-8")
    (root / "zq-short.html").write_text(
        "<title>Short</title><body><p>Menu</p><h1>Short</h1><p>zq-short.</p>", encoding="utf-8"
    )
    with indexed(root, tmp_path / "data") as opened:
        assert PROSE[:30] in opened.page("zq-walrus.html").items[0].snippet
        assert "Short" in opened.page("zq-short.html").items[0].snippet


def test_in_a_large_index_what_has_all_of_a_few_words_comes_before_what_repeats_some(tmp_path, monkeypatch):
    root = tmp_path / "root"
    root.mkdir()
    (root / "repeats.txt").write_text(f"{PROSE} Zqglobals zqcollector, zqcollector. {PROSE * 3}", encoding="utf-8")
    (root / "has.txt").write_text(
        f"Some zqglobals. {PROSE * 2} A zqcollector. {PROSE * 3} It is zqrobust. {PROSE}", encoding="utf-8"
    )
    for number in range(30):
        (root / f"other{number}.txt").write_text(f"{PROSE} {number}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert opened.names("zqglobals zqcollector zqrobust")[0] == "repeats.txt"
        monkeypatch.setattr(plan, "_LARGE", 5)
        assert opened.names("zqglobals zqcollector zqrobust")[0] == "has.txt"


@pytest.mark.parametrize("query", ["zq.path.joint", "path.joint", "joint", "zq_most_links", "ZQ_MOST_LINKS"])
def test_what_explains_an_identifier_outweighs_what_uses_it(folder, query):
    assert folder.names(query)[:1] == ["manual/explains.txt"]


@pytest.mark.parametrize(
    ("query", "found"), [("zqhidden", "notes/hidden.txt"), ("lease", "git/push.txt"), ("join", "paths/join.md")]
)
def test_the_parts_of_an_identifier_still_find_it(folder, query, found):
    assert found in folder.names(query)


@pytest.mark.parametrize(
    ("query", "first"),
    [("zqopener", "notes/opener.txt"), ("zqopenal", "notes/openal.txt"), ("zqlift", "notes/plain.txt"), ("zqlifting", "notes/lifting.txt")],
)  # fmt: skip
def test_a_word_as_typed_outweighs_its_other_forms(folder, query, first):
    names = folder.names(query)
    assert names[:1] == [first]
    assert len(names) > 1  # the other forms are found, too


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("base_events.py", "src/base_events.py"),
        ("base_events", "src/base_events.py"),
        ("Base-Events.py", "src/base_events.py"),
        ("argparse.py", "src/argparse.py"),
        ("src/argparse", "src/argparse.py"),
        ("docs/argparse", "docs/argparse.md"),
        ("layouts.md", "docs/layouts.md"),
        ("layouts", "docs/layouts.md"),
        ("multi page.txt", "docs/multi page.txt"),
        ("multi_page", "docs/multi page.txt"),
        ("_base", "src/sub/_base.py"),
        ("base", "src/base.py"),
        ("zq_rollback", "man/zq_rollback.3.gz"),
        ("zq_rollback.3", "man/zq_rollback.3.gz"),
        ("zq_rollback.3.gz", "man/zq_rollback.3.gz"),
        ("tests/d.input", "tests/d.input"),
        ("names/long-name-of-many-words.svg", "names/long-name-of-many-words.svg.gz"),
    ],
)
def test_a_name_typed_as_a_name_puts_that_file_first(folder, query, first):
    assert folder.names(query)[:1] == [first]


def test_a_number_that_reads_as_thousands_is_not_found_as_a_fraction(folder):
    assert folder.names("250,000")[:2] == ["money/thousands.txt", "money/plain.txt"]


def test_of_names_that_differ_in_their_case_the_one_that_was_typed_comes_first(tmp_path):
    for name, text in (
        ("a/Zqreport.txt", "Short, but not without any words at all."),
        ("b/zqreport.txt", f"Long. {PROSE}"),
    ):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    with indexed(tmp_path / "files", tmp_path / "data") as twins:
        typed = ("zqreport.txt", "Zqreport.txt", "Zqreport", "zqreport", "ZQREPORT.TXT")  # the last two mean no case
        assert [twins.names(query)[0][0] for query in typed] == ["b", "a", "a", "a", "a"]


def test_a_name_does_not_drown_what_the_texts_say(folder):
    assert folder.names("what does argparse read and where is it in the library")[0] == "docs/argparse.md"


def test_a_sentence_is_found_among_many_texts_with_its_words(tmp_path):
    words = ["copper", "kettle", "whistled", "across", "the", "frozen", "harbour", "while", "gulls", "argued"]
    root = tmp_path / "root"
    root.mkdir()
    for number in range(120):
        apart = [f"{word} beside something else number{number}" for word in words[::3] + words[1::3] + words[2::3]]
        text = "\n\n".join(" ".join(apart) for _ in range(2))
        (root / f"many{number:03}.txt").write_text(text, encoding="utf-8")
    (root / "one.txt").write_text(f"{PROSE} {PROSE}\nThe {' '.join(words)}. {PROSE}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        assert "one.txt" in searched.names(" ".join(words), 5)


@pytest.mark.unmeasured
def test_a_sentence_that_stands_somewhere_is_first_whatever_says_its_words_more_often(tmp_path):
    sentence = "There are currently no locking rules as of now"
    root = tmp_path / "root"
    root.mkdir()
    for number in range(600):
        own = " ".join(f"thing{number}of{place}" for place in range(30))  # copies would be folded
        text = f"Locking rules: rules of locking, currently. {own} Locking!"
        (root / f"many{number:03}.txt").write_text(text, encoding="utf-8")
    (root / "one.txt").write_text(f"{PROSE} {PROSE} {sentence}. {PROSE} {PROSE}", encoding="utf-8")
    (root / "other.txt").write_text(f"{PROSE} The locking rules are currently these. {PROSE}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        first = searched.page(sentence).items[0]
        assert Path(first.path).name == "one.txt"
        assert "word after word: 0.70 of the rest" in first.explanation
        every = [item.path for offset in range(0, 620, 100) for item in searched.page(sentence, 100, offset).items]
        assert len(every) == len(set(every)) == 602


def test_a_sentence_in_a_script_without_spaces_is_first(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    for number in range(30):
        (root / f"{number}.txt").write_text("安全的密码，密码的安全。必须让密码安全，为了你。" * 3, encoding="utf-8")
    (root / "one.txt").write_text(
        "其他的事情很多。为了密码的安全，你必须让系统检查它。其他的事情很多。", encoding="utf-8"
    )
    with indexed(root, tmp_path / "data") as searched:
        assert searched.names("为了密码的安全，你必须让")[0] == "one.txt"


@pytest.fixture(scope="module")
def japanese(tmp_path_factory):
    base = tmp_path_factory.mktemp("japanese")
    root = base / "root"
    root.mkdir()
    (root / "salmon.txt").write_text("鮭は川で生まれ、海で育つ。小魚を食べる。", encoding="utf-8")
    (root / "remora.txt").write_text("䲟是一种鱼。", encoding="utf-8")
    (root / "grammar.txt").write_text("川は長く、山に雪がある。町には人がいる。", encoding="utf-8")
    for number in range(8):
        (root / f"{number}.txt").write_text(f"{number}番目の話に", encoding="utf-8")
    with indexed(root, base / "data") as searched:
        yield searched


def test_a_pair_of_characters_that_stands_nowhere_is_found_without_its_particle(japanese):
    assert japanese.names("鮭に") == ["salmon.txt"]  # and not what ends with に
    assert japanese.page("餌に").items == ()
    assert japanese.names("䲟又") == ["remora.txt"]  # a character that hardly anything has


def test_in_japanese_a_pair_across_the_end_of_a_word_counts_half(japanese):
    lines = japanese.page("小魚は川").items[0].explanation
    worth = {name: float(share) for line in lines for name, _, share in [line.partition(" × 1: ")] if share}
    assert worth["小魚"] == pytest.approx(2 * worth["は川"], abs=1e-3)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        (
            "way of doing each of these things, and a way of",
            "said.txt",
        ),  # two words tell something, ten make a sentence
        ("a way of doing these things", "often.txt"),  # six may be a question
    ],
)
def test_a_long_sentence_that_stands_somewhere_is_first_though_most_of_it_are_stop_words(tmp_path, typed, first):
    root = tmp_path / "root"
    root.mkdir()
    (root / "often.txt").write_text(f"A way, a way: things and the way of things. {PROSE}")
    (root / "said.txt").write_text(
        f"There is a way of doing each of these things, and a way of doing them both. {PROSE} {PROSE}"
    )
    for number in range(6):
        (root / f"{number}.txt").write_text(f"Number {number}. {PROSE}")
    with indexed(root, tmp_path / "data") as searched:
        assert searched.names(typed)[0] == first


def test_a_typo_that_stands_somewhere_is_corrected_and_said_where_the_right_word_is_far_commoner(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    for number in range(60):
        (root / f"{number:02}.txt").write_text(f"The calendar of office {number}. {PROSE}", encoding="utf-8")
    (root / "typo.txt").write_text(f"The calender was wrong. {PROSE}", encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        page = searched.page("calender")
        assert page.items[0].path.endswith("typo.txt")
        assert page.total_estimate == 61
        assert page.answer()["notes"] == ["hardly anything has 'calender'; looked for 'calendar' as well"]


def test_a_word_that_was_looked_for_instead_is_named_as_the_results_write_it(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "one.txt").write_text(
        f"They receive parcels. Who receives them, receives letters too. {PROSE}", encoding="utf-8"
    )
    with indexed(root, tmp_path / "data") as searched:
        assert searched.page("recieve").notes == ("nothing has 'recieve'; looked for 'receive' instead",)  # the nearest
        assert searched.page("recieves").notes == ("nothing has 'recieves'; looked for 'receives' instead",)
        further = searched.page("recieve", offset=1)  # nothing is shown that writes it: what all its forms begin with
        assert (further.items, further.notes) == ((), ("nothing has 'recieve'; looked for 'receiv…' instead",))


def test_what_is_read_into_a_query_is_said(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "budget.txt").write_text("The budget of 2021 for the harbour.", encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        assert "notes" not in searched.page("harbour").answer()
        assert searched.page("harbour budget from 2021").notes == ("read from the query: years 2021",)
        given_up = "nothing matches with file types .pdf, so that the query was searched as words"
        assert searched.page("harbour pdf").notes == (given_up, "nothing has 'pdf'")
        assert list(searched.page("harbour").answer()["items"][0])[-1] == "highlights"


SPELT = {
    "macro.c": f"#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))\n/* {PROSE} */",
    "camel.js": "let arraySize = 1; arraySize += arraySize * arraySize - arraySize % arraySize; // arraySize\n" * 3,
    "words.txt": "array-size, array-size and array-size: array size of an array, size by size\n" * 3,
    "number.txt": f"The largest is 2,147,483,647. {PROSE}",
    "plain.txt": "2147483647 and 2147483647, 2147483647 or 2147483647\n" * 3,
    "xcall.html": f"It is called when xCall is null. {PROSE}",
    "code.c": f"p->xCallBack = xCallBack; xCallBack(); {PROSE}",
    "callback.html": f"See xcallback, xcallback and xcallback. {PROSE}",
}


@pytest.fixture(scope="module")
def spelt(tmp_path_factory):
    base = tmp_path_factory.mktemp("spelt")
    (base / "root").mkdir()
    for name, text in SPELT.items():
        (base / "root" / name).write_text(text, encoding="utf-8")
    with indexed(base / "root", base / "data") as searched:
        yield searched


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("ARRAY_SIZE", "macro.c"), ("arraySize", "camel.js"), ("array-size", "words.txt"), ('"ARRAY_SIZE"', "macro.c"),
        ("array_size", "macro.c"),  # without a capital, case does not count
        ("2,147,483,647", "number.txt"), ("2147483647", "plain.txt"), ("xCallBack", "code.c"),
        ("xcall.html", "xcall.html"),
    ],
)  # fmt: skip
def test_an_identifier_spelt_as_typed_goes_before_other_joinings_of_its_parts(spelt, query, first):
    assert spelt.names(query)[0] == first


def test_other_joinings_of_an_identifier_are_still_found_and_the_gain_is_explained(spelt):
    page = spelt.page("ARRAY_SIZE")
    assert {Path(item.path).name for item in page.items} == {"macro.c", "camel.js", "words.txt"}
    said = [line for item in page.items for line in item.why() if line.startswith("spelt")]
    assert said == ["spelt as typed: 0.90 of the rest"]


def test_how_something_hidden_is_spelt_changes_no_score(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    other = " ".join(f"word{number}" for number in range(len(PROSE.split())))
    for name, secret, text in (("one", "zqOpen", PROSE), ("two", "zqShut", other)):
        said = f'The zqopen and then password = "{secret}-8fK2q9Lm4Xz7" here. {text}'
        (root / f"{name}.txt").write_text(said, encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        items = searched.page("zqOpen").items
        assert all("[redacted:" in item.snippet for item in items)
        assert [item.score for item in items] == 2 * [items[0].score]


def test_where_no_word_that_tells_something_stands_anywhere_the_others_are_looked_for_and_that_is_said(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "what.txt").write_text("What is a sparrow? It is a bird.", encoding="utf-8")
    (root / "none.txt").write_text("Sparrows sing.", encoding="utf-8")
    with indexed(root, tmp_path / "data") as searched:
        page = searched.page("What is Quetzalcoatlus?")
        assert [Path(item.path).name for item in page.items] == ["what.txt"]
        assert page.notes == ("nothing has 'quetzalcoatlus'; looked for the other words",)
        assert page.items[0].score < 0.3
        assert searched.page("Quetzalcoatlus").items == ()
        assert searched.page("What is a sparrow?").notes == ()
        assert searched.page('what is "Quetzalcoatlus"').items == ()


def test_an_identifier_as_typed_is_first_however_many_spell_it_otherwise(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    for number in range(60):
        (root / f"{number:02}.txt").write_text(
            f"Call zqmask, then zqmask({number}) and zqmask again. {PROSE}\n" * 2, encoding="utf-8"
        )
    (root / "typed.txt").write_text(f"{PROSE} {PROSE} Here it is zqMask. {PROSE}\n", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert opened.names("zqMask")[:1] == ["typed.txt"]


def test_the_last_part_of_an_identifier_is_not_what_was_asked_for_where_the_whole_stands(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "explains.txt").write_text(f"zqget(name)\nGive what has that name. {PROSE}\n", encoding="utf-8")
    (root / "whole.txt").write_text(f"{PROSE} Then zqenviron.zqget is asked. {PROSE}\n", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert opened.names("zqenviron.zqget")[:1] == ["whole.txt"]


def test_a_typed_heading_puts_its_section_first_with_the_name_of_the_program_too(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    sections = "".join(f"## Zqfile {word}\n\n{PROSE}\n\n" for word in ("formats", "locking", "locks of others"))
    (root / "zqgit.md").write_text(f"# Zqgit\n\n{sections}", encoding="utf-8")
    often = "A zqfile has a lock: to lock a zqfile is to lock what the zqfile locks. Zqgit locking, zqfile lock.\n"
    (root / "often.txt").write_text(often * 3, encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        for typed in ("zqfile locking", "locking a zqfile", "Zqfile lock", "zqgit zqfile locking"):
            first = opened.page(typed).items[0]
            assert (Path(first.path).name, first.snippet.split("\n")[0][:17]) == ("zqgit.md", "## Zqfile locking")
            assert any(line.startswith(f"{typed} as a heading × 1") for line in first.why())
        assert opened.names("zqfile lock often")[0] == "often.txt"  # no heading, even without one of the words


def test_a_phrase_of_few_words_comes_first_where_a_text_has_it(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    often = f"A zqfile has a zqend: where the zqend is, another zqfile has no zqend. {PROSE} {PROSE}"
    (root / "often.txt").write_text(often, encoding="utf-8")
    (root / "phrase.txt").write_text(
        f"{PROSE} Nothing comes after the zqend of zqfile. {PROSE} {PROSE}", encoding="utf-8"
    )
    with indexed(root, tmp_path / "data") as opened:
        assert opened.names("zqfile zqend")[0] == "often.txt"
        for typed in ("the zqend of zqfile", "zqend of zqfile", "after the zqend of"):
            assert opened.names(typed)[0] == "phrase.txt"


def test_a_mistyped_file_name_finds_the_file_and_is_said(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "zq_harbour.py").write_text(f"# {PROSE}\n", encoding="utf-8")
    (root / "list.txt").write_text(f"Everything in py and zq is listed: zq, py. {PROSE}\n", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        page = opened.page("zq_harbuor.py")
        assert Path(page.items[0].path).name == "zq_harbour.py"
        assert page.notes[-1] == "nothing is called 'zq_harbuor.py'; looked for 'zq_harbour.py' instead"


def test_of_a_mistyped_file_name_the_beginning_is_shown_as_of_the_right_one(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    says = "\n\n# the harbour of zq: a harbour\n" + "line\n" * 300
    (root / "zq_harbour.py").write_text(f"# {PROSE}\n" + "\nimport sys\n" * 200 + says * 3, encoding="utf-8")
    (root / "list.txt").write_text(f"Everything in py and zq is listed: zq, py. {PROSE}\n", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        found = [opened.page(typed).items[0] for typed in ("zq_harbour.py", "zq_harbuor.py")]
        assert [item.pointer.startswith("lines 1-") for item in found] == [True, True]


def test_a_file_of_settings_in_xml_is_found_by_its_name(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "zq-slots.xml").write_text("<?xml version='1.0'?><slots><slot id='7'/></slots>", encoding="utf-8")
    (root / "list.txt").write_text("zq-slots.xml, zq-slots.xml and zq-slots.xml\n", encoding="utf-8")
    with indexed(root, tmp_path / "data") as opened:
        assert opened.names("zq-slots.xml")[0] == "zq-slots.xml"
