"""Word and PowerPoint files of before 2007, built byte by byte."""

from __future__ import annotations

import struct
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ole_writer import compound
from smart_context import pointer
from smart_context.model import Extracted, Limits, Skipped
from smart_context.sources import sniff
from smart_context.sources.extract import Job, Meter, Refused, extract, legacy_doc, legacy_ppt


def read(data: bytes, name: str, limits: Limits | None = None) -> Extracted:
    found = extract(data, name, limits or Limits())
    assert isinstance(found, Extracted), found
    return found


# --- Word --------------------------------------------------------------------------------------------------------

TEXT_AT = 0x800


def word(pieces: list[tuple[str, bool]], *, flags: int = 0, formatting: bytes = b"") -> bytes:
    """A Word 97 file of pieces, each in Unicode (True) or in one byte a character."""
    text, places, counts = b"", [], [0]
    for piece, is_wide in pieces:
        at = TEXT_AT + len(text)
        places.append(at if is_wide else 0x40000000 | at * 2)
        text += piece.encode("utf-16-le" if is_wide else "cp1252")
        counts.append(counts[-1] + len(piece))
    plan = b"".join(struct.pack("<L", count) for count in counts)
    plan += b"".join(struct.pack("<HLH", 0, place, 0) for place in places)
    table = formatting + struct.pack("<BL", 2, len(plan)) + plan
    head = bytearray(TEXT_AT)
    struct.pack_into("<HHHHH", head, 0, 0xA5EC, 0x00C1, 0, 0x0409, 0)
    struct.pack_into("<H", head, 0x0A, 0x0200 | flags)
    struct.pack_into("<LL", head, 0x01A2, 0, len(table))
    return compound(
        {"WordDocument": bytes(head) + text, "1Table": table, "\x05SummaryInformation": summary("The Plan")}
    )


def summary(title: str) -> bytes:
    value = struct.pack("<LL", 0x1E, len(title) + 1) + title.encode("cp1252") + b"\0"
    section = struct.pack("<LLLLLL", 0, 2, 1, 24, 2, 32) + struct.pack("<LHH", 2, 1252, 0) + value
    return struct.pack("<HHL16sL16sL", 0xFFFE, 0, 0, b"", 1, b"", 48) + section


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([("One\rTwo\r", False)], "One\nTwo"),
        ([("Größe – ", False), ("größer 😀\r", True)], "Größe – größer 😀"),
        ([("a\x07b\x07\x07c\x07\r", False)], "a\tb\t\tc"),
        ([("see \x13 HYPERLINK x \x14the page\x15 now\r", False)], "see the page now"),
        ([("\x13 IF \x13 PAGE \x141\x15 > 2 \x14shown\x15\r", False)], "shown"),
        ([("open \x13 field that never ends\r", False)], "open field that never ends"),
        (
            [("pic\x01ture\x08 note\x02 non\x1ebreaking soft\x1fhyphen\r", False)],
            "picture note non-breaking softhyphen",
        ),
        ([("line\x0bbreak\x0cpage\r", False)], "line\nbreak\npage"),
    ],
)
def test_a_word_document_is_its_paragraphs(pieces, expected):
    found = read(word(pieces), "a.doc")
    assert (found.kind, found.title) == ("doc", "The Plan")
    assert [(unit.pointer, unit.divisible, unit.text) for unit in found.units] == [((), "paragraphs", expected)]


def test_formatting_before_the_pieces_is_passed_over():
    data = word([("text\r", False)], formatting=struct.pack("<BH", 1, 6) + b"abcdef")
    assert read(data, "a.doc").units[0].text == "text"


def test_a_password_is_said():
    found = extract(word([("text\r", False)], flags=0x0100), "a.doc", Limits())
    assert found == Skipped("doc", "encrypted", "a password is needed")


def test_word_6_is_one_run_in_the_code_page_of_its_language():
    text = "Привет\rмир\r".encode("cp1251")
    head = bytearray(0x300)
    struct.pack_into("<HHHHHH", head, 0, 0xA5DC, 0x0065, 0, 0x0419, 0, 0)
    struct.pack_into("<LL", head, 0x18, 0x300, 0x300 + len(text))
    assert read(compound({"WordDocument": bytes(head) + text}), "a.doc").units[0].text == "Привет\nмир"


def test_word_2_is_one_run_without_a_container():
    text = b"Member of the board\r\nCaf\xe9\r\n"
    head = bytearray(0x180)
    struct.pack_into("<HHHHHH", head, 0, 0xA5DB, 0x002D, 0, 0x0409, 0, 0)
    struct.pack_into("<LL", head, 0x18, 0x180, 0x180 + len(text))
    assert read(bytes(head) + text, "a.doc").units[0].text == "Member of the board\nCafé"
    assert read(bytes(head[:12]), "a.doc").units == ()


def test_pieces_that_point_at_the_same_text_end():
    data = word([("x" * 1000, False)] * 40)
    limits = Limits(max_text_chars=5_000)
    found = read(data, "a.doc", limits)
    assert len(found.units[0].text) <= 5_000


# --- PowerPoint --------------------------------------------------------------------------------------------------


def atom(kind: int, content: bytes, instance: int = 0) -> bytes:
    return struct.pack("<HHL", instance << 4, kind, len(content)) + content


def box(kind: int, *children: bytes, instance: int = 0) -> bytes:
    content = b"".join(children)
    return struct.pack("<HHL", instance << 4 | 15, kind, len(content)) + content


