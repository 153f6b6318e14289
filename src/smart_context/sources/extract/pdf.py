"""Read PDF files, one unit per page.

In: the bytes of a PDF.  Out: the text of each page, with that of its form fields and annotations.
Always: every PDFium handle is closed again, innermost first; a page that cannot be loaded costs only itself.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]  # no types; the raw API is stable across versions

from smart_context.data import dataclass, field
from smart_context.model import Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused, pdf_scan
from smart_context.sources.extract.collect import Full, Units
from smart_context.sources.extract.properties import About, day

_TEXT_FIELDS = frozenset(
    {pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX, pdfium.FPDF_FORMFIELD_TEXTFIELD}
)
# A file may claim two thousand million pages and have one; after this many missing in a row reading stops.
_MOST_MISSING = 50
_MOST_ANNOTATIONS = 2000
_UNDRAWN = frozenset({pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP})
_WITH_TEXT = frozenset({pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_FORM})

LIGATURES = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st",
}  # fmt: skip
# PDFium's mark at the end of a line for a divided word: U+FFFE, in older versions U+0002.
_DIVIDED = re.compile("[\ufffe\x02]\r?\n?([^\\W_]*)")
_WORD = re.compile(r"\w+")
# A per mille sign inside a word comes from a font without a Unicode map: it is a letter of another encoding.
_PER_MILLE_IN_WORD = re.compile(r"(?<=[^\W\d_])‰(?=[^\W\d_])")
# Control characters come from fonts without a Unicode map, between words as often as inside them.
_BLANK = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 161), 0xFFFE, 0xFFFF], " ")
_CLEAN = {**LIGATURES, **_BLANK, 0xFEFF: None, 0xAD: "-"}
_UNCLEAN = re.compile(f"[{re.escape(''.join(map(chr, _CLEAN)))}]")


# An empty list of font folders: with system fonts a page would give another text on another machine.
_NO_FONTS = (ctypes.POINTER(ctypes.c_char) * 1)()
pdfium.FPDF_InitLibraryWithConfig(
    pdfium.FPDF_LIBRARY_CONFIG(
        version=2, m_pUserFontPaths=ctypes.cast(_NO_FONTS, ctypes.POINTER(ctypes.POINTER(ctypes.c_char)))
    )
)


def read(data: Buffer, job: Job) -> Extracted:
    """Read every page, up to the limits."""
    content = data if isinstance(data, bytes) else data[:]
    document = pdfium.FPDF_LoadMemDocument64(content, len(content), None)
    if not document:
        raise _refusal()
    try:
        with _form_of(document) as form:
            units, notes = _pages(document, form, job)
        return _about(document).extracted("pdf", units, notes)
    finally:
        pdfium.FPDF_CloseDocument(document)


@dataclass(slots=True)
class _Said:
    """The text of a page's annotations, and whether any draws further text."""

    texts: list[str] = field(default_factory=list)
    is_drawn: bool = False


def _refusal() -> Refused:
    code = pdfium.FPDF_GetLastError()
    if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
        return Refused("encrypted", "a password protects this PDF")
    return Refused("damaged", "not a readable PDF")


@contextmanager
def _form_of(document: pdfium.FPDF_DOCUMENT) -> Iterator[pdfium.FPDF_FORMHANDLE | None]:
    """The PDFium form handle, for the values of form fields; None where the file has none."""
    if pdfium.FPDF_GetFormType(document) == pdfium.FORMTYPE_NONE:
        yield None
        return
    callbacks = pdfium.FPDF_FORMFILLINFO(version=2)  # PDFium keeps pointing at it: it must live as long as the form
    form = pdfium.FPDFDOC_InitFormFillEnvironment(document, callbacks)
    try:
        yield form
    finally:
        if form:
            pdfium.FPDFDOC_ExitFormFillEnvironment(form)
    del callbacks


def _pages(
    document: pdfium.FPDF_DOCUMENT, form: pdfium.FPDF_FORMHANDLE | None, job: Job
) -> tuple[tuple[Unit, ...], tuple[str, ...]]:
    units = Units(job.limits)
    missing = 0
    try:
        for number in range(1, pdfium.FPDF_GetPageCount(document) + 1):
            pieces = list(_page(document, form, number, job))
            missing = missing + 1 if not pieces else 0
            if missing > _MOST_MISSING:
                units.notes.append(f"pages missing after page {number - missing:,}")
                break
            for piece in pieces or (Unit((Part("page", first=number),), ""),):
                units.add(piece)
    except Full:
        pass
    found = units.finish()
    if not any(unit.text for unit in found):
        return (), (*units.notes, "no text; scanned?")
    return found, tuple(units.notes)


