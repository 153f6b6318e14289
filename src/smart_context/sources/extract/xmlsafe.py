"""Read XML that may be hostile.

In: bytes, whole or in pieces.  Out: parse events for the tags asked for, or a small tree.
Always: no entity is expanded, no DTD or network is touched, depth and text sizes are held by libxml2's own limits, and
a streamed document is let go as it is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from lxml import etree

from smart_context.sources.extract import Refused

Element = etree._Element
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
Event = tuple[Literal["start", "end"], str, Element]
"""What happened, the short name of the tag, and the element; its text is there at the end only."""


def events(pieces: Iterable[bytes], names: dict[str, str], *, free: Collection[str]) -> Iterator[Event]:
    """Yield starts and ends of the tags in `names` (full tag → short name), in document order.

    An element whose short name is in `free` is emptied after its end, together with what stood before it.

    Raises:
        Refused: when all that could be read has been yielded and the XML was broken. Small breaks are bridged before that.
    """
    parser = etree.XMLPullParser(
        ("start", "end"),
        tag=tuple(names),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        remove_comments=True,
        remove_pis=True,
        recover=True,
        huge_tree=False,
    )
    try:
        for piece in _without_doctype(pieces):
            parser.feed(piece)
            yield from _drain(parser, names, free)
        parser.close()
    except etree.XMLSyntaxError:
        pass
    yield from _drain(parser, names, free)
    if (broken := next((entry for entry in parser.feed_error_log if entry.level_name == "FATAL"), None)) is not None:
        raise Refused("damaged", f"XML line {broken.line}: {broken.message.partition(',')[0]}")


def _without_doctype(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Leave out a declaration of entities. No Office program writes one; without it, the text around what refers to
    them is read and the parser does not give up on entities made of entities."""
    is_first = True
    for piece in pieces:
        yield _DOCTYPE.sub(b"", piece, count=1) if is_first and b"<!DOCTYPE" in piece[:1024] else piece
        is_first = False


def _drain(parser: etree.XMLPullParser, names: dict[str, str], free: Collection[str]) -> Iterator[Event]:
    for event, element in parser.read_events():
        short = names.get(str(element.tag))
        if short is None:  # elements left open at a fatal error are closed whatever their tag
            continue
        if event == "start":
            yield "start", short, element
        else:
            yield "end", short, element
            if short in free:
                _let_go(element)


def _let_go(element: Element) -> None:
    element.clear(keep_tail=True)
    parent = element.getparent()
    if parent is not None:
        while (first := parent[0]) is not element:
            parent.remove(first)


def text_of(element: Element) -> str:
    """All text inside an element; an unexpanded entity stands as it is written."""
    return element.text or "" if len(element) == 0 else "".join(element.itertext())


def tree(data: bytes) -> Element:
    """Parse a small part as a whole.

    Raises:
        Refused: it is not XML.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        recover=True,
        huge_tree=False,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Refused("damaged", f"XML: {error}") from error
    if root is None:
        raise Refused("damaged", "XML without an element")
    return root


def tags(names: Iterable[str], *namespaces: str) -> dict[str, str]:
    """Full tags of these names in each of the namespaces, for `events`."""
    return {f"{{{namespace}}}{name}": name for namespace in namespaces for name in names}
