"""Office documents, OpenDocument files and books: what is found where."""

from __future__ import annotations

import pytest

from office_files import (
    ODF,
    STRICT_W,
    A,
    P,
    R,
    S,
    W,
    docx,
    epub,
    odf,
    paragraph,
    pptx,
    relations,
    shape,
    xlsx,
    zipped,
)
from smart_context.model import Extracted, Limits, Part, Skipped, Unit
from smart_context.pointer import format as written
from smart_context.sources.extract import extract, xmlsafe

STYLES = f"""<w:styles {W}>
  <w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="Ring"><w:name w:val="Ring"/><w:basedOn w:val="Ring"/></w:style>
</w:styles>"""


def outcome(data: bytes, limits: Limits | None = None, name: str = "file") -> Extracted | Skipped:
    """What a reader makes of a file, which is the same where parts are read piece by piece, as large ones are."""
    found = extract(data, name, limits or Limits())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xmlsafe, "_SMALL", -1)
        assert extract(data, name, limits or Limits()) == found
    return found


def read(data: bytes, limits: Limits | None = None) -> Extracted:
    found = outcome(data, limits)
    assert isinstance(found, Extracted), found
    return found


def places(found: Extracted) -> list[tuple[str, str]]:
    return [(written(unit.pointer), unit.text) for unit in found.units]


def refusal(data: bytes) -> tuple[str, str]:
    found = outcome(data)
    assert isinstance(found, Skipped)
    return found.kind, found.reason


# DOCX


def test_a_document_is_cut_at_its_headings_however_they_are_made() -> None:
    body = (
        paragraph("before")
        + paragraph("Pricing", "H1")
        + paragraph("ten euros")
        + paragraph("Terms", "Mine")
        + paragraph("Pricing", "Kapitel")
        + '<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Direct</w:t></w:r></w:p>'
        + paragraph("end", "Ring")
    )
    found = read(docx(body, {"styles": STYLES}))
    assert found.title == "The Title"
    assert found.units == (
        Unit((), "before", divisible="paragraphs"),
        Unit((Part("section", "Pricing"),), "Pricing\nten euros", "Pricing", "paragraphs"),
        Unit((Part("section", "Terms"),), "Terms", "Terms", "paragraphs"),
        Unit((Part("section", "Pricing", nth=2),), "Pricing", "Pricing", "paragraphs"),
        Unit((Part("section", "Direct"),), "Direct\nend", "Direct", "paragraphs"),
    )


def test_the_strict_variant_reads_the_same() -> None:
    assert places(read(docx(paragraph("strict words"), namespace=STRICT_W))) == [("", "strict words")]


def test_pages_count_only_where_there_are_no_headings() -> None:
    rendered = "<w:p><w:r><w:t>end of one</w:t><w:lastRenderedPageBreak/><w:t> start of two</w:t></w:r></w:p>"
    hard = '<w:p><w:r><w:br w:type="page"/><w:t>next</w:t></w:r></w:p>'
    before = "<w:p><w:pPr><w:pageBreakBefore/></w:pPr><w:r><w:t>last</w:t></w:r></w:p>"
    assert places(read(docx(paragraph("a") + hard + before))) == [
        ("page 1", "a"),
        ("page 2", "next"),
        ("page 3", "last"),
    ]
    assert places(read(docx(paragraph("a") + rendered + paragraph("b") + hard))) == [
        ("page 1", "a\nend of one start of two"),
        ("page 2", "b\nnext"),
    ]
    headed = docx(paragraph("Top", "H1") + hard, {"styles": STYLES})
    assert places(read(headed)) == [("section 'Top'", "Top\nnext")]