def _page(document: pdfium.FPDF_DOCUMENT, form: pdfium.FPDF_FORMHANDLE | None, number: int, job: Job) -> Iterator[Unit]:
    """The text of a page, and what OCR sees on it; nothing for a page that cannot be loaded."""
    place = (Part("page", first=number),)
    page = pdfium.FPDF_LoadPage(document, number - 1)
    if not page:
        return
    said = _annotations(page, form)
    try:
        text = _page_text(page)
        seen = pdf_scan.is_for_the_eye(page, text)
        # Annotations are drawn separately from the page; flattened, they are part of it and read with it.
        if said.is_drawn and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(document, number - 1)
            text = _with(text, _page_text(page) if page else "")
        own = "\n".join([text, *(part for part in dict.fromkeys(said.texts) if part and part not in text)]).strip()
        yield Unit(place, own)
        if page and seen:
            yield from job.look(place, partial(pdf_scan.drawn, page), beside=own)
    finally:
        if page:
            pdfium.FPDF_ClosePage(page)


def _with(text: str, flattened: str) -> str:
    """The flattened page's text, unless flattening lost something: then the page's own, and the lines that flattening added."""
    own = set(_WORD.findall(text))
    if own.issubset(_WORD.findall(flattened)):
        return flattened
    known = {"", *text.split("\n")}
    return "\n".join([text, *(line for line in dict.fromkeys(flattened.split("\n")) if line not in known)])


def _page_text(page: pdfium.FPDF_PAGE) -> str:
    text = pdfium.FPDFText_LoadPage(page)
    if not text:
        return ""
    try:
        # Twice the room: a character may come out as two (surrogates), or with others that the list does not count.
        room = 2 * max(0, pdfium.FPDFText_CountChars(text)) + 1
        buffer = (ctypes.c_ushort * room)()
        used = pdfium.FPDFText_GetText(text, 0, room - 1, buffer)
        return _clean(bytes(memoryview(buffer).cast("B")[: 2 * max(0, used - 1)]))
    finally:
        pdfium.FPDFText_ClosePage(text)


def _clean(raw: bytes) -> str:
    text = _put_together(raw.decode("utf-16-le", "ignore"))
    # A search for what is to be replaced is faster than replacing, except in ASCII.
    if text.isascii() or _UNCLEAN.search(text):
        text = text.translate(_CLEAN)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return (_PER_MILLE_IN_WORD.sub("ä", text) if "‰" in text else text).strip()


def _put_together(text: str) -> str:
    """Join divided words with their hyphen, which may belong to the word ("mixed-mode"). Search finds only words in ASCII letters without it too."""
    parts: list[str] = []
    at = 0
    for divided in _DIVIDED.finditer(text):
        start = divided.start()
        while start > at and text[start - 1].isalnum():
            start -= 1
        begun, rest = text[start : divided.start()], divided[1]
        parts += text[at : divided.start()], "-" if (begun + rest).isascii() else "", rest
        at = divided.end()
    return "".join((*parts, text[at:]))


def _annotations(page: pdfium.FPDF_PAGE, form: pdfium.FPDF_FORMHANDLE | None) -> _Said:
    said = _Said()
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_WIDGET:
                said.texts.append(_field_value(annotation, form))
            else:
                said.texts.append(_string(partial(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")))
            if not said.is_drawn and kind not in _UNDRAWN and pdfium.FPDFAnnot_HasKey(annotation, b"AP"):
                said.is_drawn = _draws_text(annotation)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return said


def _draws_text(annotation: pdfium.FPDF_ANNOTATION) -> bool:
    """Whether it may: flattening a page takes as long as reading it, and PDFium then loses fonts that the page inherits."""
    objects = (pdfium.FPDFAnnot_GetObject(annotation, at) for at in range(pdfium.FPDFAnnot_GetObjectCount(annotation)))
    return any(pdfium.FPDFPageObj_GetType(each) in _WITH_TEXT for each in objects)


def _field_value(annotation: pdfium.FPDF_ANNOTATION, form: pdfium.FPDF_FORMHANDLE | None) -> str:
    if not form or pdfium.FPDFAnnot_GetFormFieldType(form, annotation) not in _TEXT_FIELDS:
        return ""
    return _string(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation))


def _about(document: pdfium.FPDF_DOCUMENT) -> About:
    dates = (_metadata(document, key) for key in (b"CreationDate", b"ModDate"))
    return About(_metadata(document, b"Title"), _metadata(document, b"Author"), day(*dates))


def _metadata(document: pdfium.FPDF_DOCUMENT, key: bytes) -> str:
    return _string(partial(pdfium.FPDF_GetMetaText, document, key))


def _string(ask: Callable[[object, int], int]) -> str:
    """Call a PDFium function that writes UTF-16 into a buffer and answers how many bytes it needs."""
    room = ask(None, 0)
    if room <= 2:
        return ""
    buffer = ctypes.create_string_buffer(room)
    ask(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), room)
    return _clean(buffer.raw[: room - 2])
