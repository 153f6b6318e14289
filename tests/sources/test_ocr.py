"""What can only be seen: counted without OCR, read with it."""

from __future__ import annotations

import zlib

import pytest

from office_files import docx, epub, odf, office, paragraph, pptx, relations, shape, zipped
from scans import HAS_PIL, blank, needs_ocr, page, picture, png, scan, see, tiff, words
from smart_context import pointer
from smart_context.errors import ConfigError
from smart_context.model import Extracted
from smart_context.sources import tessdata
from smart_context.sources.extract.sight import Bitmap, Engine, Recognized, Unreadable

if not HAS_PIL:
    pytest.skip("pictures are not tested: Pillow is missing", allow_module_level=True)


@pytest.fixture(scope="module")
def engine() -> Engine:
    from smart_context.sources.tesseract import Tesseract

    return Tesseract(tessdata.files(["en"]))


class Named:
    """An engine that says how large what it sees is: which pictures are met is tested without reading them."""

    def read(self, bitmap: Bitmap) -> Recognized:
        return Recognized(f"{bitmap.width}x{bitmap.height}", 90)


def seen(found: Extracted) -> list[tuple[str, str]]:
    return [(pointer.format(unit.pointer), unit.text) for unit in found.units if unit.certainty is not None]


def with_pictures() -> dict[str, tuple[bytes, list[str]]]:
    """Files of every kind that holds pictures, with where they are found."""
    small, other = picture("one"), picture("one", "two")
    slides = pptx(
        [shape("A slide"), shape("Another")],
        {
            "ppt/slides/_rels/slide1.xml.rels": relations({"image": "../media/a.png", "image#2": "../media/b.png"}),
            "ppt/media/a.png": small,
            "ppt/media/b.png": other,
        },  # type: ignore[dict-item]
    )
    text = office(
        "word/document.xml",
        "openxmlformats-officedocument.wordprocessingml.document",
        {
            "word/document.xml": docx_body(),
            "word/_rels/document.xml.rels": relations({"image": "media/a.png", "image#2": "media/b.emf"}),
            "word/media/a.png": small,
            "word/media/b.emf": b"\x01\0\0\0",
        },
    )
    book = epub(
        {"a.xhtml": "<html><body><p>A chapter</p></body></html>"},
        extra={"OEBPS/cover.png": small},  # type: ignore[dict-item]
        items='<item id="p" href="cover.png" media-type="image/png"/>',
    )
    return {
        "pages of a PDF": (scan((page("one"), ""), (b"", "text"), (page("two"), "text")), ["page 1", "page 3"]),
        "a picture": (small, [""]),
        "pages of a TIFF": (tiff(small, other), ["page 1", "page 2"]),
        "slides": (slides, ["slide 2"]),
        "a text": (text, ["section 'a.png'"]),
        "a book": (book, ["section 'cover.png'"]),
        "OpenDocument": (odf_with(small), ["section 'a.png'"]),
        "an archive": (
            zipped({"b.png": small, "s/a.pdf": scan((page("one"), ""))}),
            ["entry 'b.png'", "entry 's/a.pdf' page 1"],
        ),
    }


def docx_body() -> str:
    import io
    import zipfile

    return zipfile.ZipFile(io.BytesIO(docx(paragraph("A paragraph")))).read("word/document.xml").decode()


def odf_with(data: bytes) -> bytes:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(odf("text", "<text:p>A paragraph</text:p>"))) as made:
        parts = {name: made.read(name) for name in made.namelist()}
    return zipped({**parts, "Pictures/a.png": data}, stored=["mimetype"])


@pytest.mark.parametrize("kind", list(with_pictures()))
def test_places_that_can_only_be_seen_are_counted_without_ocr_and_met_with_it(kind: str) -> None:
    data, places = with_pictures()[kind]
    counted = see(data, None)
    assert (counted.unread_pages, seen(counted)) == (len(places), [])
    read = see(data, Named())
    assert (read.unread_pages, [where for where, _ in seen(read)]) == (0, places)


@pytest.mark.parametrize("kind", list(with_pictures()))
def test_a_file_read_one_place_at_a_time_gives_what_it_gives_at_once(kind: str) -> None:
    data, places = with_pictures()[kind]
    whole = see(data, Named())
    found = see(data, Named(), until=0.0)
    for left in range(len(places) - 1, 0, -1):
        assert found.unread_pages == left
        known = {where: Recognized(text, 90) for where, text in seen(found)}
        found = see(data, Named(), until=0.0, known=known, done=len(places) - left)
    assert found == whole


def test_a_place_that_ends_the_process_is_given_up_and_the_next_is_read() -> None:
    found = see(scan((page("one"), ""), (page("two"), "")), Named(), lost="crashed")
    assert [where for where, _ in seen(found)] == ["page 2"]
    assert found.notes == ("not read by OCR: page 1: crashed",)


