"""Read XML that may be hostile.

In: bytes, whole or in pieces.  Out: parse events for the tags asked for, or a small tree.
Always: no entity is expanded, no DTD is loaded, no network is used, depth and text sizes are bounded by libxml2's own limits, and
a streamed document is freed as it is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Literal

from lxml import etree

from smart_context.sources.extract import Refused

Element = etree._Element
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
Event = tuple[Literal["start", "end"], str, Element]
"""What happened, the short name of the tag, and the element; its text is there at the end only."""
_SMALL = 1 << 20  # bytes of a part that may be in memory as a whole


def events(
    pieces: Iterable[bytes], names: dict[str, str], *, free: Collection[str], always: bool = False
) -> Iterator[Event]:
    """Yield starts and ends of the tags in `names` (full tag → short name), in document order.

    An element whose short name is in `free` is cleared after its end, with everything before it, so that little is in memory at a time. A
    small part is in memory as a whole; with `always` such elements are cleared there too, so that a paragraph in a paragraph is not part of its text.

    Raises:
        Refused: the XML was broken, after all that could be read was yielded. The parser recovers from small errors.
    """
    begun, rest = _begun(_without_doctype(pieces))
    root = _well_formed(b"".join(begun)) if sum(map(len, begun)) <= _SMALL else None
    if root is None:
        yield from _streamed(chain(begun, rest), names, free)
        return
    for event, element in etree.iterwalk(root, ("start", "end"), tuple(names)):
        short = names[str(element.tag)]
        if event == "start":
            yield "start", short, element
        else:
            yield "end", short, element
            if always and short in free:
                _let_go(element)
    for _ in rest:  # raises the error after the last piece
        pass


def _begun(pieces: Iterator[bytes]) -> tuple[list[bytes], Iterator[bytes]]:
    """All pieces of a small part, or the first of a larger one; and an iterator of the others, or one that raises their error."""
    begun: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            begun.append(piece)
            size += len(piece)
            if size > _SMALL:
                break
    except Refused as refusal:
        return begun, _Failing(refusal)
    return begun, pieces


class _Failing(Iterator[bytes]):
    """An iterator that only raises this error."""

    def __init__(self, refusal: Refused) -> None:
        self._refusal = refusal

    def __next__(self) -> bytes:
        raise self._refusal


def _well_formed(data: bytes) -> Element | None:
    """The tree of a well-formed part, built in half the time of parsing with events; None for others."""
    try:
        return etree.fromstring(data, _parser(recover=False))
    except (etree.XMLSyntaxError, ValueError):
        return None


def _streamed(pieces: Iterable[bytes], names: dict[str, str], free: Collection[str]) -> Iterator[Event]:
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
        for piece in pieces:
            parser.feed(piece)
            yield from _drain(parser, names, free)
        parser.close()
    except etree.XMLSyntaxError:
        pass
    yield from _drain(parser, names, free)
    if (broken := next((entry for entry in parser.feed_error_log if entry.level_name == "FATAL"), None)) is not None:
        raise Refused("damaged", f"XML line {broken.line}: {broken.message.partition(',')[0]}")


def _without_doctype(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Leave out the DOCTYPE with its entity declarations. No Office program writes one; without it, the text around entity
    references is read, and the parser does not give up on entities made of entities."""
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
    """All text inside an element; an entity reference stays unexpanded, as it is written."""
    return element.text or "" if len(element) == 0 else "".join(element.itertext())


def tree(data: bytes) -> Element:
    """Parse a small part as a whole.

    Raises:
        Refused: it is not XML.
    """
    try:
        root = etree.fromstring(data, _parser(recover=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Refused("damaged", f"XML: {error}") from error
    if root is None:
        raise Refused("damaged", "XML without an element")
    return root


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
        huge_tree=False,
    )


def tags(names: Iterable[str], *namespaces: str) -> dict[str, str]:
    """Full tags of these names in each of the namespaces, for `events`."""
    return {f"{{{namespace}}}{name}": name for namespace in namespaces for name in names}
