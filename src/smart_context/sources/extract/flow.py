"""Read a parsed HTML page in one pass over its serialized markup: many times as fast as visiting node after node.

In: the serialized markup of a whole tree, and a `Page` for its text.  Out: the text, in the page; or None for a page that needs the tree itself.
Always: the result is that of a walk over the tree. The parser serializes well-formed tags, with `<` and `>` escaped everywhere else,
except in the text of a few elements; a page that has one of those is left to the walk over the tree.
"""

from __future__ import annotations

import re
from typing import Protocol

from smart_context import later

try:
    from smart_context.sources.extract import _flow as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

# Elements whose text is serialized without escapes, or that have a tree of their own.
_RARE = later.pattern("<(?:template|xmp|iframe|noembed|noframes|plaintext)[ >]")
_LEFT_OUT = later.pattern("<!--.*?-->|<(script|style)(?: [^>]*)?>(.*?)</\\1>", re.DOTALL)
_ODD_SPACES = "\x0b\x1c\x1d\x1e\x1f"  # white space in Python, but not in HTML
_ESCAPES = (("&nbsp;", "\xa0"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))
_MARK = ' href="#'
_NAVIGATION = ' role="navigation"'
_UNSAID = frozenset({"hidden", "password", "checkbox", "radio"})  # inputs whose value is not displayed
_LOOKS = 8  # how often a whole page may be scanned ahead; links nested in links would take more
_SPACES = later.pattern(r"[ \t\n\f\r\u00a0]+")

(INLINE, BLOCK, CELL, SPOKEN, SPOKEN_BLOCK, HEADING, HEADING_END, VERBATIM, VERBATIM_END, NAVIGATION, ROLE, DROPPED) = (
    range(12)
)


class Page(Protocol):
    """Where the text goes: sections in order, as a heading, "" for none, and lines."""

    sections: list[tuple[str, list[str]]]


class _Unsure(Exception):
    """Markup that is not serialized as expected."""


def _names(text: str) -> list[str]:
    return text.split()


# Inline elements. Those in `_SPEAKING` may have text in an attribute; their end tags are treated like those of the others.
_SILENT = _names(
    "span code em strong tt b i font acronym bdi bdo big cite data del dfn ins kbd label mark math nobr q rb rp rt ruby s samp small strike "
    "sub sup time u var wbr button select"
)
_SPEAKING = ("a", "abbr", "img", "input", "svg")
_SILENT_TAG = later.pattern(f"</?(?:{'|'.join(_SILENT)})(?: [^>]*+)?+>|</t[dh]>")
# Block elements, which only end a line at their start and end: several such tags in a row, with spaces between them, count as one.
_BLOCKS = _names(
    "li p div dt ul tr dd dl section tbody table br hr ol thead tfoot aside body html blockquote article header footer main figure "
    "figcaption address form fieldset center caption colgroup col"
)
_BLOCK_TAG = f"</?(?:{'|'.join(_BLOCKS)})(?: [^>]*+)?+>"
_BLOCKS_IN_A_ROW = later.pattern(f"{_BLOCK_TAG}(?:[ \\t\\n\\f\\r]*+{_BLOCK_TAG})++")
_NAVIGATES = later.pattern(f"<(nav|(?:div|ul|section|aside|table)(?=[^>]*{_NAVIGATION}))(?: [^>]*+)?+>")
_PLAIN_LINK = later.pattern('<a(?=[ >])(?![^>]* (?:href="#|alt="|aria-label="|title="))[^>]*+>')
_ATTRIBUTE = later.pattern(r' ([^ ][^ =]*+)="([^"]*+)"')  # one may end in what looks like the start of the next
_LINK = later.pattern("<a( [^>]*+)>([^<]*+)</a>")


def _actions() -> dict[str, int]:
    table = dict.fromkeys([*_SILENT, *_SPEAKING], INLINE)
    table |= {"td": CELL, "th": CELL, "nav": NAVIGATION, "head": DROPPED, "datalist": DROPPED, "-script": INLINE}
    table |= dict.fromkeys(_names("div ul section aside table"), ROLE)
    table |= dict.fromkeys(_names("h1 h2 h3 h4 h5 h6"), HEADING)
    table |= dict.fromkeys(_names("pre textarea listing"), VERBATIM)
    ends = {HEADING: HEADING_END, VERBATIM: VERBATIM_END, NAVIGATION: BLOCK, ROLE: BLOCK}
    table |= {f"/{name}": ends.get(action, INLINE) for name, action in table.items()}
    table |= dict.fromkeys(_SPEAKING, SPOKEN)
    table |= {tag: BLOCK for name in _BLOCKS for tag in (name, f"/{name}") if tag not in table}
    return table | dict.fromkeys(("area", "object"), SPOKEN_BLOCK)


