"""Nothing that changes an answer is silent: what an answer says besides its results."""

from __future__ import annotations

import shutil

import pytest

from smart_context.api import App
from smart_context.engine.model import FileRow, Following, Passage, SegmentRow
from smart_context.errors import BadRequest
from smart_context.find import notes, search, snippet
from smart_context.find.model import SearchPage, SearchRequest
from smart_context.find.order import Placed
from smart_context.model import Caller
from smart_context.page import search as page
from smart_context.settings.config import Settings


@pytest.fixture
def app(tmp_path):
    for name in ("indexed", "never", "away"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"A gryphon of the folder {name}.", encoding="utf-8")
    settings = Settings(
        roots=tuple(str(tmp_path / name) for name in ("indexed", "never", "away", "nowhere")),
        data_dir=str(tmp_path / "data"),
    )
    with App(settings) as opened:
        for name in ("indexed", "away"):
            opened.index_here(str(tmp_path / name), full=False, on_progress=lambda _step: None)
        shutil.move(tmp_path / "away", tmp_path / "elsewhere")
        yield opened


def test_roots_that_were_never_indexed_or_are_away_are_named_wherever_an_answer_is_given(app, tmp_path):
    never = f"not searched, because it was never indexed: {tmp_path}/never"
    away = f"cannot be reached now, so that its last index answers: {tmp_path}/away"
    nowhere = f"not searched, because it is not there and was never indexed: {tmp_path}/nowhere"
    answer = app.search_files("gryphon")
    assert answer["notes"] == [never, away, nowhere]
    assert len(answer["items"]) == 2
    assert app.search_files("gryphon", roots=(f"{tmp_path}/indexed",)).get("notes") is None
    guest = Caller("guest", roots=(f"{tmp_path}/indexed",), is_owner=False)
    assert "notes" not in app.search_files("gryphon", caller=guest)
    seen = page.view(app, page.SearchParameters("gryphon"), Caller("owner"), lambda: None)
    assert seen.notes == (never, away, nowhere)


def test_what_was_read_dropped_or_replaced_is_said(app):
    said = app.search_files("gryphom since 2030")["notes"]
    assert said[0] == "nothing matches with dates since 2030-01-01; searched without dates since 2030-01-01"
    assert said[1].startswith("nothing has 'gryphom'; looked for ")


def test_filters_that_leave_nothing_are_named_to_who_gave_them(app, tmp_path):
    (root,) = roots = (f"{tmp_path}/indexed",)
    without = "other files may have it: search without "
    assert app.search_files("gryphon", exts=(".pdf",), roots=roots)["notes"] == [f"{without}`exts` or `roots`"]
    assert app.search_files("gryphon", since="2090", roots=roots)["notes"] == [f"{without}`roots` or `since`"]
    assert "notes" not in app.search_files("gryphon", roots=roots, exts=(".txt",), offset=5)
    guest = Caller("guest", roots=(root,), is_owner=False)
    assert "notes" not in app.search_files("gryphon", exts=(".txt",), caller=guest)


def test_an_address_that_stands_nowhere_is_said_and_one_that_does_is_not(app, tmp_path):
    (tmp_path / "indexed/b.txt").write_text("Write to ada@example.org about the gryphon.", encoding="utf-8")
    app.index_here(str(tmp_path / "indexed"), full=False, on_progress=lambda _step: None)

    def said(query):
        return app.search_files(query, roots=(f"{tmp_path}/indexed",)).get("notes", [])

    assert said("ada@example.org gryphon") == []
    told = "nothing has the address 'bob@example.org'; looked for its words"
    assert said("bob@example.org") == [told]
    assert told in said("mail of bob@example.org or ada@example.org, gryphon")
    assert said("gryphon @folder") == []