def test_everything_that_can_be_read_in_word_is_found_once() -> None:
    box = (
        "<w:p><w:r><w:t>around </w:t></w:r><mc:AlternateContent>"
        "<mc:Choice Requires='wps'><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></mc:Choice>"
        "<mc:Fallback><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></mc:Fallback>"
        "</mc:AlternateContent><w:r><w:t>the box</w:t></w:r></w:p>"
    )
    table = (
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a1</w:t></w:r></w:p><w:p><w:r><w:t>more</w:t></w:r></w:p></w:tc><w:tc>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>ner</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:p/></w:tc></w:tr></w:tbl>"
    )
    changes = (
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>"
        "<w:ins><w:r><w:t>kept</w:t></w:r></w:ins><w:r><w:tab/><w:t>x</w:t><w:noBreakHyphen/><w:t>y</w:t><w:br/><w:t>z</w:t>"
        '<w:sym w:font="Symbol" w:char="03B1"/><w:sym w:font="Wingdings" w:char="F0E0"/></w:r>'
        "<w:r><w:instrText>HYPERLINK</w:instrText></w:r><w:hyperlink><w:r><w:t> link</w:t></w:r></w:hyperlink></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    note = f"<w:footnotes {W}><w:footnote><w:p><w:r><w:t>a footnote</w:t></w:r></w:p></w:footnote></w:footnotes>"
    head = f"<w:hdr {W}><w:p><w:r><w:t>Confidential</w:t></w:r></w:p></w:hdr>"
    chart = (
        '<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:strCache><c:pt><c:v>Revenue</c:v></c:pt>'
        "</c:strCache><c:numCache><c:pt><c:v>1</c:v></c:pt></c:numCache></c:chart>"
    )
    related = {"footnotes": note, "header#1": head, "header#2": head, "chart": chart}
    assert places(read(docx(box + table + changes, related))) == [
        ("", "boxed\naround the box\na1 more\tin ner\nkept x-y zα link\ncontrol"),
        ("section 'Headers and footers'", "Confidential"),
        ("section 'Footnotes'", "a footnote"),
        ("section 'Charts and diagrams'", "Revenue"),
    ]


def test_a_file_taken_into_the_text_is_read_like_any_other() -> None:
    chunk = "<html><body><p>from a web page</p></body></html>"
    found = read(docx(paragraph("own text"), {"aFChunk": chunk}))
    assert places(found) == [("", "own text"), ("section 'Inserted text'", "from a web page")]


def test_a_picture_says_what_it_shows() -> None:
    picture = (
        '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        '<wp:docPr id="1" name="x" descr="A red square"/></wp:inline></w:drawing></w:r></w:p>'
    )
    assert places(read(docx(picture))) == [("", "A red square")]


def test_entities_are_never_expanded() -> None:
    for declared in ('<!ENTITY e SYSTEM "file:///etc/passwd">', '<!ENTITY e "expanded">'):
        hostile = f"<!DOCTYPE x [{declared}]><w:document {W}><w:body>{paragraph('start &e; end')}</w:body></w:document>"
        data = zipped({"word/document.xml": hostile})
        (unit,) = read(data).units  # what refers to it stands as written, or is left out by older parsers
        assert unit.text.replace("&e; ", "") == "start end"


def test_what_stands_before_the_damage_is_kept() -> None:
    whole = paragraph("readable") + paragraph("lost")
    data = zipped({"word/document.xml": f"<w:document {W}><w:body>{whole}"[:-20]})
    found = read(data)
    assert places(found)[0][1].startswith("readable")
    assert found.notes
    assert refusal(zipped({"word/document.xml": "not xml"})) == ("docx", "damaged")
    deep = "<w:x>" * 3000 + paragraph("deep") + "</w:x>" * 3000
    assert refusal(docx(deep)) == ("docx", "damaged")


def test_a_bomb_is_read_up_to_the_limit() -> None:
    found = read(docx(paragraph("A" * 1000) * 2000), Limits(max_text_chars=50_000))
    assert sum(len(unit.text) for unit in found.units) <= 51_000
    assert found.notes == ("cut at 50,000 characters",)


# PPTX


def test_slides_come_in_the_order_of_the_presentation_with_all_that_belongs_to_them() -> None:
    table = "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>r1</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>c2</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>"
    group = f"<p:grpSp>{shape('in a group')}</p:grpSp>"
    doubled = f"<mc:AlternateContent><mc:Choice Requires='v2'>{shape('once')}</mc:Choice><mc:Fallback>{shape('once')}</mc:Fallback></mc:AlternateContent>"
    notes = f"<p:notes {P} {A}>{shape('say this')}{shape('7', place='sldNum')}</p:notes>"
    diagram = f"<dgm:dataModel xmlns:dgm='http://schemas.openxmlformats.org/drawingml/2006/diagram' {A}><dgm:t><a:p><a:r><a:t>step one</a:t></a:r></a:p></dgm:t></dgm:dataModel>"
    data = pptx(
        [
            shape("The Plan", place="title") + shape("first", "second") + shape("3", place="sldNum"),
            table + group + doubled,
        ],
        {
            "ppt/slides/_rels/slide1.xml.rels": relations(
                {"notesSlide": "../notesSlides/n.xml", "diagramData": "../diagrams/d.xml", "slideLayout": "../l.xml"}
            ),
            "ppt/notesSlides/n.xml": notes,
            "ppt/diagrams/d.xml": diagram,
        },
    )
    assert read(data).units == (
        Unit((Part("slide", first=1),), "The Plan\nfirst\nsecond", heading="The Plan"),
        Unit((Part("slide", first=2),), "r1\tc2\nin a group\nonce\nstep one\nNotes:\nsay this"),
    )


def test_a_damaged_slide_costs_only_itself() -> None:
    data = bytearray(pptx([shape("good"), shape("bad")]))
    at = data.index(b"ppt/slides/slide1.xml")
    data[at + 30] ^= 0xFF
    found = read(bytes(data))
    assert places(found)[0] == ("slide 1", "good")
    assert len(found.units) == 2
    assert len(found.notes) == 1


def test_one_slide_listed_again_and_again_stops_at_the_limit() -> None:
    ids = "".join(f'<p:sldId id="{n}" r:id="rId1"/>' for n in range(1000))
    loop = {"ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"}
    found = read(pptx([shape("hello " * 10)], loop), Limits(max_text_chars=600))
    assert (len(found.units), found.notes) == (11, ("cut at 600 characters",))


# sheets


def cell(reference: str, value: str, kind: str = "n", style: int = 0) -> str:
    return f'<c r="{reference}" t="{kind}" s="{style}"><v>{value}</v></c>'


def row(number: int, *cells: str) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


def test_a_sheet_reads_as_people_see_it() -> None:
    rows = row(2, cell("B2", "0", "s"), cell("C2", "1"), cell("D2", "0.30000000000000004"), cell("E2", "1", "b"))
    rows += row(4, cell("B4", "45322", style=1), cell("D4", "#DIV/0!", "e"), cell("E4", "-2.5E+3"))
    data = xlsx({"Q2": rows, "Leer": ""}, ["Total &#10;sales"])
    assert read(data) == Extracted(
        "xlsx",
        "The Title",
        (
            Unit(
                (Part("sheet", "Q2"),),
                "Total sales\t1\t0.3\tTRUE\n\n2024-01-31\t\t#DIV/0!\t-2500",
                divisible="rows",
                first=2,
            ),
            Unit((Part("sheet", "Leer"),), ""),
        ),
    )


def test_what_is_written_beside_cells_follows_the_sheet() -> None:
    drawn = f"<xdr:wsDr xmlns:xdr='http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing' {A}><a:p><a:r><a:t>in a box</a:t></a:r></a:p></xdr:wsDr>"
    comments = f"<comments {S}><commentList><comment><text><r><t>who </t></r><r><t>says?</t></r></text></comment></commentList></comments>"
    extra = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            {"drawing": "../drawings/d.xml", "comments": "../comments1.xml"}
        ),
        "xl/drawings/d.xml": drawn,
        "xl/comments1.xml": comments,
    }
    found = read(xlsx({"A": row(1, cell("A1", "7"))}, extra=extra))
    assert places(found) == [("sheet 'A'", "7"), ("sheet 'A'", "\nin a box\nwho says?")]