_ACTIONS = _actions()


def read(markup: str, page: Page, *, with_navigation: bool) -> int | None:
    """Put a page's text into its sections; return how many characters of navigation were left out, or None where the tree is needed."""
    if compiled and (found := compiled.read(markup, with_navigation)):
        left_out, (first, *others) = found
        page.sections[-1][1].extend(first[1])
        page.sections += others
        return left_out
    has_drawing = "<svg" in markup or "<math" in markup
    if _RARE.search(markup) or (has_drawing and "<area" in markup):
        return None
    try:
        if "<!--" in markup or "<script" in markup or "<style" in markup:
            markup = _LEFT_OUT.sub(_instead_in_drawing if has_drawing else _instead, markup)
            if "</script" in markup or "</style" in markup:
                return None
        is_plain = not any(char in markup for char in _ODD_SPACES)
        markup, left_out = _SILENT_TAG.sub("", markup), 0
        if "<datalist" not in markup:
            if not with_navigation:
                markup, left_out = _without_navigation(markup)
            markup = _BLOCKS_IN_A_ROW.sub("<p>", _without_links(markup))
        flow = _Flow(page, markup.split("<")[1:], is_plain=is_plain)
        return left_out + flow.over(with_navigation=with_navigation)
    except _Unsure:
        return None


def _without_navigation(markup: str) -> tuple[str, int]:
    """The markup without navigation, and how many characters the navigation has."""
    if "<nav" not in markup and _NAVIGATION not in markup:
        return markup, 0
    parts, at, left_out = [], 0, 0
    for found in _NAVIGATES.finditer(markup):
        if found.start() < at:
            continue  # in the last one
        if markup.rfind("<a ", at, found.start()) > markup.rfind("</a>", at, found.start()):
            raise _Unsure
        parts.append(markup[at : found.start()])
        at = _end(markup, found[1], found.end())
        left_out += _length(markup[found.end() : at])
    return "".join((*parts, markup[at:])), left_out


def _end(markup: str, name: str, start: int) -> int:
    """The position of the end tag of an element that begins before `start`."""
    depth = 1
    for tag in re.compile(f"<(/?){name}[ >]").finditer(markup, start):
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.start()
    raise _Unsure


def _length(markup: str) -> int:
    """How many characters of text there are in markup, scripts included."""
    first, *pieces = markup.split("<")
    total = len(unescaped(first))
    for piece in pieces:
        tag, _, text = piece.partition(">")
        total += len(unescaped(text)) + (int(tag[8:]) if tag.startswith("-script ") else 0)
    return total


def _without_links(markup: str) -> str:
    """The markup with links replaced by their texts; unchanged where a link may have text in an attribute."""
    rest = _PLAIN_LINK.sub("", markup)
    if "<a " in rest:
        rest = _LINK.sub(_said, rest)
    return markup if "<a " in rest else rest.replace("</a>", "")


def _said(link: re.Match[str]) -> str:
    """The text of a link that has only text, or the link unchanged if an attribute may have more: see `_Flow._spoken`."""
    tag, text = link[1], link[2]
    if any(map(str.isalnum, unescaped(text))):
        return text
    if _MARK in tag:
        return ""
    value = _value(tag, "alt") or _value(tag, "aria-label") or _value(tag, "title")
    return link[0] if value else text  # in a heading it may not be said


def _instead(found: re.Match[str]) -> str:
    if not found[1]:
        return ""
    # A script that contains `<!--` and then `<script` does not end at the first `</script>`.
    if "<!--" in found[2] and "<script" in found[2].lower():
        raise _Unsure
    return f"<-script {len(found[2])}>"


def _instead_in_drawing(found: re.Match[str]) -> str:
    # In SVG a script is an ordinary element: it may have child elements, and its text is escaped.
    if found[1] and ("<" in found[2] or "&" in found[2]):
        raise _Unsure
    return _instead(found)