def says(text: str, kind: int = 1) -> bytes:
    wide = not text.isascii()
    body = atom(4000, text.encode("utf-16-le")) if wide else atom(4008, text.encode("latin-1"))
    return atom(3999, struct.pack("<L", kind)) + body


def slide(*texts: bytes, notes: int = 0) -> bytes:
    return box(1006, atom(1007, struct.pack("<L8sLLL", 0, b"", 0, notes, 0)), box(1036, *texts))


def listed(persist: int, number: int, *texts: bytes) -> bytes:
    return atom(1011, struct.pack("<LLLLL", persist, 0, len(texts), number, 0)) + b"".join(texts)


def powerpoint(records: dict[int, bytes], *, current: bool = True, token: int = 0xE391C05F) -> bytes:
    """A presentation of numbered records, the first of them the document."""
    stream, places = b"", {}
    for number, record in records.items():
        places[number] = len(stream)
        stream += record
    directory = len(stream)
    stream += atom(6002, b"".join(struct.pack("<LL", 1 << 20 | number, at) for number, at in places.items()))
    edit = len(stream)
    stream += atom(4085, struct.pack("<LLLLLLL", 0, 0, 0, directory, min(records), 0, 0))
    user = atom(4086, struct.pack("<LLL", 20, token, edit if current else 0xFFFFFF) + b"\0" * 8)
    return compound({"PowerPoint Document": stream, "Current User": user})


MASTER_PROMPT = box(0xF004, box(0xF011, atom(3011, struct.pack("<LBB", 0, 1, 0))), box(0xF00D, says("Click to edit")))
MASTER_TEXT = box(0xF004, box(0xF00D, says("Confidential")))
RECORDS = {
    1: box(
        1000,
        box(4080, listed(9, 0x80000001), instance=1),
        box(
            4080,
            listed(4, 257, says("Second", 0)),
            listed(3, 256, says("First title", 0), says("point one")),
            instance=0,
        ),
        box(4080, listed(5, 300), instance=2),
    ),
    3: slide(says("in a box größer"), says("*"), notes=300),
    4: slide(box(5000, box(12000, atom(4026, "Anna".encode("utf-16-le")), atom(4026, "why?".encode("utf-16-le"), 1)))),
    5: box(1008, box(1036, says("say this aloud"))),
    9: box(1016, box(1036, MASTER_PROMPT, MASTER_TEXT)),
}


def test_slides_come_in_the_order_of_the_show_with_notes_and_comments():
    found = read(powerpoint(RECORDS), "a.ppt")
    assert [(pointer.format(unit.pointer), unit.heading, unit.text) for unit in found.units] == [
        ("slide 1", "Second", "Second\nAnna\nwhy?"),
        ("slide 2", "First title", "First title\npoint one\nin a box größer\nNotes:\nsay this aloud"),
        ("section 'Master'", "", "Confidential"),
    ]


def test_without_a_directory_slides_come_as_they_stand():
    found = read(powerpoint({3: RECORDS[3], 4: RECORDS[4]}, current=False), "a.ppt")
    assert [unit.text for unit in found.units] == ["in a box größer", "Anna\nwhy?"]


def test_an_encrypted_presentation_is_refused():
    found = extract(powerpoint(RECORDS, token=0xF3D1C4DF), "a.ppt", Limits())
    assert found == Skipped("ppt", "encrypted", "a password is needed")


def test_a_slide_listed_again_and_again_ends():
    shown = slide(says("again " * 2000))
    document = box(1000, box(4080, *(listed(2, 256 + n) for n in range(5000)), instance=0))
    found = read(powerpoint({1: document, 2: shown}), "a.ppt")
    assert 0 < len(found.units) < 5000
    assert found.notes == ("cut: records are referred to again and again",)


def test_records_nest_as_deep_as_they_like():
    record = says("deep")
    for _ in range(3000):
        record = box(1036, record)
    extract(powerpoint({1: box(1000), 2: box(1006, record, says("flat"))}), "a.ppt", Limits())


# --- hostile bytes -----------------------------------------------------------------------------------------------

VALID = {
    legacy_doc: word([("One \x13x\x14two\x15\r", False), ("größer\r", True)]),
    legacy_ppt: powerpoint(RECORDS),
}


@pytest.mark.parametrize("reader", [legacy_doc, legacy_ppt], ids=["doc", "ppt"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_readers_of_old_formats_refuse_or_read_whatever_comes(reader, data):
    raw = bytearray(VALID[reader])
    for _ in range(data.draw(st.integers(1, 12))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    source = bytes(raw[: data.draw(st.integers(1, len(raw)))])
    # One that was opened to tell its kind is read as one that was not.
    first, again = (outcome(reader, source, opened) for opened in (None, sniff.opened(source, "a")[1]))
    assert first == again


def outcome(reader: ModuleType, source: bytes, opened: object) -> Extracted | str:
    limits = Limits()
    try:
        found = reader.read(source, Job("a", limits, Meter(limits), opened=opened))
    except Refused as refusal:
        return str(refusal)
    assert isinstance(found, Extracted)
    return found


@pytest.mark.parametrize("name", ["WordDocument", "PowerPoint Document"])
@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=600), table=st.binary(max_size=300))
def test_streams_of_noise_are_refused_or_read(name, content, table):
    data = compound({name: b"\xec\xa5\xc1\0" + content, "0Table": table, "1Table": table, "Current User": table})
    assert isinstance(extract(data, "a", Limits()), (Extracted, Skipped))