def test_two_cells_at_opposite_corners_are_read_without_the_rectangle_between() -> None:
    corners = row(1, cell("A1", "0", "s")) + row(1048576, cell("XFD1048576", "45322.5", style=1))
    found = read(xlsx({"S": corners}, ["first"]))
    assert found.units == (
        Unit((Part("sheet", "S"),), "first", divisible="rows", first=1),
        Unit((Part("sheet", "S"),), "2024-01-31 12:00:00", divisible="rows", first=1048576),
    )


def test_a_sheet_that_the_fast_reader_refuses_is_read_slowly() -> None:
    found = read(xlsx({"S": row(1, cell("A1", "99", "s"), cell("B1", "5"))}, ["only one"]))
    assert places(found) == [("sheet 'S'", "\t5")]


def test_rows_and_slides_before_the_damage_are_kept() -> None:
    cut = odf("presentation", "<draw:page><text:p>kept</text:p><text:p>lost")
    assert [unit.text.split("\n")[0] for unit in read(cut).units] == ["kept"]
    sheet = "<table:table table:name='S'><table:table-row><table:table-cell><text:p>kept</text:p></table:table-cell></table:table-row><table:table-row>"
    found = read(odf("spreadsheet", sheet))
    assert places(found) == [("sheet 'S'", "kept")]
    assert found.notes


