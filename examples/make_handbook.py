"""Write the binary files of the sample folder `examples/handbook`: one PDF, DOCX, PPTX, XLSX and ZIP, byte for byte the same
each time. The text files beside them are written by hand.

    python examples/make_handbook.py [FOLDER]
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

STAMP = (2026, 1, 5, 9, 0, 0)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def main(folder: Path) -> None:
    """Write every binary sample below the folder."""
    write(folder / "policies/travel-policy.pdf", pdf(TRAVEL))
    write(folder / "projects/vendor-x-contract.docx", docx(CONTRACT))
    write(folder / "projects/roadmap-2026.pptx", pptx(ROADMAP))
    write(folder / "finance/budget-2026.xlsx", xlsx(BUDGET))
    write(folder / "finance/receipts-2025.zip", package(RECEIPTS))


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def package(parts: dict[str, str]) -> bytes:
    """Zip the parts with fixed times, so that the bytes never change."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return out.getvalue()


def content_types(overrides: dict[str, str]) -> str:
    rows = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in overrides.items())
    return (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{rows}</Types>'
    )


def relations(targets: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'


def docx(blocks: list[tuple[str, str]]) -> bytes:
    """A DOCX of (style, text) paragraphs; style is "Heading1" or ""."""
    paragraphs = "".join(
        "<w:p>"
        + (f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else "")
        + f"<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"
        for style, text in blocks
    )
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    return package(
        {
            "[Content_Types].xml": content_types(
                {"/word/document.xml": f"{kind}.document.main+xml", "/word/styles.xml": f"{kind}.styles+xml"}
            ),
            "_rels/.rels": relations([("officeDocument", "word/document.xml")]),
            "word/_rels/document.xml.rels": relations([("styles", "styles.xml")]),
            "word/styles.xml": f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="Heading1">'
            '<w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{paragraphs}</w:body></w:document>',
        }
    )


def xlsx(sheets: dict[str, list[list[str | float]]]) -> bytes:
    """An XLSX of named sheets of rows, with inline strings."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    names = "".join(f'<sheet name="{escape(n)}" sheetId="{i}" r:id="rId{i}"/>' for i, n in enumerate(sheets, 1))
    parts = {
        "[Content_Types].xml": content_types(
            {"/xl/workbook.xml": f"{kind}.sheet.main+xml"}
            | {f"/xl/worksheets/sheet{i}.xml": f"{kind}.worksheet+xml" for i in range(1, len(sheets) + 1)}
        ),
        "_rels/.rels": relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            [("worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(sheets) + 1)]
        ),
    }
    for i, rows in enumerate(sheets.values(), 1):
        body = "".join(
            f'<row r="{n}">{"".join(cell(n, c, v) for c, v in enumerate(r))}</row>' for n, r in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/sheet{i}.xml"] = f'<worksheet xmlns="{SHEET}"><sheetData>{body}</sheetData></worksheet>'
    return package(parts)


def cell(row: int, column: int, value: str | float) -> str:
    place = f'r="{"ABCDEFGH"[column]}{row}"'
    if isinstance(value, str):
        return f'<c {place} t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c {place}><v>{value}</v></c>"


def pptx(slides: list[tuple[str, list[str], str]]) -> bytes:
    """A PPTX of (title, bullets, notes) slides."""
    kind = "application/vnd.openxmlformats-officedocument.presentationml"
    count = range(1, len(slides) + 1)
    parts = {
        "[Content_Types].xml": content_types(
            {"/ppt/presentation.xml": f"{kind}.presentation.main+xml"}
            | {f"/ppt/slides/slide{i}.xml": f"{kind}.slide+xml" for i in count}
            | {f"/ppt/notesSlides/notesSlide{i}.xml": f"{kind}.notesSlide+xml" for i in count}
        ),
        "_rels/.rels": relations([("officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{SLIDES}" xmlns:r="{OFFICE}"><p:sldIdLst>'
        + "".join(f'<p:sldId id="{255 + i}" r:id="rId{i}"/>' for i in count)
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations([("slide", f"slides/slide{i}.xml") for i in count]),
    }
    for i, (title, bullets, notes) in enumerate(slides, 1):
        parts[f"ppt/slides/slide{i}.xml"] = tree("sld", shape("title", [title]) + shape("body", bullets))
        parts[f"ppt/slides/_rels/slide{i}.xml.rels"] = relations([("notesSlide", f"../notesSlides/notesSlide{i}.xml")])
        parts[f"ppt/notesSlides/notesSlide{i}.xml"] = tree("notes", shape("body", [notes]))
    return package(parts)


def tree(kind: str, shapes: str) -> str:
    return f'<p:{kind} xmlns:p="{SLIDES}" xmlns:a="{DRAWING}"><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:{kind}>'


def shape(kind: str, paragraphs: list[str]) -> str:
    text = "".join(f"<a:p><a:r><a:t>{escape(p)}</a:t></a:r></a:p>" for p in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="{kind}"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        f"<p:txBody>{text}</p:txBody></p:sp>"
    )


def pdf(pages: list[list[str]]) -> bytes:
    """A PDF of pages of lines, in Helvetica."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for i, lines in enumerate(pages):
        text = " T* ".join(
            "(" + line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") + ") Tj" for line in lines
        )
        stream = f"BT /F1 12 Tf 16 TL 72 770 Td {text} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * i} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    return out + (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    ).encode("latin-1")