class _Flow:
    """One pass. Holds the line being built and the heading it may belong to."""

    def __init__(self, page: Page, pieces: list[str], *, is_plain: bool) -> None:
        self._page = page
        self._pieces = pieces
        self._is_plain = is_plain
        self._line: list[str] = []
        self._heading: list[str] | None = None
        self._unsaid = ""  # the attribute text of a link without words in this heading
        self._verbatim = 0
        self._looks = _LOOKS * len(pieces)

    def over(self, *, with_navigation: bool) -> int:
        left_out = skip = 0
        line, known = self._line, _ACTIONS.get
        for at, piece in enumerate(self._pieces):
            if at < skip:
                continue
            tag, closed, text = piece.partition(">")
            if not closed:
                raise _Unsure
            action = known(tag)
            if action is None:
                action = known(tag.partition(" ")[0], BLOCK)
            if action == BLOCK:
                if line:
                    self._break()
            elif action == SPOKEN:
                skip = self._spoken(tag, at)
                if skip:
                    continue
            elif action == DROPPED:
                skip = self._end_of(tag.partition(" ")[0], at)
                continue
            elif action == NAVIGATION or (action == ROLE and _NAVIGATION in tag):
                self._break()
                if not with_navigation:
                    skip = self._end_of(tag.partition(" ")[0], at)
                    left_out += _length("<".join(self._pieces[at:skip]).partition(">")[2])
                    continue
            elif action:
                self._block(action, tag, at)
            if text:
                line.append(text)
        self._break()
        return left_out

    def _block(self, action: int, tag: str, at: int) -> None:
        if action == CELL:
            self._line.append("\t")
            return
        self._break()
        if action == HEADING:
            self._heading, self._unsaid = [], ""
        elif action == HEADING_END and self._heading is not None:
            if not self._heading:
                self._say(self._unsaid)
                self._break()
            heading, self._heading = " ".join(self._heading), None
            if heading:
                self._page.sections.append((heading, []))
        elif action == VERBATIM:
            self._verbatim += 1
        elif action == VERBATIM_END:
            self._verbatim = max(0, self._verbatim - 1)
        elif action == SPOKEN_BLOCK:
            self._spoken(tag, at)
            if tag.startswith("area"):  # a void element, except in SVG
                self._break()

    def _spoken(self, tag: str, at: int) -> int:
        """Take the text of attributes; return where to go on if the whole element is left out."""
        name, _, attributes = tag.partition(" ")
        if not attributes:
            return 0
        if name == "a" and _MARK in tag and not self._has_words(at, also="img"):
            return self._end_of(name, at)
        if name == "input" and _value(tag, "type") not in _UNSAID:
            self._say(_value(tag, "value"))
            self._say(_value(tag, "placeholder"))
        if name == "abbr":
            self._say(_value(tag, "title"))
        else:
            value = _value(tag, "alt") or _value(tag, "aria-label") or _value(tag, "title")
            if value and (name != "a" or not self._has_words(at)):
                if name == "a" and self._heading is not None:
                    # In a heading such a link is a tool, for example to edit the page, unless the heading has no other text.
                    self._unsaid = self._unsaid or value
                else:
                    self._say(value)
        return 0

    def _say(self, value: str) -> None:
        if value:
            self._line.append(f" {value} ")

    def _has_words(self, at: int, also: str = "") -> bool:
        """Whether an element shows a letter or digit, or has an element of another kind in it."""
        end = self._end_of("a", at)
        text = []
        for piece in self._pieces[at:end]:
            tag, _, after = piece.partition(">")
            name = tag.partition(" ")[0]
            if name == "-script":
                raise _Unsure
            if name == also:
                return True
            text.append(after)
        return any(map(str.isalnum, unescaped("".join(text))))

    def _end_of(self, name: str, at: int) -> int:
        """The piece with which an element ends."""
        depth, end = 1, f"/{name}>"
        for number in range(at + 1, len(self._pieces)):
            piece = self._pieces[number]
            if piece.startswith(end):
                depth -= 1
                if not depth:
                    self._looks -= number - at
                    if self._looks < 0:
                        raise _Unsure
                    return number
            elif piece.startswith(name) and piece[len(name) : len(name) + 1] in {" ", ">"}:
                depth += 1
        raise _Unsure

    def _break(self) -> None:
        if not self._line:
            return
        text = self._line[0] if len(self._line) == 1 else "".join(self._line)
        self._line.clear()
        if "&" in text:
            text = unescaped(text)
        if self._verbatim:
            found = [line.rstrip() for line in text.split("\n") if line.strip()]
        elif "\t" in text:
            row = "\t".join(filter(None, map(self._cell, text.split("\t"))))
            found = [row] if row else []
        else:
            cell = self._cell(text)
            if not cell:
                return
            found = [cell]
        if self._heading is not None:
            self._heading += found
        else:
            self._page.sections[-1][1].extend(found)

    def _cell(self, text: str) -> str:
        return " ".join(text.split()) if self._is_plain and text.isascii() else _SPACES.sub(" ", text).strip()


def _value(tag: str, name: str) -> str:
    """An attribute's value, still escaped; "" for none."""
    if f' {name}="' not in tag:
        return ""
    return next((found[2] for found in _ATTRIBUTE.finditer(tag) if found[1] == name), "")


def unescaped(text: str) -> str:
    """A serialized text without its escapes."""
    if "&" in text:
        for escape, char in _ESCAPES:
            text = text.replace(escape, char)
    return text
