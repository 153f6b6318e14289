"""File types and years in a query: read out of it, and never against what is given beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.errors import BadRequest
from smart_context.find import filters
from smart_context.find.filters import Reading, read

PPT, DOC, XLS = (".ppt", ".pptm", ".pptx"), (".doc", ".docm", ".docx"), (".xls", ".xlsb", ".xlsm", ".xlsx")


@pytest.mark.parametrize(
    ("text", "left", "exts"),
    [
        ("contracts in ppt or docx", "contracts", tuple(sorted(PPT + DOC))),
        ("vendor x ppt docx", "vendor x", tuple(sorted(PPT + DOC))),
        ("budget xlsx, pdf and docx files", "budget", tuple(sorted((*XLS, ".pdf", *DOC)))),
        ("spreadsheets", "", tuple(sorted((*XLS, ".ods", ".csv", ".tsv")))),
        ("presentations about bees", "about bees", tuple(sorted((*PPT, ".odp")))),
        ("*.pdf invoices", "invoices", (".pdf",)),
        (".PDF invoices", "invoices", (".pdf",)),
        ("Rechnungen als PDF", "Rechnungen", (".pdf",)),
        ("word documents on bees", "on bees", tuple(sorted((*DOC, ".odt", ".rtf")))),
        ("antigen presentation", "antigen presentation", ()),
        ("open plan.pdf now", "open plan.pdf now", ()),
        ('"pdf files" guide', '"pdf files" guide', ()),
        ("a word about excellence", "a word about excellence", ()),
    ],
)
def test_file_types_are_read(text, left, exts):
    assert read(text) == Reading(left, exts, (), exts, ())


@pytest.mark.parametrize(
    ("text", "left", "years"),
    [
        ("contracts from 2021", "contracts", ("2021",)),
        ("budget 2019–2021", "budget", ("2019", "2020", "2021")),
        ("budget 2019-2021", "budget", ("2019", "2020", "2021")),
        ("budget between 2019 and 2021", "budget", ("2019", "2020", "2021")),
        ("budget from 2019 to 2021", "budget", ("2019", "2020", "2021")),
        ("Berichte von 2019 bis 2020", "Berichte", ("2019", "2020")),
        ("budget 2019 and 2021", "budget and", ("2019", "2021")),
        ("budget in 2019 or 2021", "budget", ("2019", "2021")),
        ("2021 budget", "budget", ("2021",)),
        ("from 2021", "", ("2021",)),
        ("2021", "2021", ()),
        ("the 2021", "the 2021", ()),
        ("ISO-2022 rules", "ISO-2022 rules", ()),
        ("on 2021-03-04 we met", "on 2021-03-04 we met", ()),
        ("-2021 budget", "-2021 budget", ()),
        ("part 120213 and 1899 and 2100", "part 120213 and 1899 and 2100", ()),
        ('"from 2021" budget', '"from 2021" budget', ()),
        ("vendor AND (2021)", "vendor AND ( )", ("2021",)),
    ],
)
def test_years_are_read(text, left, years):
    assert read(text) == Reading(left, (), years, (), years)


def test_in_a_long_text_a_year_in_brackets_is_a_citation():
    text = (
        "what did Backus say about functional programs and their algebra in the lecture of the society (1979) on style"
    )
    assert read(text).years == ()
    assert read("Backus lecture (1979)").years == ("1979",)


@pytest.mark.parametrize(
    ("text", "exts", "years", "expected"),
    [
        ("plan", (".pdf",), ("2021",), Reading("plan", (".pdf",), ("2021",))),
        ("plan docx", (".docx", ".pdf"), (), Reading("plan", (".docx",), (), DOC)),
        ("plan docx", (".pdf",), (), Reading("plan docx", (".pdf",))),
        ("plan 2020", (), ("2020", "2021"), Reading("plan", (), ("2020",), (), ("2020",))),
        ("plan 2020", (), ("2021",), Reading("plan 2020", (), ("2021",))),
    ],
)
def test_what_is_given_binds(text, exts, years, expected):
    assert read(text, exts, years) == expected


def test_given_filters_have_one_form():
    assert filters.given(("pptx", ".PPTX", " *.Docx"), ("2021", " 2021 ")) == ((".pptx", ".docx"), ("2021",))
    for exts, years in (((".",), ()), ((" ",), ()), ((), ("21",)), ((), ("20211",)), ((), ("٢٠٢١",))):
        with pytest.raises(BadRequest):
            filters.given(exts, years)


@given(st.text())
def test_any_text_can_be_read(text):
    reading = read(text)
    assert len(reading.text) <= len(text) + 10


def test_hostile_text_is_read_in_little_time():
    for text in (
        "pdf or " * 5000,
        "2021 " * 5000,
        "between 2019 and " * 3000,
        '"' * 10_000,
        "in " * 9_000,
        "2019-" * 5000,
    ):
        read(text)