@pytest.mark.parametrize("query", ["...", "?!", "*", "🔥"])
def test_a_query_without_a_word_is_told_so(app, query):
    answer = app.search_files(query)
    assert (answer["items"], answer["notes"][0]) == ([], "the query has no word to look for")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("gryphon 42", ["nothing has '42'"]),
        ("zebu gryphon OKAPI zebu", ["nothing has 'zebu' or 'OKAPI'"]),
        ("zebu", ["nothing has 'zebu'"]),
        ("z" * 200, [f"nothing has '{'z' * 200}'"]),
        ("gryphon " + "z" * 30_000, ["nothing has a word of more than 200 letters"]),
        ("gryphon OR zebu", ["nothing has 'zebu'"]),
        ('"gryphon folder"', ["nothing has '\"gryphon folder\"'"]),
        ('folder "of the folder"', []),
        ("gryphon 555-1234", ["nothing has '555-1234'"]),  # its parts are looked for
        ("gryphon_of.the-folder", []),
        ("folder_of.gryphon", ["nothing has 'folder_of.gryphon'"]),
        (
            'folder "no such path.txt"',
            ["nothing has '\"no such path.txt\"'; looked for its words", "nothing has 'path.txt'"],
        ),
        (
            'folder a.txt "no such phrase"',  # beside the name of a file too
            ["nothing has '\"no such phrase\"'; looked for its words", "nothing has 'phrase'"],
        ),
        ("gryphon 蒸発", []),  # half of a pair may be a word
        ("which gryphon of all sits in a zebu there", []),  # a sentence has words of its own
    ],
)
def test_a_word_or_phrase_that_nothing_has_is_said(app, tmp_path, query, said):
    answer = app.search_files(query, roots=(f"{tmp_path}/indexed",))
    assert answer.get("notes", []) == said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("gryphon -folder", "without 'folder': a '-' or NOT before a word excludes it"),
        ("gryphon NOT (folder OR indexed)", "without 'folder' or 'indexed': a '-' or NOT before a word excludes it"),
        ('gryphon AND (a OR -"the folder")', "without 'the folder': a '-' or NOT before a word excludes it"),
    ],
)
def test_what_a_query_excludes_is_said(app, query, said):
    assert app.search_files(query)["notes"][0] == said


def test_a_word_that_is_not_typed_to_its_end_is_taken_for_what_begins_so(app):
    answer = app.search_files("gryp")
    assert len(answer["items"]) == 2
    assert answer["notes"][0] == "nothing has 'gryp'; looked for 'gryphon' instead"
    assert app.search_files("gry")["items"] == []


def test_a_long_word_that_hardly_anything_begins_with_is_rather_mistyped(tmp_path):
    for n in range(60):
        (tmp_path / f"{n}.txt").write_text(f"Fortress {n}.", encoding="utf-8")
    (tmp_path / "odd.txt").write_text("A fortreseque creature.", encoding="utf-8")
    with App(Settings(roots=(str(tmp_path),), data_dir=str(tmp_path / "data"))) as app:
        app.index_here(str(tmp_path), full=False, on_progress=lambda _step: None)
        assert app.search_files("fortrese")["notes"] == ["nothing has 'fortrese'; looked for 'fortress' instead"]
        assert app.search_files("fort")["notes"][0].startswith("nothing has 'fort'; looked for 'fortress' or 'fortrese")


WON = "The walruses of the northern harbour won the regatta before the lighthouse keepers, who rowed with broken oars."
FULL = "walruses northern harbour regatta lighthouse keepers"


