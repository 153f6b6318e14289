"""Mail: EML, mbox and Outlook messages, with what is attached to them."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ole_writer import compound
from smart_context import pointer
from smart_context.model import Extracted, Limits, Skipped
from smart_context.sources.extract import compressed_rtf, extract


def read(data: bytes, name: str = "a.eml", limits: Limits | None = None) -> Extracted:
    found = extract(data, name, limits or Limits())
    assert isinstance(found, Extracted), found
    return found


def places(found: Extracted) -> list[tuple[str, str]]:
    return [(pointer.format(unit.pointer), unit.text) for unit in found.units]


HEAD = b"From: Anna <anna@example.org>\nTo: Ben <ben@example.org>\nDate: Mon, 3 Jun 2024 09:30:00 +0200\n"
SHOWN = "From: Anna <anna@example.org>\nTo: Ben <ben@example.org>\nDate: Mon, 3 Jun 2024 09:30:00 +0200\n"


def test_a_message_is_its_headers_and_its_body():
    found = read(HEAD + b"Subject: Budget\n\nThe numbers\nare in.\n")
    assert (found.kind, found.title, found.notes) == ("eml", "Budget", ())
    assert places(found) == [("message", SHOWN + "Subject: Budget\n\nThe numbers\nare in.")]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("=?utf-8?B?R3LDvMOfZQ==?=", "Grüße"),
        ("=?iso-8859-1?Q?Gr=FC=DFe_an?= =?iso-8859-1?q?_alle?=", "Grüße an alle"),
        ("=?utf-8?B?R3LD?=\n =?utf-8?B?vMOfZQ==?= aus Ulm", "Grüße aus Ulm"),
        ("=?x-unknown?B?aGVsbG8=?=", "hello"),
        ("=?utf-8?B?not base64!?=", "=?utf-8?B?not base64!?="),
        ("folded\n\tline", "folded line"),
    ],
)
def test_subjects_are_decoded(written, meant):
    assert read(HEAD + f"Subject: {written}\n\nx\n".encode()).title == meant


def test_bytes_in_a_header_are_read_as_text():
    assert read(HEAD + "Subject: Grüße\n\nx".encode()).title == "Grüße"
    assert read(HEAD + "Subject: Grüße\n\nx".encode("latin-1")).title == "Grüße"


@pytest.mark.parametrize(
    ("header", "body", "text"),
    [
        (b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64", b"R3LDvMOfZQ==", "Grüße"),
        (
            b"Content-Type: text/plain; charset=latin1\nContent-Transfer-Encoding: quoted-printable",
            b"Gr=FC=\n=DFe",
            "Grüße",
        ),
        (b"Content-Type: text/plain; charset=no-such", "Grüße".encode(), "Grüße"),
        (b"Content-Type: text/html", b"<style>x</style><p>One<p>Two &amp; three", "One\nTwo & three"),
        (b"Content-Type: text/plain\nContent-Transfer-Encoding: uuencode-no-such", b"as it is", "as it is"),
        (b"Content-Type: nonsense", b"plain", "plain"),
    ],
)
def test_bodies_are_decoded(header, body, text):
    found = read(HEAD + b"MIME-Version: 1.0\n" + header + b"\n\n" + body)
    assert found.units[0].text == SHOWN + "\n" + text


def alternative(plain: str, rich: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@b.c", "d@e.f", "s"
    message.set_content(plain)
    message.add_alternative(rich, subtype="html")
    return bytes(message)


def test_of_two_renderings_the_plain_one_is_read():
    found = read(alternative("The same words here", "<p>The same <b>words</b> here"))
    assert found.units[0].text.endswith("Subject: s\n\nThe same words here")


def test_both_renderings_are_read_where_they_differ():
    found = read(alternative("Your client cannot show this", "<p>Invoice number seven, payable within thirty days"))
    assert found.units[0].text.endswith(
        "Your client cannot show this\n\nInvoice number seven, payable within thirty days"
    )


def with_attachments() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@b.c", "d@e.f", "papers"
    message.set_content("See attached.")
    message.add_attachment(b"first,second\n1,2\n", maintype="text", subtype="csv", filename="t.csv")
    message.add_attachment(b"<h1>Plan</h1>text", maintype="text", subtype="html", filename="päge's.html")
    message.add_attachment(b"again\n", maintype="text", subtype="plain", filename="t.csv")
    message.add_attachment(b"\x89PNG\r\n\x1a\n\0\0", maintype="image", subtype="png", filename="x.png")
    message.add_attachment(b"\x78\x9f\x3e\x22", maintype="application", subtype="ms-tnef", filename="winmail.dat")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "x@y.z", "inner one"
    inner.set_content("deep words")
    message.add_attachment(inner)
    return bytes(message)


def test_attachments_are_read_in_their_own_place():
    found = read(with_attachments())
    assert places(found) == [
        (
            "message",
            "From: a@b.c\nTo: d@e.f\nSubject: papers\nAttachments: t.csv, päge's.html, t.csv, x.png, inner one\n\nSee attached.",
        ),
        ("attachment 't.csv'", "first,second\n1,2\n"),
        ("attachment 'päge''s.html' section 'Plan'", "Plan\ntext"),
        ("attachment 't.csv' (2)", "again\n"),
        ("attachment 'inner one' message", "From: x@y.z\nSubject: inner one\n\ndeep words"),
    ]
    assert found.notes == (
        "attachment 'x.png': a picture: only OCR can read it",
        "attachment 'winmail.dat' skipped: Outlook's own packing (TNEF)",
    )


@pytest.mark.parametrize(
    "header",
    [
        "attachment; filename*=UTF-8''p%C3%A4ge.txt",
        "attachment; filename*0*=UTF-8''p%C3%A4; filename*1=ge.txt",
        'attachment; filename="=?utf-8?Q?p=C3=A4ge.txt?="',
        'attachment; filename="päge.txt"',
    ],
)
def test_names_of_attachments_are_decoded(header):
    source = f"Subject: s\nFrom: a@b.c\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: {header}\n\ntext\n--b--\n"
    assert places(read(source.encode()))[1] == ("attachment 'päge.txt'", "text")


def test_a_message_without_its_closing_boundary_is_read():
    source = HEAD + b'Content-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain\n\nstill here\n'
    assert read(source).units[0].text.endswith("still here")


def test_messages_in_messages_end_at_the_depth_limit():
    message = EmailMessage()
    message["From"], message["Subject"] = "a@b.c", "0"
    message.set_content("core")
    for level in range(1, 6):
        outer = EmailMessage()
        outer["From"], outer["Subject"] = "a@b.c", str(level)
        outer.set_content(f"level {level}")
        outer.add_attachment(message)
        message = outer
    found = read(bytes(message), limits=Limits(max_depth=2))
    assert [place for place, _ in places(found)] == [
        "message",
        "attachment '4' message",
        "attachment '4' attachment '3' message",
    ]
    assert found.notes == (
        "attachment '4': attachment '3': attachment '2' skipped: nested too deep (more than 2 levels)",
    )


def test_parts_nested_past_any_use_keep_their_words():
    source = "From: a@b.c\nSubject: x\nMIME-Version: 1.0\n"
    depth = 1200
    source += "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth))
    found = read((source + "Content-Type: text/plain\n\nhello there\n").encode())
    assert "hello there" in found.units[0].text


def test_only_so_many_attachments_are_read():
    part = "--b\nContent-Disposition: attachment; filename=n.txt\n\ntext\n"
    source = "From: a@b.c\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n\n" + part * 50 + "--b--\n"
    found = read(source.encode(), limits=Limits(max_entries=5))
    assert (len(found.units), found.notes) == (6, ("cut: too many entries: more than 5",))


def test_an_mbox_is_its_messages():
    envelope = b"From someone@example.org Mon Jun  3 09:30:00 2024\n"
    found = read(envelope + HEAD + b"Subject: one\n\nfirst\n\n" + envelope + HEAD + b"Subject: two\n\nsecond\n", "box")
    assert places(found) == [
        ("entry 'one' message", SHOWN + "Subject: one\n\nfirst"),
        ("entry 'two' message", SHOWN + "Subject: two\n\nsecond"),
    ]


@pytest.mark.parametrize(
    ("name", "source", "subjects"),
    [
        ("Inbox", "From - Mon Jun  3 09:30:00 2024\nX-Mozilla-Status: 0001\nFrom: a@b.c\nSubject: s\n\nbody\n", ["s"]),
        ("all.mbox", "From x@y Mon Jun  3 09:30:00 2024\nSubject: no sender\n\nbody\n", ["no sender"]),
        # Servers put more before the sender than is read to tell what a file is.
        ("takeout", "From 1@x Mon Jun  3 09:30:00 +0000 2024\n" + "Received: by x\n" * 900 + "From: a@b.c\nSubject: s\n\nb\n", ["s"]),
    ],
)  # fmt: skip
def test_an_mbox_with_few_or_many_headers_is_one(name, source, subjects):
    assert [place for place, _ in places(read(source.encode(), name))] == [f"entry '{s}' message" for s in subjects]


@pytest.mark.parametrize(
    "source",
    [
        "From Monday 10:30 on, bring:\nSubject: the topic\n\nand a pen, from: the drawer\n",
        "From: the desk\nSubject: a note\n\nno mail\n",
    ],
)
def test_text_that_begins_like_mail_is_text(source):
    found = extract(source.encode(), "note.txt", Limits())
    assert isinstance(found, Extracted)
    assert found.kind == "text"


def test_apple_mail_and_wide_letters_are_read():
    source = HEAD + b"Subject: s\n\nbody\n"
    assert (
        read(b"%d\n" % len(source) + source + b"<?xml version='1.0'?><plist/>", "a.emlx").units[0].text.endswith("body")
    )
    assert read(source.decode().encode("utf-16"), "a.eml").title == "s"


# --- Outlook -----------------------------------------------------------------------------------------------------


def text_property(number: int, text: str) -> dict[str, bytes]:
    return {f"__substg1.0_{number:04X}001F": text.encode("utf-16-le")}


def fixed(header: int, values: dict[int, int]) -> dict[str, bytes]:
    rows = b"".join(struct.pack("<HHLQ", 0x0003, number, 6, value) for number, value in values.items())
    return {"__properties_version1.0": b"\0" * header + rows}


def person(name: str, address: str, role: int) -> dict[str, bytes]:
    return {**text_property(0x3001, name), **text_property(0x39FE, address), **fixed(8, {0x0C15: role})}


SENT = int((datetime(2024, 6, 3, 9, 30, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10**7


def outlook(**more: object) -> bytes:
    tree = {
        **fixed(32, {0x0039: SENT, 0x3FFD: 1251}),
        **text_property(0x0037, "Quarter"),
        **text_property(0x0C1A, "Anna"),
        **text_property(0x5D01, "anna@example.org"),
        "__recip_version1.0_#00000000": person("Ben", "ben@example.org", 1),
        "__recip_version1.0_#00000001": person("Cleo", "cleo@example.org", 2),
    }
    return compound({**tree, **more})


OUTLOOK_HEAD = (
    "From: Anna <anna@example.org>\nTo: Ben <ben@example.org>\nCc: Cleo <cleo@example.org>\n"
    "Date: 2024-06-03 09:30:00 UTC\nSubject: Quarter"
)


@pytest.mark.parametrize(
    ("stream", "content", "body"),
    [
        ("1000001F", "Plain wörds\r\nhere".encode("utf-16-le"), "Plain wörds\nhere"),
        ("1000001E", "Русский".encode("cp1251"), "Русский"),
        ("10130102", b"<html><p>One<p>Two", "One\nTwo"),
        ("10090102", None, "rich text"),
    ],
)
def test_an_outlook_message_is_its_headers_and_its_body(stream, content, body):
    if content is None:
        raw = rb"{\rtf1\ansi rich text\par}"
        content = struct.pack("<LL4sL", len(raw) + 12, len(raw), b"MELA", 0) + raw
    found = read(outlook(**{f"__substg1.0_{stream}": content}), "a.msg")
    assert (found.kind, found.title) == ("msg", "Quarter")
    assert places(found) == [("message", f"{OUTLOOK_HEAD}\n\n{body}")]


def test_attachments_of_outlook_messages_are_read():
    inner = {**fixed(24, {}), **text_property(0x0037, "Inner"), **text_property(0x1000, "deep words")}
    found = read(
        outlook(
            **{
                "__attach_version1.0_#00000000": {
                    **fixed(8, {}),
                    **text_property(0x3707, "notes.txt"),
                    "__substg1.0_37010102": b"attached words",
                },
                "__attach_version1.0_#00000001": {
                    **fixed(8, {}),
                    **text_property(0x3001, "Inner"),
                    "__substg1.0_3701000D": inner,
                },
            }
        ),
        "a.msg",
    )
    assert places(found) == [
        ("message", f"{OUTLOOK_HEAD}\nAttachments: notes.txt, Inner"),
        ("attachment 'notes.txt'", "attached words"),
        ("attachment 'Inner' message", "Subject: Inner\n\ndeep words"),
    ]


def test_compressed_rtf_is_unpacked():
    # The example of the format's published description: a literal run and references into the preset dictionary.
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320a603368200bd12020776f726c64000a800fa0"
    )
    assert compressed_rtf.unpacked(packed).startswith(b"{\\rtf1\\ansi\\ansicpg1252")


@given(st.binary(max_size=300), st.integers(0, 2**32 - 1))
def test_compressed_rtf_ends_whatever_it_says(content, size):
    packed = struct.pack("<LL4sL", size, size, b"LZFu", 0) + content
    assert len(compressed_rtf.unpacked(packed)) <= 17 * len(content)


# --- hostile bytes -----------------------------------------------------------------------------------------------


VALID = (("a.eml", with_attachments()), ("a.msg", outlook(**text_property(0x1000, "x"))))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mail_readers_refuse_or_read_whatever_comes(data):
    name, source = data.draw(st.sampled_from(VALID))
    raw = bytearray(source)
    for _ in range(data.draw(st.integers(1, 12))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    found = extract(bytes(raw[: data.draw(st.integers(1, len(raw)))]), name, Limits())
    assert isinstance(found, (Extracted, Skipped))


@given(st.binary(max_size=400))
def test_any_bytes_after_a_header_are_a_message(body):
    source = b"From: a@b.c\nSubject: s\nDate: x\nTo: y\nContent-Type: multipart/mixed; boundary=b\n\n--b\n" + body
    assert isinstance(extract(source, "a.eml", Limits()), Extracted)
