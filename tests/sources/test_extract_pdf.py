"""PDF: pages, forms, annotations, refusals."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from office_files import pdf, pdf_pages, shown
from smart_context.model import Extracted, Limits, Part, Skipped, Unit
from smart_context.sources.extract import extract
from smart_context.sources.extract import pdf as pdf_reader


def read(data: bytes, limits: Limits | None = None) -> Extracted:
    found = extract(data, "a.pdf", limits or Limits())
    assert isinstance(found, Extracted)
    return found


def page(number: int, text: str) -> Unit:
    return Unit((Part("page", first=number),), text)


def test_each_page_is_a_unit_and_the_title_is_the_files_own() -> None:
    info = "<</Title(Annual Report)>>"
    data = pdf_pages(shown("first page", "second line"), "", shown("third page"), more=[info], trailer="/Info 10 0 R")
    assert read(data) == Extracted(
        "pdf", "Annual Report", (page(1, "first page\nsecond line"), page(2, ""), page(3, "third page"))
    )


def test_a_mapped_file_reads_like_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_pages(shown("mapped")))
    with (tmp_path / "a.pdf").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert extract(mapped, "a.pdf", Limits()) == Extracted("pdf", "", (page(1, "mapped"),))


def test_a_word_divided_at_the_end_of_a_line_keeps_the_hyphen_that_may_be_its_own() -> None:
    assert "the mixed-mode area" in read(pdf_pages(shown("the mixed-", "mode area"))).units[0].text


def test_a_divided_word_that_search_would_not_put_together_is_joined() -> None:
    assert "die Verfügung von" in read(pdf_pages(shown("die Ver-", "f\\374gung von"))).units[0].text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("in mixed\ufffe\r\nmode", "in mixed-mode"),
        ("Stra\ufffe\nße_x", "Straße_x"),
        ("one\x02two\ufffethree", "one-two-three"),
        ("é\ufffea\ufffeb", "éa-b"),
        ("_\ufffe\ufffe \ufb01n\xad\ufeff", "_-- fin-"),
    ],
)
def test_each_divided_word_of_a_page_is_put_together(written: str, text: str) -> None:
    assert pdf_reader._clean(written.encode("utf-16-le")) == text


@pytest.mark.parametrize(("written", "text"), [("Allg\\275u", "Allgäu"), ("5 \\275 mehr", "5 ‰ mehr")])
def test_per_mille_inside_a_word_is_a_letter(written: str, text: str) -> None:
    # 275 (octal) is per mille in the standard encoding.
    assert read(pdf_pages(shown(written))).units[0].text == text


@pytest.mark.parametrize(
    ("own", "flattened", "text"),
    [
        ("one\ntwo", "one\ntwo\nnote", "one\ntwo\nnote"),
        ("one\ntwo", "", "one\ntwo"),
        ("one\ntwo", "one\nnote", "one\ntwo\nnote"),
    ],
)
def test_what_flattening_loses_of_a_page_is_kept(own: str, flattened: str, text: str) -> None:
    assert pdf_reader._with(own, flattened) == text


def test_forms_and_annotations_are_read_once_each() -> None:
    field = "<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Ada Lovelace)/Rect[0 0 90 20]>>"
    note = "<</Type/Annot/Subtype/Text/Contents(please check)/Rect[0 30 20 50]>>"
    again = "<</Type/Annot/Subtype/Square/Contents(please check)/Rect[0 30 20 50]>>"
    drawn = "<</Type/Annot/Subtype/Stamp/Rect[0 100 200 140]/AP<</N 10 0 R>>>>"
    look = shown("approved by Grace")
    stream = f"<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Length {len(look)}>>stream\n{look}\nendstream"
    data = pdf_pages(
        shown("a form"),
        page="/Annots[6 0 R 7 0 R 8 0 R 9 0 R]",
        more=[field, note, again, drawn, stream],
        catalogue="/AcroForm<</Fields[6 0 R]>>",
    )
    words = read(data).units[0].text.split()
    assert sorted(words) == sorted(["Ada", "Lovelace", "a", "form", "approved", "by", "Grace", "please", "check"])


def test_a_line_through_words_adds_no_text_that_the_page_does_not_show() -> None:
    look, words = "0 0 m 100 100 l S", shown("JU\\\\SKRQ")
    letters = "".join(
        f"<{ord(code):02x}> <{ord(letter):04x}>\n" for code, letter in zip("JU\\SKRQ", "gryphon", strict=True)
    )
    table = (
        f"begincmap\n1 begincodespacerange\n<00> <ff>\nendcodespacerange\n7 beginbfchar\n{letters}endbfchar\nendcmap"
    )
    data = pdf(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1/Resources<</Font<</F 5 0 R>>>>>>",  # the page inherits the font
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Annots[7 0 R]>>",
            f"<</Length {len(words)}>>stream\n{words}\nendstream",
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
            f"<</Length {len(table)}>>stream\n{table}\nendstream",
            "<</Type/Annot/Subtype/Line/L[0 0 100 100]/Rect[0 0 100 100]/AP<</N 8 0 R>>>>",
            f"<</Type/XObject/Subtype/Form/BBox[0 0 100 100]/Length {len(look)}>>stream\n{look}\nendstream",
        ]
    )
    assert read(data).units[0].text == "gryphon"


def test_a_file_without_text_says_so() -> None:
    assert read(pdf_pages("", "0 0 10 10 re f")) == Extracted("pdf", "", (), ("no text; scanned?",), unread_pages=1)


def test_pages_that_are_not_there_cost_nothing() -> None:
    liar = pdf_pages(shown("hello")).replace(b"/Count 1>>", b"/Count 9>>")
    assert read(liar).units[0] == page(1, "hello")


@pytest.mark.parametrize(
    ("limits", "pages"), [(Limits(max_units=2), 2), (Limits(max_text_chars=9), 2), (Limits(max_text_chars=15), 3)]
)
def test_limits_cut_with_a_note(limits: Limits, pages: int) -> None:
    found = read(pdf_pages(shown("hello"), shown("hello"), shown("hello")), limits)
    assert sum(len(unit.text) for unit in found.units) <= limits.max_text_chars
    assert len(found.units) == pages
    assert bool(found.notes) == (pages < 3)


def test_what_is_locked_or_broken_is_refused() -> None:
    locked = pdf_pages(
        shown("secret"),
        more=[
            (
                "<</Filter/Standard/V 1/R 2/P -44/Length 40"
                "/O<0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20>"
                "/U<2122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40>>>"
            )
        ],
        trailer="/Encrypt 6 0 R/ID[<00><00>]",
    )
    assert extract(locked, "a.pdf", Limits()) == Skipped("pdf", "encrypted", "a password protects this PDF")
    for broken in (b"%PDF-1.7\nnothing", pdf(["<</Type/Catalog>>"])[:40]):
        found = extract(broken, "a.pdf", Limits())
        assert isinstance(found, Skipped)
        assert (found.kind, found.reason) == ("pdf", "damaged")


def with_missing(count: int) -> bytes:
    """A PDF with a page, so many that are listed and not there, and another page."""
    kids = " ".join(["4 0 R", *["99 0 R"] * count, "6 0 R"])
    pages = [
        line
        for at, text in ((5, "first page"), (7, "last page"))
        for line in (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {at} 0 R/Resources<</Font<</F 3 0 R>>>>>>",
            f"<</Length {len(shown(text))}>>stream\n{shown(text)}\nendstream",
        )
    ]
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    return pdf(["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {count + 2}>>", font, *pages])


def test_pages_that_are_missing_cost_only_themselves() -> None:
    found = read(with_missing(40))
    assert [unit for unit in found.units if unit.text] == [page(1, "first page"), page(42, "last page")]
    assert found.notes == ()


def test_many_missing_pages_in_a_row_are_the_end_and_are_told() -> None:
    found = read(with_missing(60))
    assert [unit for unit in found.units if unit.text] == [page(1, "first page")]
    assert found.notes == ("pages missing after page 1",)