@pytest.mark.parametrize(
    ("query", "texts", "first", "is_said"),
    [
        # Of what names the year, the best has hardly a word of the question, and another text has most of them.
        (f"Who of the {FULL} won in 2015?", {"a": WON, "b": "A ledger of 2015 names the lighthouse."}, "a", True),
        # The year leads to an answer, or to part of one.
        (f"Who of the {FULL} won in 2015?", {"a": WON, "b": f"{WON} That was 2015."}, "b", False),
        (f"Who of the {FULL} won in 2015?", {"a": WON, "b": "2015: lighthouse keepers of the harbour."}, "b", False),
        # In a long sentence, part of an answer is not enough.
        (
            f"{FULL} oars broken, rowed in 2015",
            {"a": WON, "b": "2015: lighthouse keepers of the harbour rowed."},
            "a",
            True,
        ),
        (
            f"{FULL} oars broken, rowed in 2015",
            {"a": WON, "b": "2015: lighthouse keepers rowed from the northern harbour, oars broken, to a regatta."},
            "b",
            False,
        ),
        # Nobody has an answer.
        ("Who of the otters, seals and sea lions swam far in 2015?", {"a": WON, "b": "2015: some swam."}, "b", False),
        # It was asked for in a few words, or as a field, or for a kind of file.
        ("harbour lighthouse 2015", {"a": WON, "b": "A ledger of 2015 names a harbour."}, "b", False),
        (f"Who of the {FULL} won? year:2015", {"a": WON, "b": "A ledger of 2015 names the lighthouse."}, "b", False),
        (f"text files about {FULL} won in 2015", {"a": WON, "b": "A ledger of 2015 names the lighthouse."}, "b", False),
    ],
)
def test_a_year_in_a_question_gives_way_where_hardly_anything_that_names_it_answers(
    tmp_path, query, texts, first, is_said
):
    root = tmp_path / "root"
    root.mkdir()
    for number in range(40):  # so that words are worth something
        texts[f"other{number}"] = f"Notes of {1900 + number}, about something else."
    for name, text in texts.items():
        (root / f"{name}.txt").write_text(text, encoding="utf-8")
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        answer = opened.search_files(query)
        bound = opened.search_files(query, years=("2015",))
    given_up = "hardly anything matches with years 2015, so that the query was searched as words"
    assert answer["items"][0]["path"].endswith(f"/{first}.txt")
    assert (given_up in answer["notes"]) is is_said
    assert all(item["path"].endswith("/b.txt") for item in bound["items"])  # what is given beside the query binds


MANUAL = [f"Chapter {number}. The markdown window shows a page, and the otter swims." for number in range(4)]


@pytest.mark.parametrize(
    ("query", "first", "note"),
    [
        ("markdown window", "manual0.txt", "'markdown' read as a word, as many texts have it; 'only markdown' asks for files of that type"),  # said side by side
        ("otter markdown", "manual0.txt", "'markdown' read as a word, as many texts have it; 'only markdown' asks for files of that type"),  # by many more texts
        ("only markdown window", "window.md", "read from the query: file types .markdown, .md"),
        ("markdown about a window", "window.md", "read from the query: file types .markdown, .md"),
        ("seal markdown", "window.md", "read from the query: file types .markdown, .md"),  # texts do not say it so
        ("markdown -otter window", "window.md", "read from the query: file types .markdown, .md"),
        ("markdown zebra", "manual0.txt", "nothing matches with file types .markdown, .md, so that the query was searched as words"),
    ],
)  # fmt: skip
def test_where_a_query_may_mean_a_kind_of_file_or_a_word_the_texts_decide(tmp_path, query, first, note):
    root = tmp_path / "root"
    root.mkdir()
    for number, text in enumerate(MANUAL):
        (root / f"manual{number}.txt").write_text(text, encoding="utf-8")
    (root / "seal.txt").write_text("A seal and another seal, and a seal once more.", encoding="utf-8")
    (root / "window.md").write_text("A window of the seal, seen by a window in spring.", encoding="utf-8")
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        answer = opened.search_files(query)
        marks = search.sought(opened.index.both()[1], query)
    assert answer["items"][0]["path"].endswith(f"/{first}")
    assert answer["notes"][0] == note
    if note.startswith("'markdown' read"):  # then it is marked in a preview as well
        text = "A markdown page."
        [cut] = snippet.cut_all([(Passage(text), "en")], marks)
        assert [cut.text[start:end] for start, end in cut.highlights] == ["markdown"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Inserts a sheet from a different spreadsheet file", "sheets.txt"),  # a sentence of some text
        ("Inserts another sheet from a different spreadsheet file", "b.csv"),
        ("sheet from a different spreadsheet file", "b.csv"),  # a few words of it
    ],
)
def test_a_sentence_that_stands_in_a_text_is_found_there_whatever_it_seems_to_ask_for(tmp_path, query, first):
    root = tmp_path / "root"
    root.mkdir()
    (root / "sheets.txt").write_text("Inserts a sheet from a different spreadsheet file.", encoding="utf-8")
    (root / "b.csv").write_text("sheet;different\n1;2\n", encoding="utf-8")
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        answer = opened.search_files(query)
    types = "file types .csv, .ods, .tsv, .xls, .xlsb, .xlsm, .xlsx"
    stands = f"of the files that have the query as it was typed, none matches with {types}, so that the query was searched as words"
    assert (answer["items"][0]["path"], stands in answer["notes"]) == (f"{root}/{first}", first == "sheets.txt")


