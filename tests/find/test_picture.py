"""Pictures of pages: the pixels are read back. What is hidden is black before the picture is made, or there is none."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest

from office_files import pdf_pages, shown
from smart_context.api import App
from smart_context.errors import NotFound
from smart_context.find import picture as pictures
from smart_context.model import Extracted, Limits, Unit
from smart_context.settings import config
from smart_context.sources.extract import Refused, extract, picture

CARD = "4111 1111 1111 1111"
WHITE, BLACK = (255, 255, 255), (0, 0, 0)


@pytest.fixture
def drawn(tmp_path, tree):
    """Draw page 1 of a PDF; gives its pixels by (x, y) in points of the page, from the top."""

    def draw(content, query="", page=1):
        root = tree({"a.pdf": content})
        settings = config.load({"roots": (str(root),), "data_dir": str(tmp_path / "data")})
        with App(settings) as app:
            app.index_here(str(root), full=False, on_progress=lambda _step: None)
            return pixels(app.picture_of(str(root / "a.pdf"), page, query).png)

    return draw


def pixels(png):
    """Read back a PNG of ours: rows of (red, green, blue)."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed, size = 8, b"", (0, 0)
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data = png[at + 8 : at + 8 + length]
        size = struct.unpack(">II", data[:8]) if kind == b"IHDR" else size
        packed += data if kind == b"IDAT" else b""
        at += 12 + length
    width, height = size
    raw = zlib.decompress(packed)
    rows = [raw[y * (3 * width + 1) + 1 : (y + 1) * (3 * width + 1)] for y in range(height)]
    return [list(zip(row[::3], row[1::3], row[2::3], strict=True)) for row in rows]


def line(found, top, left, right):
    """The colours of the strip in which a line of 12 points stands, given in points of a page of 600 by 800."""
    scale = len(found[0]) / 600
    return {
        colour
        for row in found[int((top - 9) * scale) : int(top * scale)]
        for colour in row[int(left * scale) : int(right * scale)]
    }


def test_a_card_number_is_black_and_nothing_of_it_shows(drawn):
    found = drawn(pdf_pages(shown(CARD, "nothing to hide")))
    # Helvetica at 12 points: a digit takes 6.7, a space 3.3; the line begins at 50 and stands 100 points below the top.
    width = 16 * 6.67 + 3 * 3.34
    assert line(found, 100, 50, 50 + width) == {BLACK}
    assert line(found, 100, 60 + width, 500) == {WHITE}
    plain = line(found, 114, 50, 130)
    assert WHITE in plain
    assert len(plain) > 2


def test_the_same_page_without_a_secret_is_not_blackened(drawn):
    found = drawn(pdf_pages(shown("4111 1111 1111 1112", "nothing to hide")))
    assert WHITE in line(found, 100, 50, 160)


def test_what_is_hidden_on_another_page_hides_nothing_on_this_one(drawn):
    content = pdf_pages(shown("a walrus"), shown(CARD))
    first, second = drawn(content), drawn(content, page=2)
    assert BLACK not in line(first, 114, 50, 160)
    assert line(second, 100, 50, 150) == {BLACK}


def test_words_that_are_sought_are_marked(drawn):
    found = drawn(pdf_pages(shown("walrus", "nothing")), "walrus")
    assert (255, 255, 153) in line(found, 100, 50, 90)
    assert (255, 255, 153) not in line(found, 114, 50, 90)


def test_a_secret_that_is_drawn_letter_by_letter_is_found(drawn):
    letters = " ".join(f"1 0 0 1 {50 + 7 * at} 700 Tm ({digit}) Tj" for at, digit in enumerate(CARD.replace(" ", "")))
    found = drawn(pdf_pages(f"BT /F 12 Tf {letters} ET"))
    assert line(found, 100, 50, 50 + 7 * 15) <= {BLACK}


