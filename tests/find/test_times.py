"""Times, authors, titles and names: in the query and beside it, as filters and as an order."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.api import App
from smart_context.engine.facts import Labelled
from smart_context.errors import BadRequest
from smart_context.find import filters, labels, when
from smart_context.find.model import SearchRequest
from smart_context.settings.config import Settings

TODAY = "2026-11-16"  # a Monday
MAIL = "From: {author}\nDate: {day} 10:00:00 +0000\nSubject: {title}\n\nThe walrus report of the board.\n"
FILES = {  # name → (the day of its last change, its text)
    "old.txt": ("2021-05-06", "The walrus report, first draft."),
    "march.txt": ("2024-03-10", "The walrus report after the thaw, second."),
    "week.txt": ("2026-11-12", "The walrus report of autumn, third."),
    "mail.eml": ("2026-11-15", MAIL.format(author="Jané Doe <jane@example.com>", day="Mon, 11 Mar 2024", title="Annual Report")),
    "key.eml": ("2020-01-01", MAIL.format(author="Bo", day="Wed, 01 Jan 2020", title="password: tr0ub4dorzebra99")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "left", "told"),
    [
        ("rent since 2024-03", "rent", "since 2024-03-01"),
        ("rent until 2023", "rent", "until 2023-12-31"),
        ("rent since 2024 until 2025-06-30", "rent", "since 2024-01-01 until 2025-06-30"),
        ("modified:2024-02 rent", "rent", "modified since 2024-02-01 until 2024-02-29"),
        ("modified:>=2024 rent", "rent", "modified since 2024-01-01"),
        ("rent modified:2024-01..2024-03", "rent", "modified since 2024-01-01 until 2024-03-31"),
        ("rent before:2024", "rent", "until 2023-12-31"),
        ("rent in March 2024", "rent", "since 2024-03-01 until 2024-03-31"),
        ("Miete seit März 2024", "Miete", "since 2024-03-01"),
        ("rent last week", "rent", "since 2026-11-09 until 2026-11-16"),
        ("rent from yesterday", "rent", "since 2026-11-15 until 2026-11-15"),
        ("rent of the last 3 months", "rent", "since 2026-08-16 until 2026-11-16"),
        ("rent changed last year", "rent", "since 2025-01-01 until 2025-12-31"),
        ("rent since 15.03.21", "rent", "since 2021-03-15"),
        ("rent until 3/15/21", "rent", "until 2021-03-15"),
        ("rent modified:01.03.21..15.03.21", "rent", "modified since 2021-03-01 until 2021-03-15"),
        ("removed since 5.3.21", "removed since 5.3.21", ""),  # a version
        ("moved since 15.03.21.4", "moved since 15.03.21.4", ""),
        ("rent from 2019 until 2021", "rent", ""),  # years
        ("'last year's rent'", "'last year's rent'", ""),
        ('"since 2024" rent', '"since 2024" rent', ""),
        ("what we know today about how walruses sleep", "what we know today about how walruses sleep", ""),
        (
            "rents in the towns of the north have fallen since 1979",
            "rents in the towns of the north have fallen since 1979",
            "",
        ),
        ("since 2024-13-99 rent", "since 2024-13-99 rent", ""),
        ("rent not since 2024-03", "rent not since 2024-03", ""),
    ],
)
def test_times_leave_the_text_and_filter(text, left, told):
    read = filters.read(text, today=TODAY)
    assert (read.text, read.read_times.told()) == (left, told)


def test_without_a_day_for_today_words_such_as_yesterday_stay_words():
    assert filters.read("rent yesterday", today="").text == "rent yesterday"
    assert filters.read("rent since 2024", today="").read_times.since == "2024-01-01"
    assert filters.read("rent since 2024-03 author:jane") == filters.Reading("rent since 2024-03 author:jane")


@pytest.mark.parametrize("text", ["in March ", "modified:2024..", "since 2024-03 ", "last 3 ", 'author:"', "changed "])
def test_a_hostile_query_costs_little(text):
    assert len(filters.read(text * 1_000_000, today=TODAY).text) < 25_000


@pytest.mark.parametrize("word", ["soon", "2024-13", "20241", "31"])
def test_what_is_no_date_is_a_bad_request(word):
    with pytest.raises(BadRequest):
        when.given(word, "")


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    root = tmp_path_factory.mktemp("docs")
    for name, (day, text) in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
        at = datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp()
        os.utime(root / name, (at, at))
    settings = Settings(roots=(str(root),), data_dir=str(tmp_path_factory.mktemp("data")))
    with App(settings) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        yield opened


def ask(app, query, **more):
    return app.find(SearchRequest(query, 50, today=TODAY, **more))


def names(page):
    return [os.path.basename(item.path) for item in page.items]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("walrus report since 2026", {"week.txt"}),
        ("walrus report in March 2024", {"march.txt", "mail.eml"}),  # by its own date, and by its last change
        ("walrus report modified:2026-11", {"week.txt", "mail.eml"}),
        ("walrus report last week", {"week.txt"}),
        ("author:jane walrus", {"mail.eml"}),
        ('author:"doe jane" walrus', {"mail.eml"}),
        ("from:jane walrus", {"mail.eml"}),
        ("title:annual walrus", {"mail.eml"}),
        ('subject:"annual report" walrus', {"mail.eml"}),
        ("mails since 2024", {"mail.eml"}),
        ("name:march walrus", {"march.txt"}),
        ("name:*.eml walrus", {"mail.eml", "key.eml"}),
        ("since 2026-11", {"week.txt"}),  # filters alone list
    ],
)
def test_files_are_found_by_their_times_and_fields_and_that_is_said(app, query, found):
    page = ask(app, query)
    assert set(names(page)) == found
    assert page.notes[0].startswith("read from the query: ")
    assert page.answer()["notes"] == list(page.notes)


@given(st.lists(st.text(st.sampled_from("aB.é\u0301İß\n\udc80ΑΣ漢ﬁ"), min_size=1, max_size=6), max_size=6))
def test_names_are_compared_together_as_each_alone(several):
    found = labels._names([Labelled(number, os.fsencode(name), "") for number, name in enumerate(several)])
    assert found == [labels._plain(name) for name in several]


def test_times_beside_the_query_bind(app):
    assert set(names(ask(app, "walrus report", since="2024", until="2024"))) == {"march.txt", "mail.eml"}
    assert names(ask(app, "walrus report", since="2030")) == []
    assert set(names(ask(app, "walrus report since 2020", since="2026"))) == {"week.txt"}
    assert set(names(ask(app, "walrus report until 2021", since="2026"))) == {"week.txt"}  # what is given stands


def test_a_filter_that_finds_nothing_is_dropped_and_that_is_said(app):
    page = ask(app, "walrus report since 2030")
    assert len(page.items) == 5
    assert page.notes[0] == "nothing matches with dates since 2030-01-01; searched without dates since 2030-01-01"
    page = ask(app, "walrus author:nobody")
    assert len(page.items) == 5
    assert "searched without author nobody" in page.notes[0]


def test_the_newest_come_first_and_pages_fit_together(app):
    by_date = ["week.txt", "mail.eml", "march.txt", "old.txt", "key.eml"]
    assert names(ask(app, "walrus report", sort="date")) == by_date
    pages = [names(app.find(SearchRequest("walrus report", 2, offset, sort="date"))) for offset in (0, 2, 4)]
    assert [name for page in pages for name in page] == by_date
    assert names(ask(app, "walrus report", sort="name")) == sorted(FILES)
    assert names(ask(app, "name:*.txt", sort="date")) == ["week.txt", "march.txt", "old.txt"]
    with pytest.raises(BadRequest):
        ask(app, "walrus", sort="size")


def test_the_date_that_a_file_gives_stands_beside_that_of_its_last_change(app):
    item = ask(app, "author:jane walrus").items[0].answer()
    assert (item["dated"], item["modified"]) == ("2024-03-11", "2026-11-15T12:00:00Z")


@pytest.mark.parametrize(
    "query", ["title:tr0ub4dorzebra99", "title:tr0", "title:redacted", "author:jane@example.com", "author:example"]
)
def test_what_is_hidden_in_a_title_or_an_author_is_not_found_by_it(app, query):
    page = ask(app, f"walrus {query}")
    assert "searched without" in page.notes[0] or "searched as words" in page.notes[0]
    assert "tr0ub4dor" not in str(page.answer()["items"])


@pytest.mark.parametrize(
    "query", ["author:jane " * 2000, "name:" + "[" * 10_000 + "*", 'title:"' + "report " * 2000 + '"']
)
def test_a_query_made_of_fields_costs_no_more_than_a_few(app, query):
    reading = filters.read(query, today=TODAY)
    assert len(reading.fields) <= 8
    assert all(len(field.value) <= 255 for field in reading.fields)
    ask(app, query)


def test_the_tool_takes_what_is_left_out_as_nothing(app):
    whole = app.search_files("walrus report", 50)
    assert app.search_files("walrus report", 50, 0, (), (), (), None, None, "relevance", False) == whole