def test_blank_pages_and_pages_with_text_do_not_wait() -> None:
    assert see(scan((b"", ""), (b"", "text"), (b"", "")), None).unread_pages == 0


def test_what_a_page_says_already_is_not_said_again() -> None:
    class Same:
        def read(self, bitmap: Bitmap) -> Recognized:
            return Recognized("Own words", 90)

    assert seen(see(scan((page("x"), "words that are own words")), Same())) == []
    assert seen(see(scan((page("x"), "rubbish")), Same())) == [("page 1", "Own words")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (png(100_000, 100_000), "too many pixels"),
        (png(9_000, 9_000), "too many pixels: 9,000 × 9,000"),
        (png(7_000, 7_000, zlib.compress(bytes(100))), "damaged picture"),
        (picture("a broken picture", form="JPEG")[:900], "damaged picture"),
        (b"\x89PNG\r\n\x1a\n\0\0", "damaged picture"),
        (b"II*\0\x08\0\0\0\xff\xff" + bytes(40), "damaged picture"),
    ],
    ids=["bomb", "large", "short", "broken", "no header", "no pages"],
)
def test_a_picture_that_lies_or_is_broken_gives_a_reason(data: bytes, reason: str) -> None:
    found = see(data, Named())
    assert (found.units, found.notes[-1]) == ((), f"not read by OCR: {reason}")


def test_a_broken_picture_costs_nothing_else() -> None:
    good = picture("one")
    found = see(zipped({"a.png": png(100_000, 100_000), "b.png": good, "c.txt": "words"}), Named())
    assert [pointer.format(unit.pointer) for unit in found.units] == ["entry 'b.png'", "entry 'c.txt'"]
    assert "not read by OCR: entry 'a.png': too many pixels" in found.notes


def test_large_pictures_are_made_smaller_and_small_ones_larger() -> None:
    assert seen(see(picture("x", size=(5000, 4000)), Named())) == [("", "3535x2828")]
    assert seen(see(picture("x", size=(400, 200)), Named())) == [("", "800x400")]
    assert seen(see(picture("x", size=(20, 8)), Named())) == []


def test_an_engine_that_gives_up_costs_the_place() -> None:
    class Slow:
        def read(self, bitmap: Bitmap) -> Recognized:
            raise Unreadable("took too long: more than 20 s")

    found = see(scan((page("one"), "own")), Slow())
    assert (seen(found), found.notes) == ([], ("not read by OCR: page 1: took too long: more than 20 s",))


LINES = ("The delivery left Hamburg on Tuesday", "and arrives in Oslo before the weekend.")


@needs_ocr
@pytest.mark.parametrize("turned", [0, 1.5, -2, 90, 180, 270])
def test_a_page_is_read_however_it_lies(engine: Engine, turned: float) -> None:
    found = see(picture(*LINES, *LINES, *LINES, turned=turned), engine)
    assert words([unit.text for unit in found.units]) == words(LINES * 3)
    assert all(unit.certainty is not None and unit.certainty > 80 for unit in found.units)


@needs_ocr
@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
def test_pictures_of_every_format_are_read(engine: Engine, form: str) -> None:
    assert words([text for _, text in seen(see(picture(*LINES, form=form), engine))]) == words(LINES)


@needs_ocr
def test_a_scanned_page_is_read_beside_its_own_text(engine: Engine) -> None:
    found = see(scan((page(*LINES), "rubbish")), engine)
    assert [(pointer.format(unit.pointer), unit.certainty is None) for unit in found.units] == [
        ("page 1", True),
        ("page 1", False),
    ]
    assert (found.units[0].text, words([found.units[1].text])) == ("rubbish", words([*LINES, "rubbish"]))


@needs_ocr
@pytest.mark.parametrize("slower", [1, 2, 10, 50])
def test_a_busy_machine_costs_a_picture_no_processor_time(slower: int) -> None:
    from smart_context.sources.tesseract import SECONDS, _left

    assert _left(clock=slower * 2.0, cpu=2.0) >= 1000 * slower * (SECONDS - 2)
    assert _left(clock=slower * SECONDS, cpu=SECONDS) == 0


@needs_ocr
@pytest.mark.parametrize("kind", ["white", "noise", "bars"])
def test_a_picture_without_text_gives_none(engine: Engine, kind: str) -> None:
    found = see(blank(kind), engine)
    assert (found.units, found.notes, found.unread_pages) == ((), ("a picture without text",), 0)


def test_what_is_missing_is_named_with_what_to_install() -> None:
    with pytest.raises(ConfigError) as raised:
        tessdata.files(["xx_unknown"])
    expected = "OCR has no data for: xx_unknown" if tessdata.is_installed() else "the extra `ocr` is not installed"
    assert raised.value.message == expected
    assert raised.value.hint