PASTED = {
    "fix.txt": "Fix -fstack-protector handling of overflows (see the report) when NOT set.",
    "licence.txt": "EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY.",
    "overflows.txt": "Overflows and overflows, their handling and their handling once more.",
}


@pytest.mark.parametrize(
    "name", ["proj/beta/index.txt", "proj\\beta\\index.txt", "final report.txt", "2019.txt", "final report 2019.txt"]
)
def test_of_the_words_of_a_file_name_that_is_the_whole_query_nothing_is_said(tmp_path, name):
    root = tmp_path / "root"
    for path in ("proj/beta/index.txt", "final report.txt", "2019.txt", "final report 2019.txt", "projects.txt"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"What {len(path)} projects say, written in {len(path) + 2000}.", encoding="utf-8")
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        answer = opened.search_files(name)
    assert (answer["items"][0]["path"], answer.get("notes")) == (f"{root}/{name}".replace("\\", "/"), None)


@pytest.mark.parametrize(
    ("query", "first", "excluded"),
    [
        (PASTED["fix.txt"], "fix.txt", None),
        (PASTED["licence.txt"], "licence.txt", None),
        ("handling of overflows in the report -fstack-protector", "overflows.txt", "fstack-protector"),
    ],
)
def test_a_sentence_that_stands_in_a_text_excludes_nothing(tmp_path, query, first, excluded):
    root = tmp_path / "root"
    root.mkdir()
    for name, text in PASTED.items():
        (root / name).write_text(text, encoding="utf-8")
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        answer = opened.search_files(query)
        marks = search.sought(opened.index.both()[1], query)
    said = [f"without '{excluded}': a '-' or NOT before a word excludes it"] if excluded else []
    assert (answer["items"][0]["path"], answer.get("notes", [])) == (f"{root}/{first}", said)
    [cut] = snippet.cut_all([(Passage("The protector."), "en")], marks)  # then it is marked in a preview as well
    assert [cut.text[start:end] for start, end in cut.highlights] == (["protector"] if first == "fix.txt" else [])


@pytest.mark.parametrize(
    ("query", "first", "note"),
    [
        ('overflows "their report"', "overflows.txt", """nothing has '"their report"'; looked for its words"""),
        ('"overflows in the report that nobody set"', "fix.txt", """nothing has '"overflows in the report that nobody set"'; looked for its words"""),
        ('licence "of merchantability"', "licence.txt", None),  # some text has it
        ('"their report"', None, """nothing has '"their report"'"""),
        ('overflows AND "their report"', None, """nothing has '"their report"'"""),
    ],
)  # fmt: skip
def test_of_a_phrase_that_no_text_has_the_words_are_looked_for_if_there_are_others(tmp_path, query, first, note):
    root = tmp_path / "root"
    root.mkdir()
    for name, text in PASTED.items():
        (root / name).write_text(text, encoding="utf-8")
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        answer = opened.search_files(query)
    found = [item["path"] for item in answer["items"]][:1]
    assert (found, answer.get("notes", [])) == ([f"{root}/{first}"] if first else [], [note] if note else [])