TRAVEL = [
    ["Travel policy", "", "Valid from 1 January 2026. Owner: Finance.", "Trips are booked through the travel desk, at least ten",
     "days ahead where that is possible."],
    ["Trains and flights", "", "Trains come first. A flight needs the approval of your lead when",
     "the journey by train takes less than six hours.", "Business class is never reimbursed on flights under eight hours."],
    ["Hotels and meals", "", "Hotels up to 140 EUR a night, 190 EUR in capital cities.",
     "The daily meal allowance is 42 EUR; alcohol is not reimbursed.", "Receipts are due within thirty days of the return."],
]  # fmt: skip

CONTRACT = [
    ("Heading1", "Parties"),
    ("", "This contract is made in 2021 between Example Ltd and Vendor X GmbH, Hamburg."),
    ("Heading1", "Scope of services"),
    ("", "Vendor X agrees to provide document digitisation for the archive: 400 boxes a quarter, scanned at 300 dpi."),
    ("Heading1", "Pricing"),
    ("", "The price is 18.50 EUR a box. It is fixed until the end of 2026 and may then rise by at most 3 percent a year."),
    ("Heading1", "Termination"),
    ("", "Either party may terminate with ninety days' notice to the end of a quarter."),
    ("", "Contact: Dana Reyes, dana.reyes@vendor-x.example, +49 30 901820."),
]  # fmt: skip

ROADMAP = [
    ("Roadmap 2026", ["Search for every team", "Retention that can be proved"], "Opening slide; keep it short."),
    ("Second quarter", ["Archive migration finished", "Pilot with the legal team in Berlin"],
     "The pilot needs eleven seats; budget is approved."),
    ("Risks", ["Scanning capacity of Vendor X", "Two open positions in the platform team"],
     "If scanning slips by more than a month, the migration moves to the third quarter."),
]  # fmt: skip

BUDGET: dict[str, list[list[str | float]]] = {
    "Q1": [["Item", "Owner", "EUR"], ["Cloud storage", "Platform", 12400], ["Training", "People", 6100]],
    "Q2": [["Item", "Owner", "EUR"], ["Archive scanning (Vendor X)", "Legal", 29600], ["Laptops", "IT", 18250],
           ["Security audit", "Platform", 22000]],
}  # fmt: skip

RECEIPTS = {
    "berlin/hotel.txt": "Hotel Spreeblick, Berlin\n12 to 14 May 2025, two nights, 268 EUR\nBreakfast included\n",
    "lisbon/taxi.txt": "Taxi from the airport to the conference centre, Lisbon\n3 October 2025, 21 EUR\n",
}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "handbook")