def test_rows_beyond_the_limit_are_cut_at_a_row() -> None:
    rows = "".join(row(n, cell(f"A{n}", "123456")) for n in range(1, 100))
    found = read(xlsx({"S": rows}), Limits(max_text_chars=70))
    assert places(found) == [("sheet 'S'", "\n".join(["123456"] * 10))]
    assert found.notes == ("cut at 70 characters",)


# OpenDocument


def test_an_opendocument_text_is_cut_at_its_headings() -> None:
    body = (
        "<text:tracked-changes><text:deletion><text:p>deleted</text:p></text:deletion></text:tracked-changes>"
        "<text:p>one <text:span>two</text:span><text:s text:c='3'/>three<text:line-break/>four</text:p>"
        "<text:h>Chapter</text:h><text:p>see<text:note><text:note-body><text:p>the note</text:p></text:note-body></text:note> below</text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        "<text:p><draw:frame><svg:desc>a map</svg:desc></draw:frame></text:p>"
    )
    styles = "<style:header><text:p>Page top</text:p></style:header>"
    found = read(odf("text", body, styles))
    assert found.title == "A & B"
    assert places(found) == [
        ("", "one two three four"),
        ("section 'Chapter'", "Chapter\nthe note\nsee below\na\tb\na map"),
        ("section 'Headers and footers'", "Page top"),
    ]


def test_a_flat_text_reads_like_a_packed_one() -> None:
    flat = f'<?xml version="1.0"?><office:document {ODF} office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:p>flat</text:p></office:text></office:body></office:document>'
    assert places(read(flat.encode())) == [("", "flat")]


def test_slides_of_an_opendocument_presentation_have_titles_and_notes() -> None:
    body = (
        "<draw:page><draw:frame presentation:class='title'><draw:text-box><text:p>Hello</text:p></draw:text-box></draw:frame>"
        "<draw:frame><draw:text-box><text:p>points</text:p></draw:text-box></draw:frame>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>say it</text:p></draw:text-box></draw:frame></presentation:notes>"
        "</draw:page><draw:page/>"
    )
    master = (
        "<draw:frame presentation:class='footer'><draw:text-box><text:p>Draft</text:p></draw:text-box></draw:frame>"
        "<draw:frame presentation:class='page-number'><draw:text-box><text:p>7</text:p></draw:text-box></draw:frame>"
    )
    assert read(odf("presentation", body, master)).units == (
        Unit((Part("slide", first=1),), "Hello\npoints\nNotes:\nsay it", heading="Hello"),
        Unit((Part("slide", first=2),), ""),
        Unit((Part("section", "Headers and footers"),), "Draft", "Headers and footers", "paragraphs"),
    )


