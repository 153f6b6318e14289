"""The first and the last day of what somebody names."""

from __future__ import annotations

import pytest

from smart_context.find import when
from smart_context.find.when import Times

SUNDAY = "2024-03-31"  # of a leap year, the last day of its month


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024", "2024-01-01", "2024-12-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2023-02", "2023-02-01", "2023-02-28"),
        ("2024-12", "2024-12-01", "2024-12-31"),
        ("2024-02-29", "2024-02-29", "2024-02-29"),
        ("15.03.2024", "2024-03-15", "2024-03-15"),
        ("5.3.2024", "2024-03-05", "2024-03-05"),
        ("15/03/2024", "2024-03-15", "2024-03-15"),
        ("03/15/2024", "2024-03-15", "2024-03-15"),
        ("15.03.24", "2024-03-15", "2024-03-15"),
        ("3/15/24", "2024-03-15", "2024-03-15"),
        ("March 2024", "2024-03-01", "2024-03-31"),
        ("5th of May 2023", "2023-05-05", "2023-05-05"),
        ("May 5th, 2023", "2023-05-05", "2023-05-05"),
        ("31. Dezember 1999", "1999-12-31", "1999-12-31"),
        ("1 de enero de 2020", "2020-01-01", "2020-01-01"),
        ("today", SUNDAY, SUNDAY),
        ("yesterday", "2024-03-30", "2024-03-30"),
        ("last week", "2024-03-18", SUNDAY),
        ("this week", "2024-03-25", SUNDAY),
        ("last month", "2024-02-01", SUNDAY),
        ("this month", "2024-03-01", SUNDAY),
        ("last year", "2023-01-01", "2023-12-31"),
        ("this year", "2024-01-01", SUNDAY),
        ("last 10 days", "2024-03-21", SUNDAY),
        ("last 2 weeks", "2024-03-17", SUNDAY),
        ("last 1 month", "2024-02-29", SUNDAY),
        ("last 13 months", "2023-02-28", SUNDAY),
        ("last 3 months", "2023-12-31", SUNDAY),
        ("last 1 year", "2023-03-31", SUNDAY),
        ("3 days ago", "2024-03-28", "2024-03-28"),
        ("1 week ago", "2024-03-24", "2024-03-24"),
        ("4 months ago", "2023-11-30", "2023-11-30"),
        ("2 years ago", "2022-03-31", "2022-03-31"),
        ("last_week", "2024-03-18", SUNDAY),
    ],
)
def test_a_period_has_its_days(text, first, last):
    assert when.period(text, SUNDAY) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2024-13",
        "2024-02-30",
        "30.02.2024",
        "03/04/2024",
        "1800",
        "31 February 2024",
        "32 May 2024",
        "last 9999 years",
        "last 5 moons",
    ],
)
def test_what_is_no_period_has_none(text):
    assert when.period(text, SUNDAY) is None


def test_without_a_today_only_dates_are_periods():
    assert when.period("yesterday") is None
    assert when.period("2024") == ("2024-01-01", "2024-12-31")


def test_both_of_two_times_bind():
    one, other = (
        Times("2024-01-01", "", "2024-02-01", "2024-05-01"),
        Times("2023-01-01", "2024-12-31", "", "2024-04-01"),
    )
    assert one.within(other) == Times("2024-01-01", "2024-12-31", "2024-02-01", "2024-04-01")
    assert one.within(Times()) == Times().within(one) == one
    assert not Times()
    assert all((Times("a"), Times("", "a"), Times("", "", "a"), Times("", "", "", "a")))


def test_times_are_told_as_they_bind():
    assert Times("2024-01-01", "2024-02-01").told() == "since 2024-01-01 until 2024-02-01"
    assert Times(modified_until="2024-02-01").told() == "modified until 2024-02-01"
    assert Times("2024-01-01", modified_since="2024-02-01").told() == "since 2024-01-01 modified since 2024-02-01"
    assert when.given("2024", "2024-02", SUNDAY) == Times("2024-01-01", "2024-02-29")
    assert when.given("", " ", SUNDAY) == Times()


def everything(pattern, text):
    return list(pattern.finditer(text))


@pytest.mark.parametrize(
    ("text", "left", "told"),
    [
        ("after:2024-02 x", "  x", "since 2024-03-01"),
        ("since:2024-02 x", "  x", "since 2024-02-01"),
        ("before:2024-02 x", "  x", "until 2024-01-31"),
        ("until:2024-02 x", "  x", "until 2024-02-29"),
        ("date:2024-02 x", "  x", "since 2024-02-01 until 2024-02-29"),
        ("modified:>2024-02 x", "  x", "modified since 2024-03-01"),
        ("modified:>=2024-02 x", "  x", "modified since 2024-02-01"),
        ("modified:<2024-02 x", "  x", "modified until 2024-01-31"),
        ("modified:<=2024-02 x", "  x", "modified until 2024-02-29"),
        ("modified:2024-01.. x", "  x", "modified since 2024-01-01"),
        ("date:2024-01..2024-02 x", "  x", "since 2024-01-01 until 2024-02-29"),
        ("x changed before 2024", "x  ", "until 2023-12-31"),
        ("x changed after 2024", "x  ", "since 2024-01-01"),
        ("one two three four five since 1979", "one two three four five  ", "since 1979-01-01"),
        ("one two three four five six since 1979", "one two three four five six since 1979", ""),
        ("one two three four five six since 1979-05", "one two three four five six  ", "since 1979-05-01"),
        ("a b c d today", "a b c d  ", f"since {SUNDAY} until {SUNDAY}"),
        ("a b c d e today", "a b c d e today", ""),
        ("a today b", "a today b", ""),
        ("x 2019    until 2021", "x 2019    until 2021", ""),  # years from one to another
        ("x 2019     until 2021", "x 2019      ", "until 2021-12-31"),
        ("today b", "  b", f"since {SUNDAY} until {SUNDAY}"),
    ],
)
def test_times_are_read_out_of_a_query(text, left, told):
    rest, times = when.read(text, SUNDAY, everything)
    assert (rest, times.told()) == (left, told)
