"""The bench on real text: what it asks depends on the files alone, and a text that stands in two files is found in either."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from office_files import pdf_pages, shown

REPOSITORY = Path(__file__).resolve().parents[1]
PLACES = ("harbour", "kitchen", "library", "orchard", "railway", "theatre")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, place in enumerate(PLACES):
        sentence = f"The committee of the {place} agreed yesterday upon several further meetings"
        longer = f"{sentence} about lanterns and {place} gates which nobody had ever seen before in winter"
        text = f"{sentence}.\n\n{longer}.\n\nSee {place}_gate_open with --open-{place} or 0x00ab{number}f, {number + 3}.2.1."
        (folder / f"{place}-notes.txt").write_text(text, encoding="utf-8")
    copy = folder / "copies"
    copy.mkdir()
    (copy / "harbour-again.html").write_text(
        "<html><body><p>The committee of the <b>harbour</b> agreed\nyesterday upon several further meetings.</p></body></html>",
        encoding="utf-8",
    )
    return folder


def bench(*args: str | Path) -> str:
    command = [sys.executable, "-m", "bench", "real", *args]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=300).stdout


def test_real_measures_a_folder_and_asks_the_same_again_of_an_index_that_is_kept(folder: Path, tmp_path: Path) -> None:
    data, first, second = tmp_path / "data", tmp_path / "first.json", tmp_path / "second.json"
    told = bench(folder, "--data", data, "--queries", "4", "--out", first)
    assert "context index, unchanged" in told
    bench(folder, "--data", data, "--queries", "4", "--out", second, "--skip-index")
    one, two = (json.loads(file.read_text(encoding="utf-8")) for file in (first, second))
    assert one["first"]["cpu"] > 0
    assert one["first"]["peak_mb"] > 0
    assert one["sizes"]["segments"] >= len(PLACES)
    asked = [(a["group"], a["query"], a["path"], a["rank"]) for a in one["asked"]]
    assert asked == [(a["group"], a["query"], a["path"], a["rank"]) for a in two["asked"]]
    assert {"sentence", "14 words", "name", "identifier", "words"} >= {group for group, *_ in asked} >= {"sentence"}
    assert all(rank == 1 for group, _, _, rank in asked if group == "sentence")


def test_a_sentence_that_stands_in_two_files_is_answered_by_either(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    from bench import _known

    items = {item.query: item for item in _known.items(folder, 8, 1) if item.group == "sentence"}
    about_harbour = next(item for query, item in items.items() if "harbour" in query)
    answering = {path.name for path in folder.rglob("*.*") if about_harbour.answers(path)}
    assert answering == {"harbour-notes.txt", "harbour-again.html"}


def test_books_pdf_and_office_documents_answer_and_so_does_a_source_whose_words_have_marks_between_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    from bench import _known

    sentence = "The committee of the harbour agreed yesterday upon several further meetings"
    with zipfile.ZipFile(folder / "book.epub", "w") as book:
        book.writestr("text/one.xhtml", f"<p>{sentence.replace('harbour', '<i>harbour</i>')}.</p>")
    (folder / "pages.pdf").write_bytes(pdf_pages(shown(sentence)))
    with zipfile.ZipFile(folder / "talk.pptx", "w") as slides:
        slides.writestr("ppt/slides/slide1.xml", f"<a:t>{sentence.replace(' of', '</a:t><a:t> of')}</a:t>")
    (folder / "talk.ppt").write_bytes(b"\xd0\xcf\0" + sentence.encode("utf-16-le"))
    (folder / "letter.doc").write_bytes(b"\xd0\xcf\0" + sentence.encode("latin-1"))
    (folder / "broken.pdf").write_bytes(b"no pages")
    (folder / "broken.epub").write_bytes(b"no book")
    (folder / "source.rst").write_text(sentence.replace("harbour", "``harbour``,\n"), encoding="utf-8")
    [item] = [item for item in _known.items(folder, 8, 1) if item.query == sentence]
    answering = ["book.epub", "pages.pdf", "source.rst", "talk.pptx", "talk.ppt", "letter.doc"]
    added = (*answering, "broken.pdf", "broken.epub")
    assert [name for name in added if item.answers(folder / name)] == answering


def test_a_heading_is_answered_by_a_section_of_a_manual_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    from bench import _known

    (tmp_path / "class.html").write_text("<h1>A class</h1><h2>Detailed Description</h2><p>Text.</p>", encoding="utf-8")
    page = tmp_path / "class.3.gz"
    page.write_bytes(gzip.compress(b'.TH class 3\n.SH "Detailed Description"\n.PP\nText.\n.SH SEE ALSO\n'))
    items = [item for item in _known.items(tmp_path, 8, 1) if item.query == "detailed description"]
    assert [item.answers(page) for item in items] == [True]


def test_words_are_taken_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    from bench import _known

    words = {
        word
        for seed in range(20)
        for item in _known.items(folder, 8, seed)
        if item.group == "words"
        for word in item.query.split()
    }
    texts = " ".join(_known.text_of(path) for path in _known.shown_files(folder))
    assert words
    assert words <= set(re.findall(r"[a-z]+", texts))


def test_nothing_is_taken_from_an_address_and_a_packed_pdf_or_another_case_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    from bench import _known

    (folder / "addresses.txt").write_text(
        "\n".join(f"name{n}.zqfamily@zqmail.example and zqperson@zqpost.example or zqreal-name." for n in range(9)),
        encoding="utf-8",
    )
    items = [item for seed in range(9) for item in _known.items(folder, 60, seed)]
    assert not [item.query for item in items if "zqm" in item.query or "zqp" in item.query or "zqf" in item.query]
    [item, *_] = [item for item in items if item.query == "zqreal-name"]
    (folder / "pages.pdf.gz").write_bytes(gzip.compress(pdf_pages(shown("Zqreal-Name it is"))))
    (folder / "other.txt").write_text("zqreal name", encoding="utf-8")
    assert [name for name in ("pages.pdf.gz", "other.txt") if item.answers(folder / name)] == ["pages.pdf.gz"]