def test_repeated_cells_of_an_opendocument_sheet_do_not_explode() -> None:
    body = (
        "<table:table table:name='S'><table:table-row table:number-rows-repeated='3'><table:table-cell/></table:table-row>"
        "<table:table-row><table:table-cell table:number-columns-repeated='2'/>"
        "<table:table-cell><text:p>1,5</text:p><text:p>EUR</text:p></table:table-cell></table:table-row>"
        "<table:table-row table:number-rows-repeated='1048576'>"
        "<table:table-cell table:number-columns-repeated='16384'><text:p>x</text:p></table:table-cell></table:table-row>"
        "</table:table><table:table table:name='T'/>"
    )
    first, empty = read(odf("spreadsheet", body)).units
    assert (first.first, first.text.split("\n")[0], len(first.text) < 20_000) == (4, "\t\t1,5 EUR", True)
    assert empty == Unit((Part("sheet", "T"),), "")


def test_locked_files_are_refused_as_such() -> None:
    manifest = '<manifest:manifest xmlns:manifest="urn:x"><manifest:encryption-data/></manifest:manifest>'
    locked = zipped(
        {"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": manifest, "content.xml": "?"}
    )
    assert refusal(locked) == ("odt", "encrypted")


# EPUB


def page(body: str) -> str:
    return f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>A Book</title></head><body>{body}</body></html>"


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    chapters = {
        "z.xhtml": page("<p>a dedication</p>"),
        "a b.xhtml": page("<h1>One</h1><p>text <b>of</b> one</p>"),
        "c.xhtml": page("<p>no heading here</p>"),
    }
    found = read(epub(chapters, "<ol><li><a href='c.xhtml#x'>Epilogue</a></li></ol>"))
    assert found.title == "A Book"
    assert places(found) == [
        ("", "a dedication"),
        ("section 'One'", "One\ntext of one"),
        ("section 'Epilogue'", "Epilogue\nno heading here"),
    ]


def test_names_of_chapters_come_from_the_older_table_of_contents_too() -> None:
    ncx = (
        "<ncx xmlns='http://www.daisy.org/z3986/2005/ncx/'><navMap><navPoint><navLabel><text>Prologue</text></navLabel>"
        "<content src='a.xhtml'/></navPoint></navMap></ncx>"
    )
    item = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    book = epub({"a.xhtml": page("<p>words</p>")}, extra={"OEBPS/toc.ncx": ncx}, items=item)
    assert places(read(book)) == [("section 'Prologue'", "Prologue\nwords")]


def test_a_locked_chapter_costs_only_itself() -> None:
    lock = "<encryption xmlns='urn:x'><CipherReference URI='OEBPS/b.xhtml'/></encryption>"
    chapters = {"a.xhtml": page("<p>free</p>"), "b.xhtml": "\x01garbage"}
    found = read(epub(chapters, extra={"META-INF/encryption.xml": lock}))
    assert places(found) == [("", "free")]
    assert len(found.notes) == 1


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "odt", "epub"])
def test_every_truncation_of_a_file_ends_with_an_answer(kind: str) -> None:
    whole = {
        "docx": docx(paragraph("words " * 50)),
        "pptx": pptx([shape("words " * 50)]),
        "xlsx": xlsx({"S": row(1, cell("A1", "1"))}),
        "odt": odf("text", "<text:p>words</text:p>"),
        "epub": epub({"a.xhtml": page("<p>words</p>")}),
    }[kind]
    for cut in range(0, len(whole), 37):
        assert isinstance(outcome(whole[:cut], name=f"a.{kind}"), Extracted | Skipped)
        flipped = whole[:cut] + bytes([whole[cut] ^ 0x55]) + whole[cut + 1 :]
        assert isinstance(outcome(flipped, name=f"a.{kind}"), Extracted | Skipped)


def test_a_template_that_has_only_styles_has_no_text() -> None:
    styles = zipped(
        {"mimetype": "application/vnd.oasis.opendocument.text-template", "styles.xml": "<a/>"}, stored=["mimetype"]
    )
    assert read(styles).units == ()
    assert refusal(zipped({"mimetype": "application/vnd.oasis.opendocument.text"}, stored=["mimetype"])) == (
        "odt",
        "damaged",
    )
