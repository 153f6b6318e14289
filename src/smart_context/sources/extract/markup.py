"""Read XML of any vocabulary.

In: the bytes of an XML file.  Out: its text, and the attributes that are sentences.
Always: line n of the unit is line n of the file; nothing is parsed but tags: no entity is expanded, no DTD or address is
followed, no depth costs anything, and what is not well-formed is still read.
"""

from __future__ import annotations

import html
import re

from smart_context.model import Extracted, Unit
from smart_context.sources.extract import Buffer, Job
from smart_context.sources.extract.encoding import decode_capped

# The alternatives differ in their first characters, each ends at the first of its end marks, and none gives back what it
# took: no input is looked at twice.
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    r"|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE[^\[>]*(?:\[.*?(?:\]\s*>|\Z)|>|\Z)"
    r"|</?[A-Za-z_][^\s<>/]*+(?P<attributes>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"<]*)"|'([^'<]*)')""")
_REFERENCE = re.compile(r"&(?:#\d{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z_][\w.:-]*);")
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""")
_TITLE = re.compile(r"<title\b[^<>]*>([^<]{1,500})</title", re.IGNORECASE)
_WORDY = frozenset({"title", "alt", "label", "name", "description", "value", "content", "summary", "caption", "text"})
_SPACES = re.compile(r"[ \t]+")


def read(data: Buffer, job: Job) -> Extracted:
    """Read an XML file."""
    match = _DECLARED.search(data[:1024])
    source, notes = decode_capped(data, job.limits, match[1].decode("ascii") if match else "")
    title = _TITLE.search(source[:100_000])
    text = plain(source)
    found = (Unit((), text, divisible="lines"),) if text.strip() else ()
    return Extracted("xml", " ".join(_unescaped(title[1]).split()) if title else "", found, notes)


def plain(source: str) -> str:
    """The text of some markup, every line where it was."""
    pieces: list[str] = []
    at = 0
    for match in _MARKUP.finditer(source):
        pieces.append(_unescaped(source[at : match.start()]))
        pieces.append(_kept(match))
        at = match.end()
    pieces.append(_unescaped(source[at:]))
    return "\n".join(_SPACES.sub(" ", line).strip() for line in "".join(pieces).split("\n"))


def _kept(match: re.Match[str]) -> str:
    """What stands for a tag: its wordy attributes, a space, and as many line ends as it had."""
    if match["cdata"] is not None:
        return match["cdata"]
    words = ""
    if match["attributes"] and "=" in match["attributes"]:
        words = " ".join(_attributes(match["attributes"]))
    return "\n" * max(0, match[0].count("\n") - words.count("\n")) + f" {words} "


def _attributes(source: str) -> list[str]:
    found = []
    for match in _ATTRIBUTE.finditer(source):
        value = _unescaped(match[2] or match[3] or "")
        name = match[1].rpartition(":")[2].lower()
        is_words = name in _WORDY or (" " in value and "://" not in value and not match[1].startswith("xmlns"))
        if is_words and any(map(str.isalpha, value)):
            found.append(value)
    return found


def _unescaped(text: str) -> str:
    """Characters for the references that XML and HTML define; a file's own entities stay unexpanded and are left out."""
    return _REFERENCE.sub(_meant, text) if "&" in text else text


def _meant(match: re.Match[str]) -> str:
    found = html.unescape(match[0])
    return " " if found == match[0] or found.isspace() else found
