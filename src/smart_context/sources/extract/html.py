"""Read HTML and XHTML.

In: markup of any quality.  Out: one unit per heading, or numbered paragraphs where there are none.
Always: time grows with the length of the markup, not with its depth; scripts, styles, templates and navigation give no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from selectolax.lexbor import LexborHTMLParser, LexborNode

from smart_context.data import dataclass, field
from smart_context.model import Extracted
from smart_context.sources.extract import Buffer, Job, flow, orderly, tame
from smart_context.sources.extract.collect import Sections
from smart_context.sources.extract.encoding import clean, codec, decode_capped
from smart_context.sources.extract.properties import About, day


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DROPPED = frozenset({"script", "style", "template", "head", "noframes", "datalist", "-comment"})
_AUTHOR = frozenset({"author", "dc.creator", "dcterms.creator", "article:author"})
_DATES = _names(
    "date dc.date dcterms.date dcterms.created dcterms.modified article:published_time article:modified_time"
)
_SPOKEN = frozenset({"img", "area", "input", "abbr", "a", "iframe", "object", "svg"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = _names(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math nobr q rb rp rt ruby s samp small "
    "span strike strong sub sup svg time tt u var wbr input button select"
)
_SPACES = re.compile(r"[ \t\n\f\r\u00a0]+")
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Page:
    """A page: its metadata, and its sections in order, each a heading ("" for none) with its lines."""

    title: str = ""
    author: str = ""
    dated: str = ""
    sections: list[tuple[str, list[str]]] = field(default_factory=list)


def read(data: Buffer, job: Job) -> Extracted:
    """Read one page."""
    text, notes = decode_capped(data, job.limits, declared(data[:4096]))
    page = _parsed(text)
    gathered = Sections(job.limits)
    gathered.take_all(page.sections)
    about = About(page.title, page.author, page.dated)
    return about.extracted("html", gathered.finish(), (*notes, *gathered.notes))


def sections(markup: str) -> list[tuple[str, str]]:
    """The headings of a page with the text below each, one block a line; text above the first heading has the heading ""."""
    return [(heading, "\n".join(lines)) for heading, lines in parse(markup).sections]


def plain(markup: str) -> str:
    """All of a page's text in reading order, one block a line."""
    return "\n".join(line for heading, lines in parse(markup).sections for line in (heading, *lines) if line)


def declared(head: bytes) -> str:
    """The encoding that a page names, or ""."""
    match = _CHARSET.search(head)
    return codec((match[1] or match[2]).decode("ascii", "replace")) if match else ""


def parse(markup: str) -> Page:
    """Read a page's title, its description and its sections."""
    return _parsed(clean(markup))


def _parsed(markup: str) -> Page:
    found = orderly.parts(markup)
    page = _page(_unescaped(found[0]), partial(flow.read, found[1])) if found else None
    if page is None:
        tree = LexborHTMLParser(tame.tamed(markup))
        page = _page(_said(tree.head), partial(_text, tree.root))
    return page or Page()


def _page(head: Iterable[tuple[str, str]], text: Callable[..., int | None]) -> Page | None:
    """The page of a head and of a function that reads its text; None where that function needs the tree."""
    page = Page()
    lines = _head(head, page)
    page.sections.append(("", list(lines)))
    left_out = text(page, with_navigation=False)
    # A page of links has its text in elements that are navigation on other pages.
    if left_out and left_out > sum(sum(map(len, kept)) for _, kept in page.sections):
        page.sections[:] = [("", list(lines))]
        left_out = text(page, with_navigation=True)
    page.sections = [(heading, kept) for heading, kept in page.sections if heading or kept]
    return None if left_out is None else page


def _text(root: LexborNode | None, page: Page, *, with_navigation: bool) -> int:
    """Put a page's text into its sections; return how many characters of navigation were left out."""
    if root is None:
        return 0
    begun = [(heading, list(lines)) for heading, lines in page.sections]
    left_out = flow.read(root.html or "", page, with_navigation=with_navigation)
    if left_out is None:
        page.sections[:] = begun
        walk = Walk(page, with_navigation=with_navigation)
        walk.over(root)
        left_out = walk.left_out
    return left_out


def _said(head: LexborNode | None) -> Iterator[tuple[str, str]]:
    """The metadata of a head: pairs of name and content, with the name "" for the title."""
    node = head.child if head is not None else None
    while node is not None:
        if node.tag == "title":
            yield "", node.text(deep=True)
        elif node.tag == "meta":
            attributes = node.attributes
            yield attributes.get("name") or attributes.get("property") or "-", attributes.get("content") or ""
        node = node.next


