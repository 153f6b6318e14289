"""Write small Office files, OpenDocument files, books and PDFs by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STRICT_W = 'xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for name, long in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
        ("style", "style"),
        ("svg", "svg-compatible"),
    )
)
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def zipped(parts: Mapping[str, str | bytes], stored: Sequence[str] = ()) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED)
    return made.getvalue()


def relations(targets: Mapping[str, str]) -> str:
    """Relations named rId1, rId2 … from `kind` or `kind#any` to targets."""
    lines = [
        f'<Relationship Id="rId{number}" Type="{_RELATIONS}{kind.partition("#")[0]}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), 1)
    ]
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{"".join(lines)}</Relationships>'


def office(main: str, content_type: str, parts: Mapping[str, str | bytes]) -> bytes:
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="application/vnd.{content_type}.main+xml"/></Types>'
    )
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The  Title</dc:title></cp:coreProperties>'
    )
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{_RELATIONS}officeDocument" Target="{main}"/>'
        '<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" '
        'Target="docProps/core.xml"/></Relationships>'
    )
    return zipped({"[Content_Types].xml": types, "_rels/.rels": rels, "docProps/core.xml": core, **parts})


def docx(body: str, related: Mapping[str, str] | None = None, namespace: str = W) -> bytes:
    """A document with this body; `related`: relation kind → XML of the part."""
    parts: dict[str, str] = {
        "word/document.xml": f"<w:document {namespace} {R} {MC} {A}><w:body>{body}</w:body></w:document>"
    }
    names = {kind: f"{kind.replace('#', '')}.xml" for kind in related or {}}
    parts["word/_rels/document.xml.rels"] = relations(names)
    parts |= {f"word/{names[kind]}": content for kind, content in (related or {}).items()}
    return office("word/document.xml", "openxmlformats-officedocument.wordprocessingml.document", parts)


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(slides: Sequence[str], extra: Mapping[str, str] | None = None) -> bytes:
    """A presentation whose slides have these shapes, listed in this order though their parts are numbered backwards."""
    count = len(slides)
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="rId{n + 1}"/>' for n in range(count))
    parts = {
        "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"slide#{n}": f"slides/slide{count - n}.xml" for n in range(count)}
        ),
    }
    for n, shapes in enumerate(slides):
        parts[f"ppt/slides/slide{count - n}.xml"] = (
            f"<p:sld {P} {A} {R} {MC}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    parts |= extra or {}
    return office("ppt/presentation.xml", "openxmlformats-officedocument.presentationml.presentation", parts)


def shape(*paragraphs: str, place: str = "") -> str:
    text = "".join(f"<a:p><a:r><a:t>{paragraph}</a:t></a:r></a:p>" for paragraph in paragraphs)
    holder = f'<p:nvPr><p:ph type="{place}"/></p:nvPr>' if place else "<p:nvPr/>"
    return f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/>{holder}</p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>'


def xlsx(sheets: Mapping[str, str], strings: Sequence[str] = (), extra: Mapping[str, str] | None = None) -> bytes:
    """A workbook: sheet names with the XML of their rows."""
    kinds = {f"worksheet#{n}": f"worksheets/sheet{n}.xml" for n in range(1, len(sheets) + 1)}
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1))
    dates = '<styleSheet {}><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>'
    parts = {
        "xl/workbook.xml": f"<workbook {S} {R}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            {**kinds, "sharedStrings": "sharedStrings.xml", "styles": "styles.xml"}
        ),
        "xl/sharedStrings.xml": f"<sst {S}>{''.join(f'<si><t>{text}</t></si>' for text in strings)}</sst>",
        "xl/styles.xml": dates.format(S),
    }
    for n, rows in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/sheet{n}.xml"] = f"<worksheet {S} {R}><sheetData>{rows}</sheetData></worksheet>"
    return office("xl/workbook.xml", "openxmlformats-officedocument.spreadsheetml.sheet", {**parts, **(extra or {})})


def odf(kind: str, body: str, styles: str = "") -> bytes:
    """`kind`: text, spreadsheet or presentation."""
    tag = f"office:{kind}"
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {ODF}><office:body><{tag}>{body}</{tag}></office:body></office:document-content>",
            "styles.xml": f"<office:document-styles {ODF}>{styles}</office:document-styles>",
            "meta.xml": f'<office:document-meta {ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>A &amp; B</dc:title></office:meta></office:document-meta>',
        },
        stored=["mimetype"],
    )


def epub(
    chapters: Mapping[str, str], contents: str = "", extra: Mapping[str, str] | None = None, items: str = ""
) -> bytes:
    """A book whose spine is these chapters, in this order."""
    listed = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f'<metadata><dc:title>A Book</dc:title></metadata><manifest>{listed}<item id="nav" href="nav.xhtml" properties="nav"/>{items}</manifest>'
            f"<spine>{spine}</spine></package>",
            "OEBPS/nav.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body><nav>{contents}</nav></body></html>',
            **{f"OEBPS/{name}": content for name, content in chapters.items()},
            **(extra or {}),
        },
        stored=["mimetype"],
    )


def pdf(objects: Sequence[str | bytes], trailer: str = "") -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    made = b"%PDF-1.7\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(made))
        made += b"%d 0 obj\n" % number + (content.encode() if isinstance(content, str) else content) + b"\nendobj\n"
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(
        b"%010d 00000 n \n" % o for o in offsets
    )
    made += f"trailer<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF".encode()
    return made


def pdf_pages(
    *contents: str, page: str = "", more: Sequence[str] = (), catalogue: str = "", trailer: str = ""
) -> bytes:
    """A PDF with a page for each content stream. Objects: 1 catalogue, 2 pages, 3 font, then a page and its content each; then `more`."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(contents)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{catalogue}>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(contents)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for n, content in enumerate(contents):
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {5 + 2 * n} 0 R/Resources<</Font<</F 3 0 R>>>>{page}>>",
            f"<</Length {len(content)}>>stream\n{content}\nendstream",
        ]
    return pdf([*objects, *more], trailer)


def shown(*lines: str) -> str:
    """A content stream that shows these lines one below the other."""
    return "BT /F 12 Tf 50 700 Td " + " 0 -14 Td ".join(f"({line}) Tj" for line in lines) + " ET"
