"""Manual pages: the words of the printed page, line for line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.model import Extracted, Limits
from smart_context.sources.extract import Job, Meter, extract, man

PAGE = r"""'\" t
.\" A comment
.de URL
\\$2 <\\$1>
..
.TH LS 1 "May 2022" "coreutils" "User Commands"
.SH NAME
ls \- list directory contents
.SH SYNOPSIS
.B ls
[\fI\,OPTION\/\fR]... \fBchown\fP(1)
.SS "The options"
.TP
\fB\-a\fR, \fB\-\-all\fR
do not ignore entries \(lqso called\(rq that begin with\ .
.BR dircolors (1),
.IR file .c
.IP "\fB\-\-block\-size\fR=\fISIZE\fR" 4
caf\('e \[u00E9] \*(Aqquoted\*(Aq \s-1ASCII\s0 a\eb
"""
MDOC = r""".\" Copyright
.Dd June 5, 2020
.Dt PF 4
.Sh NAME
.Nm pf
.Nd packet filter
.Sh DESCRIPTION
.Nm
reads
.Fl v
.Ar file ,
see
.Xr pfctl 8 .
.Nm .
.It Fl c Ns Ar config
"""


def read(text: str) -> Extracted:
    found = extract(text.encode(), "a.1", Limits())
    assert isinstance(found, Extracted), found
    return found


def sections(found: Extracted) -> list[tuple[str, list[str]]]:
    return [(unit.heading, [line for line in unit.text.split("\n") if line]) for unit in found.units]


def test_a_manual_page_is_read_as_it_is_printed():
    found = read(PAGE)
    assert (found.kind, found.title) == ("man", "ls - list directory contents")
    assert sections(found) == [
        ("NAME", ["LS 1", "NAME", "ls - list directory contents"]),
        ("SYNOPSIS", ["SYNOPSIS", "ls", "[OPTION]... chown(1)"]),
        (
            "The options",
            [
                "The options",
                "-a, --all",
                "do not ignore entries “so called” that begin with .",
                "dircolors(1),",
                "file.c",
                "--block-size=SIZE",
                "café é 'quoted' ASCII a\\b",
            ],
        ),
    ]


def test_a_page_of_mdoc_is_read_as_it_is_printed():
    found = read(MDOC)
    assert found.title == "pf - packet filter"
    assert sections(found) == [
        ("NAME", ["PF 4", "NAME", "pf", "- packet filter"]),
        ("DESCRIPTION", ["DESCRIPTION", "pf", "reads", "-v", "file,", "see", "pfctl(8).", "pf.", "-cconfig"]),
    ]


def test_a_long_line_of_mdoc_is_put_together_once():
    words = man._called(["Fl", "a", "Ap", "b", "Xr", "c", "1"] * 200_000)
    assert words == " -a'b c(1)" * 200_000


@pytest.mark.parametrize("page", [PAGE, MDOC])
def test_lines_are_those_of_the_file(page):
    lines = page.split("\n")
    for unit in read(page).units:
        shown = unit.text.split("\n")
        assert len(shown) <= len(lines)
        heading = unit.first - 1 + shown.index(unit.heading)
        assert unit.heading in lines[heading]


def test_the_format_of_a_table_is_left_out_and_its_cells_stay():
    page = ".TH A 1\n.SH TABLE\n.TS\nbox;\nl l.\nname\tT{\nwhat it is\nT}\n.TE\nafter"
    assert sections(read(page)) == [("TABLE", ["A 1", "TABLE", "name", "what it is", "after"])]


def test_a_condition_shows_what_a_terminal_shows():
    page = '.TH A 1\n.SH ONE\n.ie n .IP """abort()""" 4\n.el .IP "\\f(CWabort()\\fR" 4\n.if t .B printed\nStops.'
    assert sections(read(page)) == [("ONE", ["A 1", "ONE", '"abort()"', "Stops."])]


def test_a_macro_definition_that_does_not_end_costs_one_section_at_most():
    assert sections(read(".TH A 1\n.de XX\n.B x\nlost\n.SH ONE\ntext")) == [("ONE", ["A 1", "ONE", "text"])]


def test_a_page_without_sections_is_one_unit():
    assert sections(read(".TH A 1\nJust text.")) == [("", ["A 1", "Just text."])]


@given(
    st.lists(
        st.sampled_from(
            [
                *"\\.'\"[](){}*fFsnuT \n\t-eao0%&",
                ".SH ",
                ".de x\n",
                "..\n",
                ".TS\n",
                ".Fl",
                ".Xr a 1",
                ".ie n .B",
                "\\[",
            ]
        ),
        max_size=80,
    )
)
def test_nonsense_is_read_with_one_line_for_each(pieces):
    text = "".join(pieces)
    found = man.read(text.encode(), Job("a.1", Limits(), Meter(Limits()), kind="man"))
    assert sum(unit.text.count("\n") + 1 for unit in found.units) <= text.count("\n") + 1
    assert all(1 <= unit.first <= text.count("\n") + 1 for unit in found.units)