def _unescaped(head: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((flow.unescaped(name), flow.unescaped(text)) for name, text in head)


def _head(said: Iterable[tuple[str, str]], page: Page) -> list[str]:
    """Store a page's metadata; return its lines that are also text."""
    lines: list[str] = []
    for given, text in said:
        name, content = given.lower(), _line(text)
        if not name:
            if not page.title and content:
                page.title = content
                lines.append(content)
        elif name in {"description", "keywords"} and content and content not in lines:
            lines.append(content)
        elif name in _AUTHOR:
            page.author = page.author or content
        elif name in _DATES:
            page.dated = page.dated or day(content)
    return lines


class Walk:
    """One pass over the tree, for pages that `flow` leaves to it. Holds the line being built and the heading it may belong to."""

    def __init__(self, page: Page, *, with_navigation: bool = False) -> None:
        self._page = page
        self._with_navigation = with_navigation
        self.left_out = 0
        self._line: list[str] = []
        self._heading: list[str] | None = None
        self._unsaid = ""  # the attribute text of a link without words in this heading
        self._verbatim = 0

    def over(self, root: LexborNode) -> None:
        """Visit every node in document order, without recursion: pages nest deeper than the stack."""
        node: LexborNode | None = root
        depth = 0
        while node is not None:
            child = node.child if self._enter(node) else None
            if child is not None:
                node, depth = child, depth + 1
                continue
            while node is not None:
                self._leave(node)
                following = node.next if depth else None
                if following is not None:
                    node = following
                    break
                node = node.parent if depth else None
                depth -= 1
        self._break()

    def _enter(self, node: LexborNode) -> bool:
        tag = node.tag or ""
        if tag == "-text":
            self._line.append(node.text(deep=False))
            return False
        if tag in _DROPPED:
            return False
        if not self._with_navigation and (tag == "nav" or _role(node) == "navigation"):
            self._break()
            self.left_out += len(node.text(deep=True))
            return False
        if tag not in _INLINE:
            self._open(tag)
        if tag == "a" and _is_mark(node):
            return False
        if tag in _SPOKEN:
            self._spoken(node)
        return True

    def _open(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._line.append("\t")
            return
        self._break()
        if tag in _HEADINGS:
            self._heading, self._unsaid = [], ""
        elif tag in {"pre", "textarea", "listing", "xmp"}:
            self._verbatim += 1

    def _spoken(self, node: LexborNode) -> None:
        """Take the text of attributes that is displayed or read aloud; a `title` attribute only repeats or explains, and is left out."""
        attributes = node.attributes
        if node.tag == "input" and attributes.get("type") not in {"hidden", "password", "checkbox", "radio"}:
            self._say(attributes.get("value"))
            self._say(attributes.get("placeholder"))
        if node.tag == "abbr":
            self._say(attributes.get("title"))
        elif node.tag != "a" or not _has_words(node):
            value = attributes.get("alt") or attributes.get("aria-label") or attributes.get("title")
            if node.tag == "a" and self._heading is not None:
                # In a heading such a link is a tool, for example to edit the page, unless the heading has no other text.
                self._unsaid = self._unsaid or value or ""
            else:
                self._say(value)

    def _say(self, value: str | None) -> None:
        if value:
            self._line.append(f" {value} ")

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _INLINE or tag in {"-text", "td", "th"} or tag in _DROPPED:
            return
        self._break()
        if tag in _HEADINGS and self._heading is not None:
            if not self._heading:
                self._say(self._unsaid)
                self._break()
            heading, self._heading = " ".join(self._heading), None
            if heading:
                self._page.sections.append((heading, []))
        elif tag in {"pre", "textarea", "listing", "xmp"}:
            self._verbatim = max(0, self._verbatim - 1)

    def _break(self) -> None:
        if not self._line:
            return
        text = "".join(self._line)
        self._line.clear()
        if self._verbatim:
            found = [line.rstrip() for line in text.split("\n") if line.strip()]
        else:
            cells = [_line(cell) for cell in text.split("\t")] if "\t" in text else [_line(text)]
            line = "\t".join(cell for cell in cells if cell)
            found = [line] if line else []
        if self._heading is not None:
            self._heading += found
        else:
            self._page.sections[-1][1].extend(found)


def _role(node: LexborNode) -> str:
    return node.attributes.get("role") or "" if node.tag in {"div", "ul", "section", "aside", "table"} else ""


def _is_mark(link: LexborNode) -> bool:
    """Whether a link is a permalink beside a heading: to the same page, showing only a sign (`¶`, `#`, a picture of a chain)."""
    return (
        (link.attributes.get("href") or "").startswith("#") and not _has_words(link) and link.css_first("img") is None
    )


def _has_words(node: LexborNode) -> bool:
    return any(char.isalnum() for char in node.text(deep=True))


def _line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
