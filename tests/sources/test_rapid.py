"""RapidOCR: what it reads, what it says it cannot, and the order of lines that it finds anywhere on a page."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scans import blank, needs_rapidocr, picture, see, words
from smart_context.errors import ConfigError
from smart_context.sources import boxes, rapidmodels
from smart_context.sources.boxes import Box
from smart_context.sources.extract.sight import Engine

LINES = ("The delivery left Hamburg on Tuesday", "and arrives in Oslo before the weekend.")
NUMBERS = st.floats(0, 3000, width=32)


def box(left: float, top: float, width: float = 400, height: float = 40) -> Box:
    return Box(((left, top), (left + width, top), (left + width, top + height), (left, top + height)))


def askew(found: Sequence[Box], degrees: float) -> list[Box]:
    angle = math.radians(degrees)
    return [
        Box(
            tuple(
                (x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle))
                for x, y in each.corners
            )
        )
        for each in found
    ]


TITLE, LEFT, RIGHT = (
    [box(0, 0, 1000)],
    [box(0, 80 + 50 * n) for n in range(4)],
    [box(500, 80 + 50 * n) for n in range(4)],
)


@pytest.mark.parametrize("degrees", [0, 2, -3])
def test_columns_are_read_one_after_the_other_below_what_spans_them(degrees: float) -> None:
    wanted = askew([*TITLE, *LEFT, *RIGHT], degrees)
    met = [wanted[at] for at in (3, 8, 0, 5, 1, 7, 2, 6, 4)]
    assert [each for each, _ in boxes.in_order(met)] == wanted


def test_pieces_of_a_line_are_read_from_left_to_right() -> None:
    pieces = [box(0, 3, 200), box(220, 0, 200), box(440, 2, 200)]
    assert [each for each, _ in boxes.in_order(pieces[::-1])] == pieces


def test_a_paragraph_begins_after_a_gap_and_at_the_head_of_a_column() -> None:
    found = [box(0, 0), box(0, 50), box(0, 150), box(0, 200), box(0, 250), box(500, 0), box(500, 50)]
    assert [begins for _, begins in boxes.in_order(found)] == [True, False, True, False, False, True, False]


@given(st.lists(st.builds(box, NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=30))
def test_every_box_is_read_once(found: list[Box]) -> None:
    assert sorted(each.corners for each, _ in boxes.in_order(found)) == sorted(each.corners for each in found)


def test_a_page_on_its_side_is_told_by_lines_that_stand_on_end() -> None:
    assert boxes.lie_on_their_side([box(0, 0, 40, 400), box(50, 0, 40, 300), box(0, 500, 100, 40)])
    assert not boxes.lie_on_their_side([box(0, 0), box(0, 50), box(0, 100, 20, 40)])
    assert not boxes.lie_on_their_side([])


def test_a_line_turned_over_twice_is_where_it_was() -> None:
    one = askew([box(100, 100)], 2)[0]
    assert one.turned(1000, 800) != one
    for (x, y), (u, v) in zip(one.turned(1000, 800).turned(1000, 800).corners, one.corners, strict=True):
        assert (x, y) == pytest.approx((u, v))


def test_scripts_that_it_does_not_know_are_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigError) as raised:
        rapidmodels.files(["en", "ru", "ara"])
    assert raised.value.message == "rapidocr cannot read: ru, ara"
    assert 'ocr.engine = "tesseract"' in (raised.value.hint or "")


@pytest.mark.skipif(rapidmodels.is_installed(), reason="the extra `rapidocr` is installed")
def test_the_extra_that_is_missing_is_named_with_what_to_install() -> None:
    with pytest.raises(ConfigError) as raised:
        rapidmodels.files(["zh", "deu"])
    assert raised.value.message == "the extra `rapidocr` is not installed"
    assert "[rapidocr]" in (raised.value.hint or "")


@pytest.fixture(scope="module")
def engine() -> Engine:
    from smart_context.sources.rapid import Rapid

    return Rapid(rapidmodels.files(["en"]))


@needs_rapidocr
@pytest.mark.parametrize("turned", [0, 1.5, -2, 90, 180, 270])
def test_a_page_is_read_however_it_lies(engine: Engine, turned: float) -> None:
    found = see(picture(*LINES, *LINES, *LINES, turned=turned), engine)
    assert words([unit.text for unit in found.units]) == words(LINES * 3)
    assert all(unit.certainty is not None and unit.certainty > 80 for unit in found.units)


@needs_rapidocr
def test_light_letters_on_dark_are_read(engine: Engine) -> None:
    from PIL import Image, ImageOps

    file = io.BytesIO()
    ImageOps.invert(Image.open(io.BytesIO(picture(*LINES)))).save(file, "PNG")
    assert words([unit.text for unit in see(file.getvalue(), engine).units]) == words(LINES)


@needs_rapidocr
@pytest.mark.parametrize("kind", ["white", "noise", "bars"])
def test_a_picture_without_text_gives_none(engine: Engine, kind: str) -> None:
    found = see(blank(kind), engine)
    assert (found.units, found.notes, found.unread_pages) == ((), ("a picture without text",), 0)


@needs_rapidocr
def test_a_picture_that_takes_too_long_is_given_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from smart_context.sources import rapid

    monkeypatch.setattr(rapid, "SECONDS", -1)
    found = see(picture(*LINES), engine)
    assert found.units == ()
    assert found.notes[-1].startswith("not read by OCR: took too long")
