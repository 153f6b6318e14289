"""Who wrote a file and when, as the file says itself."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from office_files import docx, epub, odf, paragraph, pdf_pages, shown, zipped
from ole_writer import compound
from smart_context.model import Extracted, Limits
from smart_context.sources.extract import extract
from smart_context.sources.extract.properties import day

CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>Plan</dc:title><dc:creator>Ann  Bell</dc:creator><dcterms:created>2019-01-02T03:04:05Z</dcterms:created>"
    "<dcterms:modified>2021-06-07T08:09:10Z</dcterms:modified></cp:coreProperties>"
)


def about(data: bytes, name: str) -> tuple[str, str, str]:
    found = extract(data, name, Limits())
    assert isinstance(found, Extracted), found
    return found.title, found.author, found.dated


def changed(data: bytes, part: str, old: str, new: str) -> bytes:
    """A zip with one part changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old.encode() in parts[part]
    parts[part] = parts[part].replace(old.encode(), new.encode())
    return zipped(parts, stored=["mimetype"])


def test_an_office_file_says_who_and_when() -> None:
    data = docx(paragraph("text"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        core = archive.read("docProps/core.xml").decode()
    assert about(changed(data, "docProps/core.xml", core, CORE), "a.docx") == ("Plan", "Ann Bell", "2021-06-07")


def test_an_open_document_says_who_and_when() -> None:
    more = "<dc:title>Plan</dc:title><dc:creator>Ann Bell</dc:creator><dc:date>2021-06-07T08:09:10.5</dc:date>"
    data = changed(odf("text", "<text:p>x</text:p>"), "meta.xml", "<dc:title>A &amp; B</dc:title>", more)
    assert about(data, "a.odt") == ("Plan", "Ann Bell", "2021-06-07")


def test_a_book_says_who_and_when() -> None:
    more = "<dc:title>Plan</dc:title><dc:creator>Ann Bell</dc:creator><dc:date>2021-06-07</dc:date>"
    data = changed(epub({"c.xhtml": "<p>x</p>"}), "OEBPS/book.opf", "<dc:title>A Book</dc:title>", more)
    assert about(data, "a.epub") == ("Plan", "Ann Bell", "2021-06-07")


def test_a_pdf_says_who_and_when() -> None:
    info = "<</Title(Plan)/Author(Ann Bell)/CreationDate(D:20200420174632+02'00')/ModDate(D:2022)>>"
    data = pdf_pages(shown("text"), more=[info], trailer="/Info 6 0 R")
    assert about(data, "a.pdf") == ("Plan", "Ann Bell", "2020-04-20")


def test_a_mail_says_who_and_when() -> None:
    source = b"From: Ann Bell <ann@example.org>\nDate: Tue, 3 Mar 2020 23:30:00 -0800\nSubject: Plan\n\nHello\n"
    assert about(source, "a.eml") == ("Plan", "Ann Bell <ann@example.org>", "2020-03-03")


def test_a_page_says_who_and_when() -> None:
    head = "<title>Plan</title><meta name=author content='Ann Bell'><meta property='article:published_time' content='2020-04-20T10:00'>"
    assert about(f"<html><head>{head}</head><body>x".encode(), "a.html") == ("Plan", "Ann Bell", "2020-04-20")


def test_front_matter_says_who_and_when() -> None:
    source = b"---\ntitle: Plan\nauthor: Ann Bell\ndate: 2020-04-20\n---\n\ntext\n"
    assert about(source, "a.md") == ("Plan", "Ann Bell", "2020-04-20")


def test_an_old_office_file_says_who_and_when() -> None:
    ticks = 132_000_000_000_000_000  # in April 2019
    values = [struct.pack("<LL", 0x1E, 5) + b"Ann\0\0\0\0\0", struct.pack("<LQ", 0x40, ticks)]
    table = struct.pack("<LLLLLL", 0, 2, 4, 24, 13, 24 + len(values[0]))
    summary = bytes(44) + struct.pack("<L", 48) + table + b"".join(values)
    sheet = struct.pack("<HHHHLL", 0x600, 5, 0, 0, 0, 6)
    stream = struct.pack("<HH", 0x809, len(sheet)) + sheet + struct.pack("<HH", 0x0A, 0)
    data = compound({"Workbook": stream, "\x05SummaryInformation": summary})
    assert about(data, "a.xls") == ("", "Ann", "2019-04-17")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2024-03-31", "2024-03-31"),
        ("2024-03-31T23:59:59Z", "2024-03-31"),
        ("20240331", "2024-03-31"),
        ("D:20240331120000Z", "2024-03-31"),
        ("Sun, 31 Mar 2024 10:00:00 +0000", "2024-03-31"),
        ("2024-02-31", ""),
        ("1601-01-01T00:00:00Z", ""),
        ("9999-12-31", ""),
        ("2024", ""),
        ("yesterday", ""),
        ("", ""),
        ("9" * 10_000, ""),
    ],
)
def test_a_date_is_a_day_or_nothing(text: str, found: str) -> None:
    assert day(text) == found


def test_an_author_is_one_line_and_not_long() -> None:
    name = "Ann \n" * 500
    source = f"<html><head><meta name=author content='{name}'></head><body>x".encode()
    _, author, _ = about(source, "a.html")
    assert author == ("Ann " * 50).strip()
    source = f"<html><head><meta name=author content='{'Ann ' * 47}jane.doe@example.org'></head><body>x".encode()
    assert about(source, "a.html")[1] == ("Ann " * 47).strip()
