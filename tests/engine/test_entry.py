"""Entries: what of a pointer and of a name counts, and the language of a segment by itself and by its file."""

from __future__ import annotations

import os
import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context import pointer
from smart_context.engine import entry, names, searchable
from smart_context.engine.local.ranking_state import ANALYSIS_VERSION
from smart_context.model import Part, Segment
from smart_context.text import languages, passage, topics, whole

PARTS = st.sampled_from(
    [
        Part("page", first=3), Part("slide", first=7), Part("lines", first=1, last=40), Part("rows", first=2, last=2),
        Part("paragraphs", first=5, last=9), Part("section", name="page 3"), Part("section", name="a lines 1-2", nth=2),
        Part("entry", name="rows 1-4"), Part("message"),
    ]
)  # fmt: skip
_PLACE = re.compile(r"(?:(?:^| )(?:page|lines|paragraphs) [0-9-]+)+$")


@given(st.lists(PARTS, max_size=4).map(tuple).map(pointer.format) | st.text(alphabet="page rows 12-'", max_size=24))
def test_a_text_goes_on_where_pages_lines_and_paragraphs_alone_differ(where):
    assert entry._place(where) == _PLACE.sub("", where)


@given(st.text(alphabet="aB9_-. /é", max_size=140))
def test_a_name_in_ascii_has_the_key_that_any_name_has(name):
    whole = "".join(re.findall(r"[^\W_]+", names.fold(names.normal(name))))[:120]
    assert names._key(name) == whole


ENGLISH = "This is what they have said about each of these, and which of them would not be there again."
GERMAN = "Das ist nicht die Rechnung, die wir für den Kunden geschrieben haben und die er noch nicht hat."


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([ENGLISH, GERMAN], ["en", "de"]),
        ([GERMAN, "rot grün 17"], ["de", "de"]),  # nothing tells: the file's
        ([GERMAN, GERMAN, "an of"], ["de", "de", "de"]),  # a word does not make it another language
        (["x = 1", "y = 2"], ["en", "en"]),
    ],
)
def test_a_segment_that_does_not_show_its_language_has_that_of_its_file(texts, found):
    segments = [Segment(at, f"slide {at}", "", text) for at, text in enumerate(texts)]
    assert [made.language for made in searchable.every("/a.txt", "", segments)] == found


@given(st.lists(st.sampled_from([*sorted(languages.BY_WORD)[::7], "zebra", "größe", "año"]), max_size=30))
def test_a_language_that_much_speaks_for_is_told_where_less_is_asked_for(words):
    much = passage.of(" ".join(words)).language(2.0)
    assert not much or passage.of(" ".join(words)).language(1.0) == much


@pytest.mark.parametrize(
    "path", ["/", "/a", "/a/b", "/a/b/c.txt", "/a/other.txt", "/a//b", "a/b", "a", "", "/ä\udcff/b/c", "/a" * 2000]
)
def test_every_folder_above_a_file_has_its_key_also_when_another_file_had_them_before(path: str) -> None:
    above, folder = [], path
    while (parent := os.path.dirname(folder)) != folder:
        above.append(entry.folder_key(parent))
        folder = parent
    assert entry.folder_keys(path) == entry.folder_keys(path) == above


def test_what_the_index_has_of_a_text_is_that_of_the_version_of_its_analysis():
    """Other terms of the same text: raise the version, so that no ranking has both."""
    rows = "day,low\n1,0.38774098\n2,-1.000012345678\n3,1,249.50\n"
    texts = [
        ENGLISH,
        GERMAN,
        "getUserName() of os.path.join, v1.2.3 on 2024-03-31: café",
        rows,
        "4,7.468264E-05\n",
        "lost",
    ]
    pointers = ["lines 1-2", "lines 3-4", "lines 5-9", "sheet 'A' rows 1-4", "sheet 'A' rows 5", "page 2"]
    segments = [Segment(at, where, "Lost", text) for at, (where, text) in enumerate(zip(pointers, texts, strict=True))]
    made = [
        *searchable.every("/docs/Report_2024.txt", "A title", segments),
        entry.year_keys([*map(str, range(1990, 2002))]),
    ]
    assert (ANALYSIS_VERSION, sha256(repr(made).encode()).hexdigest()[:16]) == (9, "aee4ee41af01a76e")


def test_the_beginning_of_a_section_has_its_heading_as_a_term_and_that_of_a_file_its_title():
    headings = ["", "Lost laptops", "Lost laptops", "Other things"]
    segments = [Segment(at, f"paragraphs {at}", heading, ENGLISH) for at, heading in enumerate(headings)]

    def begun(title):
        made = searchable.every("/a.html", title, segments)
        return [[term for term in one.also.split() if term.startswith(topics.MARK)] for one in made]

    sections = [["§laptop+lost"], [], ["§other+thing"]]
    assert begun("Security of laptops") == [["§laptop+secur"], *sections]
    assert begun("Lost laptops") == [[], *sections]  # the section is where that begins


def test_what_is_hidden_in_a_heading_is_in_no_term():
    heading = "Token ghp_0123456789abcdefghijABCDEFGHIJ012345 of ours"
    hidden = ((6, 46, "secret"),)
    [made] = searchable.every("/a.md", "", [Segment(0, "lines 1-2", whole.masked(heading, hidden), ENGLISH)])
    assert "0123456789" not in made.also
    assert "ghp" not in made.also
