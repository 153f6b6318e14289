"""Read RTF.

In: the bytes of a rich text file.  Out: one unit per heading, or numbered paragraphs where there are none.
Always: one pass, no recursion, however deep groups nest; a damaged file gives the text up to and around the damage.
"""

from __future__ import annotations

import re

from smart_context.data import dataclass, field
from smart_context.model import Extracted
from smart_context.sources.extract import Buffer, Job, Refused
from smart_context.sources.extract.collect import Sections
from smart_context.sources.extract.encoding import clean, codec

_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})?[ ]?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<symbol>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_SKIPPING = re.compile(rb"[{}]|\\bin(\d{1,10}) ?|\\.", re.DOTALL)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SYMBOLS = {
    "emdash": "—",
    "endash": "–",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
    "tab": "\t",
    "cell": "\t",
    "nestcell": "\t",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
}
_BREAKS = frozenset({"par", "line", "row", "nestrow", "page", "sect", "column", "softline", "lbr"})
# Groups whose content is not text of the document.
_DROPPED = _names(
    "colortbl pict objdata objclass objname fldinst datafield themedata colorschememapping latentstyles datastore listtable "
    "listoverridetable rsidtbl generator xmlnstbl mmathPr filetbl revtbl bkmkstart bkmkend fontemb pgptbl nonshppict shprslt "
    "xe tc tcn txe rxe author operator company manager category keywords doccomm hlinkbase userprops xform ftnsep ftnsepc "
    "ftncn aftnsep aftnsepc aftncn atnid atnref atntime atndate atnparent atnicn falt panose htmltag mhtmltag "
    "nonesttables template passwordhash protusertbl wgrffmtfilter docvar picprop sp"
)
# Groups of text outside the paragraph that they are anchored in.
_ASIDE = _names("footnote annotation shptxt dptxbxtext header headerl headerr headerf footer footerl footerr footerf")
# Starred groups that are read all the same.
_STARRED = _ASIDE | {"shpinst", "shppict", "do", "ud", "nesttableprops", "atnauthor", "ffdeftext", "ffl"}
_DESTINATIONS = frozenset({"fonttbl", "stylesheet", "info", "title"})
_NOWHERE = frozenset({"upr", "shpinst", "do"})
_CHARSETS = {
    0: "cp1252",
    2: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "big5hkscs",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_SETTINGS = {"f", "fcharset", "cpg", "s", "outlinelevel", "pard", "plain", "uc", "ansicpg", *_PAGES}
# Every word that says anything, unless a star stands before it: most say what the text looks like.
_TELLING = frozenset(
    word.encode()
    for words in (_SYMBOLS, _BREAKS, _DROPPED, _DESTINATIONS, _NOWHERE, _ASIDE, _SETTINGS, ("u", "bin", "ud"))
    for word in words
)
_HEADING_STYLE = re.compile(r"(?:heading|title)\s*\d?$", re.IGNORECASE)
_LONGEST_HEADING, _LONGEST_TITLE = 300, 1000
_DEEPEST_ASIDE = 8


def read(data: Buffer, job: Job) -> Extracted:
    """Read one rich text file."""
    source = data[:]
    start = source[:1024].find(b"{\\rtf")
    if start < 0:
        raise Refused("damaged", "no RTF header")
    reader = _Reader(source, start, job.limits.max_text_chars)
    reader.run()
    gathered = Sections(job.limits)
    gathered.take_all(reader.sections)
    return Extracted("rtf", reader.title, gathered.finish(), tuple(gathered.notes))


def plain(source: bytes, most: int) -> str:
    """All text of an RTF body, a paragraph a line; "" if it is none."""
    reader = _Reader(source, max(0, source[:1024].find(b"{\\rtf")), most)
    reader.run()
    return "\n".join(line for heading, lines in reader.sections for line in (heading, *lines) if line)


@dataclass(slots=True)
class _Aside:
    """A run of paragraphs: the body, or a note, header or text box that interrupts it."""

    depth: int = 0
    line: list[str] = field(default_factory=list)
    done: list[tuple[bool, str]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Group:
    """The state that a group inherits, restored when it ends. `into`: where its text goes."""

    aside: _Aside
    into: str = "body"
    encoding: str = "cp1252"
    uc: int = 1
    is_heading: bool = False
    owns_aside: bool = False


class _Reader:
    def __init__(self, source: bytes, start: int, most: int) -> None:
        self._source = source
        self._at = start
        self._room = most
        self._body = _Aside()
        self._now = _Group(self._body)
        self._stack: list[_Group] = []
        self._raw = bytearray()
        self._fallback = 0  # characters still to leave out after \u
        self._starred = False
        self._default = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._heading_styles: set[int] = set()
        self._style = -1
        self._style_name: list[str] = []
        self.title = ""
        self.is_full = False
        self.sections: list[tuple[str, list[str]]] = [("", [])]

    def run(self) -> None:
        """Read to the end of the document or of the room."""
        while not self.is_full:
            match = _TOKEN.match(self._source, self._at)
            if match is None:
                break
            self._at = match.end()
            self._token(match)
        while self._stack:
            self._close()
        self._flush()
        self._break(self._now)
        for is_heading, text in self._body.done:
            if is_heading:
                self.sections.append((text, []))
            else:
                self.sections[-1][1].append(text)
        # A cut title could end in half a secret, which redaction would not recognise.
        self.title = " ".join(self.title.split()) if len(self.title) <= _LONGEST_TITLE else ""

    def _token(self, match: re.Match[bytes]) -> None:
        kind = match.lastgroup
        if kind == "text":
            self._bytes(match["text"])
        elif kind == "hex":
            self._bytes(bytes((int(match["hex"], 16),)))
        elif kind in {"word", "number"}:
            word, number = match["word"], match["number"]
            if word in _TELLING or self._starred or self._fallback:
                self._word(word.decode("ascii"), int(number) if number is not None else None)
            elif self._raw:
                self._flush()
        elif kind == "brace":
            self._fallback = 0
            self._flush()
            if match["brace"] == b"{":
                now = self._now
                self._stack.append(now)
                self._now = _Group(now.aside, now.into, now.encoding, now.uc, now.is_heading)
                self._starred = False
            else:
                self._close()
        elif kind == "symbol":
            self._symbol(match["symbol"])

    def _bytes(self, found: bytes) -> None:
        if self._fallback:
            used = min(self._fallback, len(found))
            self._fallback -= used
            found = found[used:]
        self._raw += found

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._starred = True
        elif symbol in b"\r\n":
            self._flush()
            self._break(self._now)
        elif symbol in b"\\{}":
            self._bytes(symbol)
        elif symbol in b"~_":
            self._flush()
            self._text(" " if symbol == b"~" else "-")

    def _word(self, word: str, number: int | None) -> None:
        if word == "u" and number is not None:
            self._flush()
            self._text(chr(number & 0xFFFF))
            self._fallback = self._now.uc
            return
        if word == "bin":
            self._at += max(0, number or 0)
            return
        if self._fallback:
            self._fallback -= 1
        self._flush()
        starred, self._starred = self._starred, False
        if word in _SYMBOLS:
            self._text(_SYMBOLS[word])
        elif word in _BREAKS:
            self._break(self._now)
        elif not self._destination(word, starred):
            self._setting(word, number)

    def _destination(self, word: str, starred: bool) -> bool:
        """Decide by the first word of a group what its text is; return whether the word is a destination."""
        now = self._now
        if word in _DROPPED or (starred and word not in _STARRED):
            self._skip()
        elif word in _DESTINATIONS:
            if word != "title" or now.into == "info":
                now.into = word
        elif word in _NOWHERE:
            now.into = "nowhere"
        elif word == "ud":
            now.into = "body"
        elif word in _ASIDE and now.into in {"body", "nowhere"}:
            now.into, now.is_heading = "body", False
            if now.aside.depth < _DEEPEST_ASIDE:
                now.aside, now.owns_aside = _Aside(now.aside.depth + 1), True
        else:
            return False
        return True

    def _setting(self, word: str, number: int | None) -> None:
        now = self._now
        if word == "f" and number is not None:
            self._font = number
            if now.into != "fonttbl":
                now.encoding = self._fonts.get(number, self._default)
        elif word in {"fcharset", "cpg"} and now.into == "fonttbl" and number is not None:
            self._fonts[self._font] = self._charset(word, number)
            now.encoding = self._fonts[self._font]
        elif word == "s" and number is not None:
            self._style = number
            now.is_heading = number in self._heading_styles and now.into == "body"
        elif word == "outlinelevel":
            if now.into == "stylesheet":
                self._heading_styles.add(self._style)
            now.is_heading = (number or 0) < 9
        elif word == "pard":
            now.is_heading = False
        elif word == "plain":
            now.encoding = self._default
        elif word == "uc":
            now.uc = max(0, min(number if number is not None else 1, 16))
        elif word == "ansicpg" or word in _PAGES:
            self._default = now.encoding = _PAGES.get(word) or codec(f"cp{number}") or "cp1252"

    def _charset(self, word: str, number: int) -> str:
        if word == "cpg":
            return codec(f"cp{number}") or self._default
        return self._default if number in {0, 1} else _CHARSETS.get(number, self._default)

    def _skip(self) -> None:
        """Go to the end of the group without reading its content."""
        depth, at = 1, self._at
        while depth:
            match = _SKIPPING.search(self._source, at)
            if match is None:
                self._at = len(self._source)
                return
            at = match.end()
            found = match[0]
            if found == b"{":
                depth += 1
            elif found == b"}":
                depth -= 1
            elif match[1]:
                at += int(match[1])
        self._at = at - 1  # the closing brace is read as any other

    def _close(self) -> None:
        ended = self._now
        if not self._stack:
            return
        if ended.into == "stylesheet":
            self._end_style()
        self._now = self._stack.pop()
        if ended.owns_aside:
            self._break(ended)
            for _, text in ended.aside.done:
                self._now.aside.waiting.append(text)

    def _end_style(self) -> None:
        name = "".join(self._style_name).strip(" ;")
        self._style_name.clear()
        if _HEADING_STYLE.match(name) and self._style >= 0:
            self._heading_styles.add(self._style)
        self._style = -1

    def _flush(self) -> None:
        if self._raw:
            text = self._raw.decode(self._now.encoding, "replace")
            self._raw.clear()
            self._text(text)

    def _text(self, text: str) -> None:
        into = self._now.into
        if into == "body":
            self._now.aside.line.append(text)
        elif into == "title":
            self.title = (self.title + text)[: _LONGEST_TITLE + 1]
        elif into == "stylesheet" and len(self._style_name) < 100:
            self._style_name.append(text)

    def _break(self, group: _Group) -> None:
        aside = group.aside
        text = _joined(aside.line)
        aside.line.clear()
        waiting, aside.waiting = aside.waiting, []
        self._room -= len(text)
        if text:
            aside.done.append((group.is_heading and len(text) <= _LONGEST_HEADING, text))
        aside.done.extend((False, note) for note in waiting)
        self.is_full = self._room < 0


def _joined(pieces: list[str]) -> str:
    """One paragraph. Characters beyond the BMP are stored as two surrogates."""
    text = "".join(pieces)
    if any("\ud800" <= piece <= "\udfff" for piece in pieces):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    cells = clean(text).replace("\n", " ").split("\t")
    return "\t".join(kept for cell in cells if (kept := " ".join(cell.split())))