def test_a_kind_of_file_gives_way_where_hardly_anything_of_that_kind_answers(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "won.txt").write_text(WON, encoding="utf-8")
    for number in range(40):
        (root / f"other{number}.txt").write_text(f"Notes of {1900 + number}, about something else.", encoding="utf-8")
    (root / "ledger.md").write_text(
        "A ledger names the lighthouse, among much else that was paid for.", encoding="utf-8"
    )
    with App(Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        answer = opened.search_files(f"md files about {FULL} who rowed")
        bound = opened.search_files(f"*.md about {FULL} who rowed")
    given_up = "hardly anything matches with file types .markdown, .md, so that the query was searched as words"
    assert (answer["items"][0]["path"], given_up in answer["notes"]) == (f"{root}/won.txt", True)
    assert [item["path"] for item in bound["items"]] == [f"{root}/ledger.md"]


@pytest.mark.parametrize(
    ("following", "is_confined", "said"),
    [
        (Following(), False, []),
        (Following(is_away=True), False, ["the shared record does not answer; this is what was known of it before"]),
        (Following(taken=1200, total=34000), False, ["this machine is still taking in the shared record: 1,200 of 34,000 files"]),
        (Following(taken=1200, total=34000), True, ["this machine is still taking in the shared record"]),
    ],
)  # fmt: skip
def test_how_far_a_shared_record_is_known_is_said_and_to_guests_not_how_much_there_is(following, is_confined, said):
    assert list(search.lag(following, is_confined=is_confined)) == said


def placed(certainty):
    file = FileRow(1, "/a", "/", "", "", 1, 0, "", "ok", "", "", "", (), (), "", 1, "", 1)
    return Placed(SegmentRow(1, 1, 0, "page 1", "", certainty), file, "en", 1.0)


def test_results_that_were_read_from_a_picture_are_named_by_their_numbers():
    page = [placed(None), placed(91), placed(None), placed(7)]
    assert list(notes.of_ocr(page, 10)) == ["read by OCR, which makes mistakes: results 12 (91 %), 14 (7 %)"]
    assert list(notes.of_ocr(page[:2], 0)) == ["read by OCR, which makes mistakes: result 2 (91 %)"]
    assert list(notes.of_ocr(page[:1], 0)) == []


def test_where_nothing_is_indexed_yet_that_is_said_and_a_bad_request_is_one_all_the_same():
    told = ("nothing is indexed yet",)
    assert search.nothing(SearchRequest("gryphon", offset=3)) == SearchPage((), 3, 0, told, told)
    for bad in (
        {"k": 0},
        {"k": 101},
        {"offset": -1},
        {"exts": ("",)},
        {"years": ("21",)},
        {"since": "no day"},
        {"sort": "size"},
    ):
        with pytest.raises(BadRequest):
            search.nothing(SearchRequest("gryphon", **bad))
    with pytest.raises(BadRequest):
        search.nothing(SearchRequest(" "))
    assert search.nothing(SearchRequest("gryphon", k=100)).items == search.nothing(SearchRequest("x", k=1)).items


def test_a_file_without_text_is_named_if_its_name_is_typed(tmp_path):
    root, other = tmp_path / "root", tmp_path / "other"
    for folder in (root / "pictures", other):
        folder.mkdir(parents=True)
        (folder / "zq_harbour.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (root / "zq.md").write_text("The harbour of os.path, in a picture of zq.", encoding="utf-8")
    with App(Settings(roots=(str(root), str(other)), data_dir=str(tmp_path / "data"))) as app:
        for folder in (root, other):
            app.index_here(str(folder), full=False, on_progress=lambda _step: None)

        def told(query, **more):
            return [note for note in app.search_files(query, **more).get("notes", ()) if "no text to search" in note]

        first = f"{root}/pictures/zq_harbour.png has no text to search (a picture: only OCR can read it)"
        second = first.replace(f"{root}/pictures", str(other))
        assert told("zq_harbour.png") == [second, first]
        assert told("pictures/zq_harbour.png") == [first]
        assert told("zq_harbour.png", roots=(str(root),)) == [first]
        assert told("zq_harbour.png", caller=Caller("guest", roots=(str(other),), is_owner=False)) == [second]
        assert told("the harbour zq_harbour.png") == told("os.path") == told("zq.md") == told("harbour") == []
        (other / "zq_harbour.png").unlink()
        assert told("zq_harbour.png") == [first]
