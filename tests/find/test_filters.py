"""File types and years in a query: which become filters, and what is left to look for."""

from __future__ import annotations

import pytest

from smart_context.errors import BadRequest
from smart_context.find import filters

_PPT, _DOC = (".ppt", ".pptm", ".pptx"), (".doc", ".docm", ".docx")


@pytest.mark.parametrize(
    ("text", "left", "exts", "years"),
    [
        ("contracts about vendor X from 2021 in ppt or docx", "contracts about vendor X", _DOC + _PPT, ("2021",)),
        ("vendor x 2021 ppt docx", "vendor x", _DOC + _PPT, ("2021",)),
        ("turbine notes as md", "turbine notes", (".markdown", ".md"), ()),
        ("*.md turbine", "turbine", (".markdown", ".md"), ()),
        ("ext:md turbine", "turbine", (".markdown", ".md"), ()),
        ("turbine filetype:.LOG ext:docx 2021", "turbine", (*_DOC, ".log"), ("2021",)),
        ("ext:md", "", (".markdown", ".md"), ()),
        ('who wrote "ext:md"', 'who wrote "ext:md"', (), ()),
        ("text:md ext:a.b ext:", "text:md ext:a.b ext:", (), ()),
        ("budget 2019–2021", "budget", (), ("2019", "2020", "2021")),
        ("budget between 2019 and 2021", "budget", (), ("2019", "2020", "2021")),
        ("rent March 2021", "rent March 2021", (), ("2021",)),  # not any March
        ("rent 2020 March 2021", "rent March 2021", (), ("2020", "2021")),
        ("rent after 2021", "rent after 2021", (), ()),  # which is not 2021
        ("the rent has risen since 2021, or ca. 2020", "the rent has risen since 2021, or ca. 2020", (), ()),
        ("rent vor 2021", "rent vor 2021", (), ()),
        ("rent after moving 2021", "rent after moving", (), ("2021",)),
        ("2021.pdf", "2021.pdf", (), ()),  # the name of a file
        ("rent of 2021.", "rent .", (), ("2021",)),
        ("2021", "2021", (), ()),  # a bare year alone is what to look for
        ("from 2021", "", (), ("2021",)),
        ("spreadsheets", "", (".csv", ".ods", ".tsv", ".xls", ".xlsb", ".xlsm", ".xlsx"), ()),
        ('"from 2021 in pdf" budget', '"from 2021 in pdf" budget', (), ()),
        ("order 12021 of 2021-03-04", "order 12021 of 2021-03-04", (), ()),
        ("budget 1899 and 2100", "budget 1899 and 2100", (), ()),
    ],
)
def test_types_and_years_leave_the_text_and_filter(text, left, exts, years):
    read = filters.read(text)
    assert (read.text, read.exts, read.years) == (left, exts, years)


@pytest.mark.parametrize(
    ("text", "left", "years"),
    [
        ("year:2021 rent", "rent", ("2021",)),
        ("who paid the rent? year:2020..2021", "who paid the rent?", ("2020", "2021")),
        ("rent years:2021-2020", "rent", ("2020", "2021")),
        ("rent year:2021 1999", "rent", ("1999", "2021")),
        ('who said "year:2021"?', 'who said "year:2021"?', ()),
        ("rent year:20211", "rent year:20211", ()),
    ],
)
def test_a_year_may_be_written_as_a_field(text, left, years):
    read = filters.read(text)
    assert (read.text, read.years) == (left, years)


@pytest.mark.parametrize(
    "text",
    [
        "microscope slides were stained with a dye before they were counted",
        "slides were stained with a dye before they were counted",
        "how do I rotate a pdf",
        "he sent me the slides after the talk was over",
        "what the pdf of a normal distribution looks like",
        "the data in excel were wrong for two years",
        "children climb the ladder and go down the slides",
        "can I rotate a pdf",
        "the quarterly pdf report",
        "strip html tags in python",
    ],
)
def test_a_kind_of_file_inside_a_sentence_is_a_word(text):
    assert filters.read(text) == filters.Reading(text)


