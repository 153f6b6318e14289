"""A day is found however it is written."""

from __future__ import annotations

from datetime import date

import pytest

from searching import indexed
from smart_context.find import when

WRITTEN = {
    "iso": "The plan was signed on 2021-03-15 in Lisbon.",
    "moment": "Backup 2021-03-15T10:00:00Z done.",
    "dots": "Meeting on 15.03.2021 about the merger.",
    "short": "Sitzung am 15.3.2021 wegen der Fusion.",
    "slashes": "Paid on 15/03/2021 by transfer.",
    "american": "Invoice date: 03/15/2021",
    "named": "On March 15, 2021 the committee met.",
    "ordinal": "They left on the 15th March 2021 by ship.",
    "two digits": "Rechnung vom 15.03.21 liegt bei.",
    "two digits, american": "Shipped 3/15/21 from the yard.",
    "deutsch": "Am 15. März 2021 trafen wir uns in Berlin.",
    "year": "The budget of 2021 has 15 pages and 03 tables.",
    "other": "Signed on 2021-03-16, 2020-03-15, 15.04.2021 and March 16, 2021.",
}
NUMBERED = set(WRITTEN) - {"year", "other"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("days")
    for name, text in WRITTEN.items():
        (root / f"{name}.txt").write_text(text, encoding="utf-8")
    with indexed(root, tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("2021-03-15", "iso"), ("15.03.2021", "dots"), ("15.3.2021", "short"), ("15/03/2021", "slashes"), ("03/15/2021", "american"),
        ("15.03.2021?", "dots"), ("15.03.21", "two digits"), ("3/15/21", "two digits, american"),
    ],
)  # fmt: skip
def test_a_day_in_numbers_finds_every_way_to_write_it_and_first_the_one_that_was_typed(folder, typed, first):
    names = [name.removesuffix(".txt") for name in folder.names(typed, 20)]
    assert names[0] == first
    assert set(names) == NUMBERED


@pytest.mark.parametrize(("typed", "first"), [("March 15, 2021", "named"), ("15th March 2021", "ordinal"), ("15. März 2021", "deutsch")])  # fmt: skip
def test_a_day_with_its_month_named_comes_first_as_typed_and_in_numbers_before_other_days(folder, typed, first):
    names = [name.removesuffix(".txt") for name in folder.names(typed, 20)]
    assert names[0] == first
    assert {"iso", "dots", "short", "slashes", "american"} <= set(names)
    assert max(map(names.index, ("iso", "dots", "slashes"))) < names.index("year")


def test_a_day_is_looked_for_beside_other_words(folder):
    assert folder.names("signed in Lisbon 15.03.2021")[0] == "iso.txt"
    assert folder.names("committee 2021-03-15")[0] == "named.txt"


def test_a_day_that_no_file_is_from_is_looked_for_in_the_texts(folder):
    assert "in the texts" not in folder.page("signed yesterday", today="2021-03-16").notes[0]
    page = folder.page("signed on March 15, 2021", today="2026-01-01")
    assert page.items[0].path.endswith("/iso.txt")
    when_none = "since 2021-03-15 until 2021-03-15"
    assert page.notes == (
        f"nothing matches with dates {when_none}; searched without dates {when_none}, for '2021-03-15' in the texts",
    )


def test_a_month_that_no_file_is_from_is_looked_for_in_the_texts(folder):
    for typed in ("from March 2021", "in 2021-03"):
        note = folder.page(f"signed {typed}", today="2026-01-01").notes[0]
        assert note.endswith(f", for '{typed.partition(' ')[2]}' in the texts")
    assert "in the texts" not in folder.page("signed since March 2021 until May 2021", today="2026-01-01").notes[0]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2021-03-15", [date(2021, 3, 15)]),
        ("2021/3/5", [date(2021, 3, 5)]),
        ("03/04/2021", [date(2021, 4, 3), date(2021, 3, 4)]),
        ("03.04.2021", [date(2021, 4, 3)]),
        ("04/04/2021", [date(2021, 4, 4)]),
        ("31.02.2021", []),
        ("15.03/2021", []),
        ("15.03.21", [date(2021, 3, 15)]),
        ("3/15/21", [date(2021, 3, 15)]),
        ("03/04/21", [date(2021, 4, 3), date(2021, 3, 4)]),
        ("15.03.68", [date(2068, 3, 15)]),
        ("15.03.69", [date(1969, 3, 15)]),
        ("5.3.21", []),  # a version
        ("15.03.21.4", []),
        ("31.02.21", []),
        ("1.2.3", []),
        ("", []),
    ],
)
def test_numbers_are_a_day_where_they_may_be_one(text, days):
    assert when.numbered(text) == days