def test_a_page_that_is_turned_hides_as_well(drawn):
    found = drawn(pdf_pages(shown(CARD), page="/Rotate 180"))
    flat = [colour for row in found for colour in row]
    assert set(flat) == {BLACK, WHITE}


def test_pictures_on_a_page_are_left_out(drawn):
    inline = "q 200 0 0 200 50 400 cm BI /W 1 /H 1 /BPC 8 /CS /RGB ID \x01\x02\x03 EI Q "
    found = drawn(pdf_pages(inline + shown("a walrus")))
    assert line(found, 300, 60, 240) == {WHITE}


def seen(content):
    """The pixels of page 1, with the card hidden where its text has it."""
    [unit] = extract(content, "a.pdf", Limits()).units
    made = picture.draw(content, 1, unit.text, [CARD] if CARD in unit.text else [], ())
    packed = base64.b64encode(made.packed).decode()
    return pixels(pictures._checked(Extracted("", json.dumps([made.width, made.height, 0]), (Unit((), packed),))).png)


def twice(matrix):
    """The card in red, and again with a matrix with which PDFium's text has it once."""
    return f"1 0 0 rg BT /F 12 Tf 50 700 Td ({CARD}) Tj ET BT /F 12 Tf {matrix} Tm ({CARD}) Tj ET"


def in_place_of(text, *parts):
    """The card in red, with an ActualText in its place."""
    return f"/Span<</ActualText({text})>>BDC 1 0 0 rg BT /F 12 Tf 50 700 Td {' 60 0 Td '.join(f'({p}) Tj' for p in parts)} ET EMC"


PATTERN = "/Type/Pattern/PatternType 1/TilingType 1/BBox[0 0 600 800]/XStep 600/YStep 800"
FILLED = "{} /P scn 0 650 600 100 re f {} CS /P SCN 9 w 0 400 600 10 re S "


def with_pattern(content, paint, drawing):
    resources = "/Resources<</Font<</F 3 0 R>>"
    tile = f"<<{PATTERN}/PaintType {paint}{resources}>>/Length {len(drawing)}>>stream\n{drawing}\nendstream"
    found = pdf_pages(content, more=[tile]).decode("latin-1")
    more = "/Pattern<</P 6 0 R>>/ColorSpace<</C[/Pattern/DeviceRGB]>>"
    return found.replace(resources, resources + more, 1).encode("latin-1")


def with_mask(content, form=""):
    """A page whose graphics state `/G gs` paints through the card as a mask; `/X Do` is a red form."""
    mask, red = f"1 g BT /F 12 Tf 50 700 Td ({CARD}) Tj ET", "1 0 0 rg 0 0 600 800 re f"
    resources = "/Resources<</Font<</F 3 0 R>>"
    group = f"<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/Group<</S/Transparency/CS/DeviceGray>>{resources}>>/Length {len(mask)}>>stream\n{mask}\nendstream"
    state = "<</Type/ExtGState/SMask<</S/Luminosity/G 6 0 R>>>>"
    painted = f"<</Type/XObject/Subtype/Form/BBox[0 0 600 800]{form}/Length {len(red)}>>stream\n{red}\nendstream"
    found = pdf_pages(content, more=[group, state, painted, "<</Type/ExtGState/ca 0.5>>"]).decode("latin-1")
    more = "/ExtGState<</G 7 0 R/A 9 0 R>>/XObject<</X 8 0 R>>"
    return found.replace(resources, resources + more, 1).encode("latin-1")