@pytest.mark.parametrize(
    "text",
    [
        "Move selected slides",
        "Move selected slides up",
        "Move selected slides to the end",
        "delete hidden slides",
        "print slides with notes",
        "Change the order of slides",
        "how to merge pdf files",
        "merging pdf files",
        "read json file and turn it into a dictionary",
        "export emails from outlook",
        "csv import settings",
        "json to protobuf",
        "PDF drehen",
        "save as pdf",
        "how do I export a letter as pdf",
        "rotate pages in pdf",
        "csv vs json",
        "what is the difference between csv and json",
        "docs/asyncio.rst",
    ],
)
def test_what_something_is_done_with_is_a_word(text):
    assert filters.read(text) == filters.Reading(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("budget spreadsheets", "budget"),
        ("spreadsheets about rent", "about rent"),
        ("copy of the rent, spreadsheets", "copy of the rent,"),
        ("data export excel", "data export"),
        ("excel rents north", "rents north"),
        ("convert the rents, as xlsx", "convert the rents,"),
        ("rents excel from the north", "rents from the north"),
        ("merge *.xlsx", "merge"),
        ("where are the excel files of the north office", "where are the of the north office"),
    ],
)
def test_files_that_are_looked_for_are_told_from_what_is_done_with_them(text, left):
    read = filters.read(text)
    assert (read.text, ".xlsx" in read.exts) == (left, True)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("slides about the new office in the north of the city", "about the new office in the north of the city"),
        (
            "please show me all the slides from the board about walruses",
            "please show me all the from the board about walruses",
        ),
        (
            "which presentations mention the merger of the two walrus clubs",
            "which mention the merger of the two walrus clubs",
        ),
        (
            "everything about the merger of the two walrus clubs as slides",
            "everything about the merger of the two walrus clubs",
        ),
        ("notes on the merger of the two walrus clubs, slides", "notes on the merger of the two walrus clubs,"),
        ("walrus slides", "walrus"),
    ],
)
def test_a_kind_of_file_is_a_filter_where_one_would_ask_for_it(text, left):
    read = filters.read(text)
    assert (read.text, ".pptx" in read.exts) == (left, True)


@pytest.mark.parametrize(
    "text",
    [
        "budget NOT 2021",
        "budget -2021",
        "budget NOT (2021)",
        "budget -(2021)",
        "contracts not from 2021",
        "contracts without pdf",
        "contracts NOT pdf",
        "contracts, except from 2021",
        "Verträge, nicht aus 2021",
    ],
)
def test_what_is_not_wanted_is_no_filter(text):
    assert filters.read(text) == filters.Reading(text)


@pytest.mark.parametrize(
    ("text", "exts", "years", "expected"),
    [
        # the text narrows
        ("plan 2020 pdf", (".pdf", ".md"), ("2020", "2021"), filters.Reading("plan", (".pdf",), ("2020",), (".pdf",), ("2020",))),
        # nothing would be left: what is given stands, the words stay words
        ("plan pdf", (".md",), (), filters.Reading("plan pdf", (".md",))),
        ("plan 2019", (), ("2021",), filters.Reading("plan 2019", (), ("2021",))),
    ],
)  # fmt: skip
def test_what_is_given_binds(text, exts, years, expected):
    assert filters.read(text, exts, years) == expected


def test_several_extensions_or_years_may_be_given_with_commas():
    assert filters.given(("pdf,docx", ".md"), ("2020, 2021",)) == ((".pdf", ".docx", ".md"), ("2020", "2021"))


def test_extensions_and_years_are_put_in_one_form():
    assert filters.given(("PDF", " .Docx", "*.md", "pdf"), (" 2021",)) == ((".pdf", ".docx", ".md"), ("2021",))


@pytest.mark.parametrize(("exts", "years"), [(("",), ()), ((".",), ()), ((), ("21",)), ((), ("",)), ((), ("20211",))])
def test_a_malformed_filter_is_a_bad_request(exts, years):
    with pytest.raises(BadRequest):
        filters.given(exts, years)


@pytest.mark.parametrize("text", ["in 2021 or ", '2021 "a" ', "pdf, ", "NOT 2021 ", '" 2021', "between 2019 and "])
def test_a_hostile_query_costs_little(text):
    read = filters.read(text * 1_000_000)
    assert len(read.text) + len(read.years) < 25_000
