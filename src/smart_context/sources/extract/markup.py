"""Read XML of any vocabulary.

In: the bytes of an XML file.  Out: its text, the attributes that are sentences, and the names of elements and settings before values that may be secrets:
redaction recognises these by such names. A file that has neither text nor sentences, such as one of settings, is read as it is written.
Always: line n of the unit is line n of the file; only tags are parsed: no entity is expanded, no DTD or URL is
followed, depth costs nothing, and XML that is not well-formed is still read.
"""

from __future__ import annotations

import html
import re

from smart_context.model import Extracted, Unit
from smart_context.sources.extract import Buffer, Job
from smart_context.sources.extract.encoding import decode_capped

# The alternatives differ in their first characters, each ends at the first of its end marks, and none backtracks:
# no input is read twice.
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    r"|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE[^\[>]*(?:\[.*?(?:\]\s*>|\Z)|>|\Z)"
    r"|<(?P<end>/?)(?P<tag>[A-Za-z_][^\s<>/]*+)(?P<attributes>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"<]*)"|'([^'<]*)')""")
_REFERENCE = re.compile(r"&(?:#\d{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z_][\w.:-]*);")
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""")
_TITLE = re.compile(r"<title\b[^<>]*>([^<]{1,500})</title", re.IGNORECASE)
_WORDY = frozenset({"title", "alt", "label", "name", "description", "value", "content", "summary", "caption", "text"})
_DRAWING = re.compile(r"<(?:\w+:)?svg[\s>]")  # its attributes are lines and colours
_SPACES = re.compile(r"[ \t]+")
# Names of possible secrets, and attributes that hold the name of a setting. Redaction decides whether a value is a secret.
_SECRET = re.compile(
    r"(?:pass(?:word|wort|wd|wrd|phrase|code)|(?<![a-z])pass(?![a-z])|pwd|(?<![a-z])pw(?![a-z])|secret(?!ar)|token|(?:api|access|secret|private|encrypt|encryption"
    r"|sign|signing|master|account|auth|shared|license|client|storage|session)[_.-]?key|kennwort|contrase[nñ]a|senha|wachtwoord|l[oö]senord|mot_?de_?passe|has[lł]o|heslo"
    r"|пароль|密码|密碼|パスワード|비밀번호)(?!s(?![a-z]))",
    re.IGNORECASE,
)
_LONGEST_NAME = 80
_MOST_NAMES = 1000  # of elements and attributes that are remembered
_LABELS = frozenset({"name", "key", "id", "label", "property", "param-name", "field", "variable"})


def read(data: Buffer, job: Job) -> Extracted:
    """Read an XML file."""
    match = _DECLARED.search(data[:1024])
    source, notes = decode_capped(data, job.limits, match[1].decode("ascii") if match else "")
    title = _TITLE.search(source[:100_000])
    text = plain(source)
    if not text.strip() and _has_settings(source):
        text = source
    found = (Unit((), text, divisible="lines"),) if text.strip() else ()
    return Extracted("xml", " ".join(_unescaped(title[1]).split()) if title else "", found, notes)


def _has_settings(source: str) -> bool:
    """Whether an element of it has an attribute, and it is no drawing."""
    return not _DRAWING.search(source[:100_000]) and any(
        "=" in (one["attributes"] or "") for one in _MARKUP.finditer(source)
    )


def plain(source: str) -> str:
    """The text of some markup, every line where it was."""
    pieces: list[str] = []
    at = 0
    for match in _MARKUP.finditer(source):
        said = _unescaped(source[at : match.start()])
        pieces.append(said)
        # `<key>password</key><string>…`: what follows is its value.
        if match["end"] and _NAMES[match["tag"]][0] in _LABELS and _names_a_secret(said.strip()):
            pieces.append(":")
        pieces.append(_kept(match))
        at = match.end()
    pieces.append(_unescaped(source[at:]))
    return "\n".join(_SPACES.sub(" ", line).strip() for line in "".join(pieces).split("\n"))


def _kept(match: re.Match[str]) -> str:
    """The replacement of a tag: its attributes that are text, the name of a secret in it, a space, and as many line ends as it had."""
    if match["cdata"] is not None:
        return match["cdata"]
    source = match["attributes"] or ""
    label = _NAMES[match["tag"] or ""][1]
    words = ""
    if "=" in source:
        label, found = _attributes(source, label)
        words = " ".join(found)
    if label and not match["end"] and not source.endswith("/"):
        words += f" {label}:"
    return "\n" * max(0, match[0].count("\n") - words.count("\n")) + f" {words} "


def _attributes(source: str, label: str) -> tuple[str, list[str]]:
    """The name of the secret that a tag has, if any: its own (label), or that in an attribute; and the attributes that are text, after such a name."""
    given = []
    for whole, in_double, in_single in _ATTRIBUTE.findall(source):
        name, value = _NAMES[whole][0], in_double or in_single
        # Most are neither: numbers, places, addresses.
        if name in _WORDY or name in _LABELS or " " in value or "&" in value:
            given.append((whole, name, _unescaped(value)))
    label = label or next((v for _, name, v in given if name in _LABELS and _names_a_secret(v)), "")
    found = []
    for whole, name, value in given:
        is_words = name in _WORDY or (" " in value and "://" not in value and not whole.startswith("xmlns"))
        if is_words and any(map(str.isalpha, value)):
            own = name if _names_a_secret(name) else label
            found.append(f"{own}: {value}" if own and value != label else value)
    return label, found


def _names_a_secret(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and " " not in name and _SECRET.search(name) is not None


class _Names(dict[str, tuple[str, str]]):
    """A cache of facts about names of elements and attributes: the name without its prefix, in lower case; and, if it names a secret, the label for that."""

    def __missing__(self, name: str) -> tuple[str, str]:
        local = name.rpartition(":")[2]
        known = local.lower(), local if _names_a_secret(local) else ""
        if len(self) < _MOST_NAMES and len(name) <= _LONGEST_NAME:
            self[name] = known
        return known


_NAMES = _Names()


def _unescaped(text: str) -> str:
    """Characters for the references that XML and HTML define; a file's own entities stay unexpanded and are left out."""
    return _REFERENCE.sub(_meant, text) if "&" in text else text


def _meant(match: re.Match[str]) -> str:
    found = html.unescape(match[0])
    return " " if found == match[0] or found.isspace() else found
