"""Find the identifiers that a text explains: those at the start of entries, as in a manual, and definitions in code.

In: a text as the index may know it.  Out: terms: `os.path.join(path, *paths)` at the beginning of a line gives `^ospathjoin` and `^join`.
Always: terms depend on the text alone. A search for an identifier mostly wants the place that explains it, not one of the many that use it.
"""

from __future__ import annotations

import re

from smart_context import later
from smart_context.text.words import MAX_TERM

try:
    from smart_context.text import _explained as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

MARK = "^"  # before what is explained
_MOST = 100  # names in one text: a list of more explains none of them
_PROSE = 4  # spaces in a line, from which on it is a sentence
_TOGETHER = 20  # names, a line each, that one sentence explains
_SHORT = 2  # letters of a name that means nothing by itself
_DECLARES = (
    r"(?:(?:public|private|protected|static|final|abstract|async|export|unsigned|extern|inline|virtual|const) ++)*+"
    r"(?:class|def|function|func|fn|exception|method|classmethod|staticmethod|interface|struct|enum|type|trait|module|macro|sub|proc|attribute|"
    r"awaitable|coroutine|decorator|void|int|char|long|bool|float|double|size_t|ssize_t|gboolean|gint|guint|gchar|\.\. [a-z:]{2,20}::|\w++(?= ?\*))[ \t*]++"
)
_NAME = r"--[A-Za-z][\w-]*+|[A-Za-z_]\w*+(?:(?:\.|::|-)[A-Za-z_]\w*+){0,7}"
# A name at the beginning of a line, behind what declares it or not, and what may go on with an entry: a bracket, a value, or nothing.
_BEGINS = later.pattern(
    rf"\n(?P<lead>[ \t]*+{_DECLARES}|@(?=\w+\.))?(?P<name>{_NAME})(?P<then>[ \t]?\((?![0-9]\w?\))|[ \t]?[=<\[]|[ \t]*(?=\n))"
)
_ENDS = later.pattern(r"[ \t]*(?:->[^\n]*|[:{¶])?[ \t]*\n")  # what may follow the closing bracket
_DECORATES = later.pattern(r"(?:@[^\n]*\n)*[ \t]*(?:async |def |class )")
_BRACKETS = later.pattern(r"[()\t\n]")
_PART = later.pattern(r"[^\W_]+")
_ODD = later.pattern(r"[._:-]|[a-z][A-Z]")  # what no plain word has
_STATEMENTS = frozenset(
    [
        "if",
        "while",
        "for",
        "return",
        "switch",
        "elif",
        "except",
        "catch",
        "print",
        "assert",
        "with",
        "and",
        "or",
        "not",
        "in",
        "is",
        "new",
        "delete",
        "throw",
        "raise",
        "yield",
        "await",
        "sizeof",
        "super",
        "self",
    ]
)


def terms(text: str) -> list[str]:
    """The terms of what a text explains, each once."""
    told = compiled.terms(text) if compiled else None
    if told is not None:
        return told
    found: dict[str, None] = {}
    for name in _names(text):
        for term in of(name):
            found[term] = None
        if len(found) > _MOST:
            return []
    return list(found)


def _names(text: str) -> list[str]:
    if compiled:
        return compiled.names(text)
    text = f"\n{text}\n"
    return [begun["name"] for begun in _BEGINS.finditer(text) if _is_entry(text, begun)]


def of(name: str) -> list[str]:
    """The terms of an entry that begins with a name: the whole name, and its last part."""
    if name.startswith("--"):
        return [f"{MARK}--{_joined(name)}"]
    last = name.replace("::", ".").rpartition(".")[2]
    parts = (_joined(name), _joined(last)) if last != name else (_joined(name),)
    return [MARK + part for part in dict.fromkeys(parts) if part]


def asked(name: str) -> list[str]:
    """The terms of entries that may explain a name, the most specific first: the whole name, then the name without its leading parts.
    A path is not split, and a letter or two are not a name: neither `conf` nor `c` explains `/etc/sysctl.conf` or `cache.c`."""
    if name.startswith("--"):
        return of(name)
    parts = [name] if "/" in name else re.split(r"\.|::", name)
    return [MARK + one for at in range(len(parts)) if len(one := _joined(".".join(parts[at:]))) > (_SHORT if at else 0)]


def _joined(name: str) -> str:
    plain = name.replace("_", "").replace(".", "").replace(":", "").replace("-", "")
    if not plain.isascii() or not plain.isalnum():
        plain = "".join(_PART.findall(name))
    return plain.lower()[:MAX_TERM]


def _is_entry(text: str, begun: re.Match[str]) -> bool:
    lead, name, then = begun.groups()
    if name.startswith("--"):
        return then != "("
    if name.partition(".")[0] in _STATEMENTS:
        return False
    if not lead and ((then != "(" and not _ODD.search(name)) or not _goes_on(text, begun.end(), then[1:] == "(")):
        return False
    if lead == "@" and _DECORATES.match(text, text.index("\n", begun.end()) + 1):
        return False
    return then.isspace() or not then or (then[-1] == "(" and _is_signature(text, begun.end()))


def _goes_on(text: str, start: int, may_end: bool) -> bool:
    """Whether a sentence follows, at most after further names: one of many names in a list explains nothing. may_end: the text may also end there, as
    it goes on elsewhere."""
    begin = text.index("\n", start) + 1
    for line in range(_TOGETHER):
        end = text.find("\n", begin)
        if end < 0:
            return may_end and not line
        spaces = text.count(" ", begin, end)
        if spaces and text[end - 1] != ")":
            return spaces >= _PROSE
        begin = end + 1
    return False


def _is_signature(text: str, start: int) -> bool:
    """Whether the text after an opening bracket takes the rest of its line, up to the closing bracket or beyond the line."""
    depth = 1
    for sign in _BRACKETS.finditer(text, start):
        if sign[0] == "\n":
            return True
        if sign[0] == "\t":
            return False  # a row of a table
        depth += 1 if sign[0] == "(" else -1
        if not depth:
            return bool(_ENDS.match(text, sign.end()))
    return False
