"""Read a manual page in the languages of troff, `man` and `mdoc`.

In: the source of a manual page.  Out: its text, a unit for each section.
Always: line n of the units is line n of the file; fonts, sizes, spacing, comments and definitions of macros are left out, so that the words are those of
the printed page (`\\fBls\\fP \\-\\-all` is `ls --all`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from smart_context.model import Extracted, Unit
from smart_context.sources.extract import Buffer, Job
from smart_context.sources.extract.encoding import decode_capped
from smart_context.sources.extract.properties import About, line

_ESCAPE = re.compile(
    r"\\(?:"
    r"[\"#].*"  # a comment
    r"|(?P<mark>[fFmMgkRVYn*]|s[+-]?)(?:(?P<two>\([^\n]{2})|\[(?P<long>[^\]\n]{0,80})\]|(?P<one>[^\n]))"
    r"|[ABCDHLNSXZbhlovwx]'(?P<quoted>[^'\n]{0,200})'"
    r"|(?:\((?P<glyph>[^\n]{2})|\[(?P<name>[^\]\n]{0,80})\])"
    r"|(?P<plain>[^\n]?))"
)
_GLYPHS = {
    "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "Fo": "«", "Fc": "»", "fo": "‹", "fc": "›", "Bq": "„", "bq": "‚", "Aq": "'",
    "em": "—", "en": "–", "hy": "-", "mi": "−", "pl": "+", "mu": "×", "di": "÷", "+-": "±", "eq": "=", "<=": "≤", ">=": "≥", "!=": "≠", "~~": "≈",
    "bu": "•", "co": "©", "rg": "®", "tm": "™", "de": "°", "dg": "†", "dd": "‡", "sc": "§", "ps": "¶", "Eu": "€", "Po": "£", "Ye": "¥", "ct": "¢",
    "rs": "\\", "sl": "/", "ti": "~", "ha": "^", "ga": "`", "aa": "'", "at": "@", "sh": "#", "Do": "$", "ba": "|", "or": "|", "bv": "|", "ul": "_",
    "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "<", "ra": ">", "<-": "←", "->": "→", "fm": "'", "sd": '"', "**": "*", "ss": "ß", "ae": "æ",
    "AE": "Æ", "oe": "œ", "OE": "Œ", "o/": "ø", "O/": "Ø", "-D": "Ð", "Sd": "ð", "Tp": "þ", "TP": "Þ", ".i": "ı", "12": "½", "14": "¼", "34": "¾",
}  # fmt: skip
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", "~": "\u0303", ",": "\u0327", "o": "\u030a", "v": "\u030c"}  # fmt: skip
_STRINGS = {"R": "®", "Tm": "™", "lq": "“", "rq": "”", 'L"': '"', 'R"': '"', "C`": '"', "C'": '"', "--": "--", "C+": "C++", "Aq": "'", "Lq": "“"}  # fmt: skip
_PLAIN = {"-": "-", "e": "\\", "\\": "\\", "'": "'", "`": "`", " ": " ", "~": " ", "0": " ", "t": "\t", ".": ".", "_": "_"}  # fmt: skip

_REQUEST = re.compile(r"[.'][ \t]*(?:\\\{)?[.']?[ \t]*([A-Za-z]\w{0,30}|\\\"|\\\})?(.*)", re.DOTALL)
_CONDITION = re.compile(r"[ \t]*n[ \t]+(?:\\\{)?[.'][ \t]*([A-Za-z]\w{0,30})(.*)", re.DOTALL)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\ |[^\s"]|(?<=\S)")+)')
_SECTION = frozenset({"SH", "SS", "Sh", "Ss"})
_JOINED = frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})  # fonts that alternate, without a space between
_FIRST = frozenset({"IP", "UR", "MT", "TH", "Dt"})  # of which only the first argument is text
_TEXT = (
    _SECTION
    | _JOINED
    | _FIRST
    | {"B", "I", "SM", "SB", "HP", "TQ", "OP", "SY", "UE", "ME", "URL", "R", "C", "CW", "Nm", "Nd", "It", "Bx", "TX"}
)
_MDOC = frozenset(
    re.findall(
        r"\w+",
        "Ad An Ao Ap Aq Ar Bc Bo Bq Brc Bro Brq Bx Cd Cm Dc Do Dq Dv Dx Ec Em En Eo Er Ev Fa Fc Fl Fn Fo Fr Ft Fx Ic In Lb Li Lk Lp Ms Mt Nm No Ns Nx "
        "Oc Oo Op Ot Ox Pa Pc Pf Po Pp Pq Qc Ql Qo Qq Sc So Sq St Sx Sy Tn Ux Va Vt Xc Xo Xr D1 Dl At Bsx Fd Rv",
    )
)
_MACRO = frozenset({"de", "de1", "am", "am1", "ig"})  # up to a line of two dots
_END = re.compile(r"[.'][ \t]*\.[ \t]*")
_CELL = re.compile(r"(?:^|(?<=\t))T[{}](?=\t|$)")  # marks a cell of several lines
_LONGEST_HEADING = 200


def read(data: Buffer, job: Job) -> Extracted:
    """Read a manual page; its title is its line of name and purpose."""
    text, notes = decode_capped(data, job.limits)
    lines = text.split("\n")
    requests = [_request(one) for one in lines]
    shown = list(_lines(lines, requests))
    sections = [at for at, (name, _) in enumerate(requests) if name in _SECTION and shown[at]]
    headings = [shown[at][:_LONGEST_HEADING] for at in sections] or [""]
    starts = [0, *sections[1 : job.limits.max_units]]  # what stands before the first section belongs to it
    ends = [*starts[1:], len(lines)]
    units = []
    for start, end, heading in zip(starts, ends, headings, strict=False):
        block = "\n".join(shown[start:end])
        if block.strip():
            units.append(Unit((), block, heading, "lines", start + 1))
    # The first section, which every page begins with: `ls - list directory contents`.
    title = line(" ".join(filter(None, shown[sections[0] + 1 : ends[0]]))) if sections else ""
    return About(title).extracted(job.kind, tuple(units), notes)


def _lines(lines: list[str], requests: list[tuple[str, str]]) -> Iterator[str]:
    """What each line shows: one for one."""
    plain = _Plain()
    called = ""  # the page's name, which `.Nm` alone stands for
    is_skipped = False  # in the definition of a macro
    is_format = False  # in the format of a table
    for one, (name, rest) in zip(lines, requests, strict=True):
        if name in _SECTION:  # what does not end costs no more than the section
            is_skipped = is_format = False
        if is_skipped or name in _MACRO:
            is_skipped = not (is_skipped and _END.fullmatch(one))
            yield ""
        elif name == "TS" or is_format:
            is_format = name == "TS" or not (name == "TE" or one.rstrip().endswith("."))
            yield ""
        elif not one.startswith((".", "'")):
            yield plain(_CELL.sub("", one) if "T{" in one or "T}" in one else one).rstrip()
        else:
            shows = " ".join(plain(_arguments(name, rest)).split())
            if name == "Nm":
                called = called or shows
                shows = shows if shows[:1].isalnum() else called + shows
            yield shows


def _request(one: str) -> tuple[str, str]:
    """The name of a request or macro, and what follows it."""
    match = _REQUEST.match(one) if one.startswith((".", "'")) else None
    if match and match[1] in {"if", "ie"}:  # for a terminal, if it says for what
        match = _CONDITION.match(match[2])
    return (match[1] or "", match[2]) if match else ("", "")


def _arguments(name: str, rest: str) -> str:
    if name not in _TEXT and name not in _MDOC:
        return ""
    words = [(match[1] or "").replace('""', '"') or match[2] or "" for match in _ARGUMENT.finditer(rest)]
    if name in _FIRST:
        return " ".join(words[:2]) if name in {"TH", "Dt"} else "".join(words[:1])
    if name in _JOINED:
        return "".join(words)
    if name == "OP":
        return f"[{' '.join(words)}]"
    if name in {"Sh", "Ss", "It"} or name in _MDOC:
        return _called([name, *words] if name in _MDOC else words)
    return f"- {' '.join(words)}" if name == "Nd" else " ".join(words)


def _called(words: list[str]) -> str:
    """A line of mdoc, in which macros call others: `Fl v Ar file` is `-v file`."""
    out, glue = [], " "
    for at, word in enumerate(words):
        if word not in _MDOC:
            is_section = at > 1 and words[at - 2] == "Xr" and re.fullmatch(r"\d\w*", word)
            is_mark = len(word) == 1 and word in ".,;:?!)]"
            out.append(f"({word})" if is_section else ("" if is_mark else glue) + word)
            glue = "" if word in {"(", "["} else " "
        elif word == "Fl":
            out.append(f"{glue}-")
            glue = ""
        elif word in {"Ns", "Pf", "Ap"}:
            out.append("'" if word == "Ap" else "")
            glue = ""
    return "".join(out)


class _Plain(dict[str, str]):
    """What escapes show, each looked at once: a page has few different ones."""

    def __call__(self, text: str) -> str:
        return _ESCAPE.sub(lambda match: self[match[0]], text) if "\\" in text else text

    def __missing__(self, escape: str) -> str:
        match = _ESCAPE.match(escape)
        shown = self[escape] = _shown(match) if match else ""
        return shown


def _shown(match: re.Match[str]) -> str:
    mark, plain = match["mark"], match["plain"]
    if mark:
        called = match["long"] or (match["two"] or "")[1:] or match["one"] or ""
        return _STRINGS.get(called, "") if mark == "*" else ""
    if plain is not None:
        return _PLAIN.get(plain, plain if plain.isupper() or not plain.isascii() else "")
    glyph = match["glyph"] or match["name"] or ""
    return _GLYPHS.get(glyph) or _combined(glyph)


def _combined(glyph: str) -> str:
    """A letter by its number (`u00E9`), or with its accent (`'e`)."""
    if re.fullmatch(r"u[0-9A-F]{4,6}(?:_[0-9A-F]{4,6}){0,8}", glyph):
        numbers = [int(part.removeprefix("u"), 16) for part in glyph.split("_")]
        return "".join(chr(n) for n in numbers if n <= 0x10FFFF and not 0xD800 <= n < 0xE000)
    if len(glyph) == 2 and glyph[0] in _ACCENTS and glyph[1].isalpha():
        return unicodedata.normalize("NFC", glyph[1] + _ACCENTS[glyph[0]])
    return ""
