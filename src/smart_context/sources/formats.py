"""The table of formats: detection, reading and format words in queries all derive from it.

In: nothing.  Out: `FORMATS`.
Always: a format is one row here and one reader below `extract/`; nothing else in the program names it.
"""

from __future__ import annotations

from smart_context.data import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is recognised, and what reads it.

    reader: a module below `extract`. pointer: the kind of place in it. extensions: the most usual one first.
    One of the following marks is enough. starts: first bytes. main: a content type in `[Content_Types].xml` of an Office package. part: an entry of a
    zip that declares no type. mimetype: a prefix of the type in a package's `mimetype`. stream: a stream of an OLE compound file.
    is_text: the bytes show only that it is text; the extension decides the format. called: words for this format in a query.
    """

    kind: str
    reader: str
    pointer: str
    extensions: str = ""
    starts: tuple[bytes, ...] = ()
    main: tuple[bytes, ...] = ()
    part: str = ""
    mimetype: tuple[str, ...] = ()
    stream: tuple[str, ...] = ()
    is_text: bool = False
    called: str = ""


_OPEN = "application/vnd.oasis.opendocument."
_CODE = (
    ".py .pyi .js .mjs .cjs .jsx .ts .tsx .vue .java .kt .kts .scala .groovy .c .h .cc .cpp .cxx .hh .hpp .m .mm .cs .fs .vb .go .rs .swift "
    ".rb .php .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .ml .clj .lisp .el .scm .sh .bash .zsh .fish .ps1 .bat .cmd .sql .css .scss .less "
    ".proto .graphql .tf .nix .cmake .gradle .mk .asm .s .f90 .f .pas .ada .cob .zig .nim .v .sv .vhd .toml .yaml .yml .ini .cfg .conf "
    ".properties .diff .patch"
)

FORMATS: tuple[Format, ...] = (
    Format("pdf", "pdf", "page", ".pdf", called="pdf pdfs"),
    Format(
        "xlsb", "sheets", "sheet", ".xlsb", main=(b"ms-excel.sheet.binary.macroEnabled.main",), part="xl/workbook.bin"
    ),
    Format(
        "docx",
        "docx",
        "section",
        ".docx .docm .dotx",
        main=(
            b"wordprocessingml.document.main",
            b"wordprocessingml.template.main",
            b"ms-word.document.macroEnabled",
            b"ms-word.template.macroEnabled",
        ),
        part="word/document.xml",
    ),
    Format(
        "xlsx",
        "sheets",
        "sheet",
        ".xlsx .xlsm",
        main=(
            b"spreadsheetml.sheet.main",
            b"spreadsheetml.template.main",
            b"ms-excel.sheet.macroEnabled",
            b"ms-excel.template.macroEnabled",
            b"ms-excel.addin.macroEnabled",
        ),
        part="xl/workbook.xml",
    ),
    Format(
        "pptx",
        "pptx",
        "slide",
        ".pptx .pptm .ppsx",
        main=(
            b"presentationml.presentation.main",
            b"presentationml.slideshow.main",
            b"presentationml.template.main",
            b"ms-powerpoint.presentation.macroEnabled",
            b"ms-powerpoint.slideshow.macroEnabled",
            b"ms-powerpoint.template.macroEnabled",
        ),
        part="ppt/presentation.xml",
    ),
    Format("odt", "opendocument", "section", ".odt .fodt", mimetype=(_OPEN + "text",)),
    Format("ods", "ods", "sheet", ".ods", mimetype=(_OPEN + "spreadsheet",)),
    Format("odp", "opendocument", "slide", ".odp .odg", mimetype=(_OPEN + "presentation", _OPEN + "graphics")),
    Format("epub", "epub", "section", ".epub", mimetype=("application/epub+zip",), called="epub epubs ebooks e-books"),
    Format("doc", "legacy_doc", "paragraphs", ".doc", starts=(b"\xdb\xa5-\0",), stream=("WordDocument",)),
    Format("xls", "sheets", "sheet", ".xls", stream=("Workbook", "Book")),
    Format("ppt", "legacy_ppt", "slide", ".ppt", stream=("PowerPoint Document",)),
    Format("msg", "outlook", "message", ".msg", stream=("__properties_version1.0",)),
    Format("rtf", "rtf", "section", ".rtf", starts=(b"{\\rtf",), called="rtf"),
    Format("eml", "mail", "message", ".eml .mht .mhtml .emlx .mbox"),
    Format("html", "html", "section", ".html .htm .xhtml", is_text=True),
    Format("xml", "markup", "lines", ".xml .svg .xsd .xsl .xslt .rss .atom .kml .gpx .plist", is_text=True),
    Format("json", "text", "lines", ".json .jsonl .ndjson .geojson .ipynb", is_text=True),
    Format("markdown", "text", "lines", ".md .markdown .mdown .mkd .mdx", is_text=True),
    Format("csv", "delimited", "lines", ".csv .tsv .tab", is_text=True),
    Format("code", "text", "lines", _CODE, is_text=True),
    Format("man", "man", "lines"),
    Format("text", "text", "lines"),
    Format("image", "image", "page", ".png .jpg .jpeg .tif .tiff .webp .bmp"),
    Format("zip", "archive", "entry", ".zip", called="zip zips"),
    Format("tar", "archive", "entry", ".tar .tgz"),
    Format("gzip", "archive", "entry", ".gz"),
    Format("bzip2", "archive", "entry", ".bz2"),
    Format("xz", "archive", "entry", ".xz"),
)