def test_what_is_drawn_but_not_in_the_text_is_left_out():
    """A red pixel is one of a letter that should not be there: of the hidden card, or of what redaction has not judged."""
    inline = "q 200 0 0 200 50 500 cm BI /W 1 /H 1 /BPC 8 /CS /RGB ID \xff\x00\x00 EI Q"
    plain = shown("a walrus")
    cases = {
        **{f"twice {matrix}": pdf_pages(twice(matrix)) for matrix in ("1 0 0 1 56 700", "1 0 0 1 50 706", "1.4 0 0 1 50 700", "0.99 0.1 -0.1 0.99 50 700")},
        "ActualText": pdf_pages(in_place_of("a card", CARD)),
        "ActualText of several objects": pdf_pages(in_place_of("a card", CARD[:9], CARD[9:])),
        "ActualText that says the same": pdf_pages(in_place_of(CARD, CARD)),
        "ActualText that says the same of several objects": pdf_pages(in_place_of(CARD, CARD[:9], CARD[9:])),
        "a pattern of text": with_pattern(FILLED.format("/Pattern cs", "/Pattern") + plain, 1, twice("1 0 0 1 50 704")),
        "a pattern of text without colours": with_pattern(FILLED.format("/C cs 1 0.9 0.9", "/C") + plain, 2, shown(CARD)),
        "a path through a mask": with_mask(plain + " q /G gs 1 0 0 rg 0 600 600 200 re f Q"),
        "a form through a mask": with_mask(plain + " q /G gs /X Do Q"),
        "a group through a mask": with_mask(plain + " q /G gs /X Do Q", "/Group<</S/Transparency>>"),
        "a pattern of a picture": with_pattern(FILLED.format("/Pattern cs", "/Pattern") + plain, 1, inline),
    }  # fmt: skip
    for name, content in cases.items():
        found = seen(content)
        if "without colours" in name:  # the paint of the fill, and nothing in it
            assert len(line(found, 100, 50, 500)) == 1, name
        else:
            assert not any(red - green > 9 for row in found for red, green, _ in row), name


def test_paths_and_forms_of_half_a_colour_are_drawn_as_they_are():
    found = seen(with_mask(shown("a walrus") + " q /A gs 0 0 1 rg 0 300 600 100 re f Q"))
    assert line(found, 450, 0, 600) == {(127, 127, 255)}
    assert (255, 127, 127) in line(seen(with_mask(shown("a walrus") + " q /A gs /X Do Q")), 450, 0, 600)


def test_what_is_cut_out_by_text_that_the_page_does_not_have_has_no_picture():
    clip = (
        f"q /Span<</ActualText(a card)>>BDC BT /F 12 Tf 7 Tr 50 700 Td ({CARD}) Tj ET EMC 1 0 0 rg 0 600 600 200 re f Q"
    )
    with pytest.raises(Refused, match="cut out by text"):
        seen(pdf_pages(clip))


def test_letters_with_a_short_actual_text_and_plain_colours_are_drawn_as_they_are():
    blue = "0 0 1 rg /Span<</ActualText(fi)>>BDC BT /F 12 Tf 50 700 Td (fi) Tj ET EMC"
    found = seen(pdf_pages(f"{blue} 0.75 g 0 300 600 100 re f"))
    assert any(b - r > 99 for r, _, b in line(found, 100, 50, 70))
    assert line(found, 450, 0, 600) == {(191, 191, 191)}


def test_a_page_that_shows_more_than_its_text_has_no_picture():
    content = pdf_pages(shown("a walrus"))
    assert picture.draw(content, 1, "a walrus", (), ()).width == picture.WIDTH
    with pytest.raises(Refused, match="more than its text says"):
        picture.draw(content, 1, "a wal", (), ())


def test_something_hidden_that_is_not_found_has_no_picture():
    with pytest.raises(Refused, match="not everything that is hidden"):
        picture.draw(pdf_pages(shown("a walrus")), 1, "a walrus, and a note", ("note",), ())


def test_letters_without_a_meaning_have_no_picture():
    codes = "".join(f"<{code:02x}> <{0xE000 + code:04x}>\n" for code in range(0x30, 0x3A))
    cmap = f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange 10 beginbfchar\n{codes}endbfchar endcmap"
    content = pdf_pages(shown("4111111111111111"), more=[f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream"])
    content = content.replace(b"/BaseFont/Helvetica>>", b"/BaseFont/Helvetica/ToUnicode 6 0 R>>")
    with pytest.raises(Refused, match="no known meaning"):
        picture.draw(content, 1, "", (), ())


@pytest.mark.parametrize("page", [0, 2, 999_999])
def test_a_page_that_is_not_there_has_no_picture(drawn, page):
    with pytest.raises(NotFound):
        drawn(pdf_pages(shown("a walrus")), page=page)


def outcome(told, rows, *, more=b""):
    packed = base64.b64encode(zlib.compress(rows) + more).decode()
    return Extracted("png", json.dumps(told), (Unit((), packed),))


ROWS = b"\0" + bytes(range(6)) + b"\0" + bytes(range(6, 12))  # two by two


def test_pixels_that_are_the_ones_announced_become_a_picture():
    made = pictures._checked(outcome([2, 2, 3], ROWS))
    assert pixels(made.png) == [[(0, 1, 2), (3, 4, 5)], [(6, 7, 8), (9, 10, 11)]]
    assert made.left_out == 3
    at = 8
    for kind, size in ((b"IHDR", 13), (b"IDAT", len(zlib.compress(ROWS))), (b"IEND", 0)):
        length, found = struct.unpack(">I4s", made.png[at : at + 8])
        assert (found, length) == (kind, size)
        [check] = struct.unpack(">I", made.png[at + 8 + size : at + 12 + size])
        assert check == zlib.crc32(made.png[at + 4 : at + 8 + size])
        at += 12 + size
    assert at == len(made.png)
    assert made.png[24:29] == bytes([8, 2, 0, 0, 0])


@pytest.mark.parametrize(
    ("told", "rows", "more"),
    [
        ([2, 1, 0], ROWS, b""), ([1, 2, 0], ROWS, b""), ([2, 3, 0], ROWS, b""), ([0, 0, 0], b"", b""), ([-2, -2, 0], ROWS, b""), ([0, 2, 0], b"\0\0", b""), ([2, 0, 0], b"", b""),
        ([2.0, 2, 0], ROWS, b""), ([True, 2, 0], b"\0aaa\0aaa", b""), ([2, 2, "0"], ROWS, b""), ([2, 2], ROWS, b""), ("no", ROWS, b""), ([4001, 1, 0], bytes(1 + 3 * 4001), b""), ([1, 4001, 0], bytes(4 * 4001), b""),
        ([2, 2, 0], ROWS + b"x", b""), ([2, 2, 0], ROWS, b"x"), ([2, 2, 0], b"\1" + ROWS[1:], b""), ([2, 2, 0], ROWS[:7] + b"\4" + ROWS[8:], b""),
    ],
)  # fmt: skip
def test_anything_else_becomes_none(told, rows, more):
    with pytest.raises((ValueError, TypeError)):
        pictures._checked(outcome(told, rows, more=more))


def test_a_picture_is_four_thousand_wide_or_high_at_most():
    assert pictures._checked(outcome([4000, 1, 0], bytes(1 + 3 * 4000))).left_out == 0
    assert pictures._checked(outcome([1, 4000, 0], bytes(4 * 4000))).left_out == 0


def test_what_is_cut_off_or_no_base64_becomes_none():
    for text in ("", "!!!!", base64.b64encode(zlib.compress(ROWS)[:-4]).decode(), base64.b64encode(ROWS).decode()):
        with pytest.raises((ValueError, zlib.error)):
            pictures._checked(Extracted("png", "[2, 2, 0]", (Unit((), text),)))


@pytest.mark.parametrize(("pointer", "page"), [("page 3", 3), ("page 3 lines 1-2", 3), ("slide 3", 0), ("", 0), ("attachment 'a' page 3", 0)])  # fmt: skip
def test_the_page_that_a_pointer_names_is_one_of_the_file_itself(pointer, page):
    assert pictures.page_of(pointer) == page
