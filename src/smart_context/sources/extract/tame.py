"""Simplify markup so that the HTML parser reads it in linear time.

In: the markup of a page.  Out: the same; where it nests too deep or a tag has too many attributes, without these.
Always: the text of a page is kept; hardly any page needs a change.
"""

from __future__ import annotations

import re
from itertools import accumulate

from smart_context import later

try:
    from smart_context.sources.extract import _tame as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FORMATTING = _names("a b big code em font i nobr s small span strike strong tt u")
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_ENDS_ITSELF = _names("p li dt dd td th tr option optgroup tbody thead tfoot colgroup html body head")
_HEADINGS = _names("h1 h2 h3 h4 h5 h6")
_TAG = later.pattern(r"<(/?)([a-zA-Z][a-zA-Z0-9:]*)(?:[^<>\"']|\"[^\"<>]*\"|'[^'<>]*')*>?")
_NAMES = later.pattern(r"<(/?[a-zA-Z][a-zA-Z0-9:]*)")
_MOST_NAMES = 1000  # of tags that are remembered
_DEEPEST = 400
# The parser reopens unclosed formatting elements in every block that follows: a few dozen can become millions of elements.
_MOST_FORMATTING = 16
# The parser compares each attribute with all before it. An attribute as browsers read it, and tags with more than a page ever needs.
_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|))?+"""
# A tag name is scanned once, whatever characters it has: `<a<a<a` is one.
_ATTRIBUTES = later.pattern(rf"(<[a-zA-Z][^\s/>]*+)(?:((?:{_ATTRIBUTE}){{256}}+)(?:{_ATTRIBUTE})++)?")


def tamed(markup: str) -> str:
    """The markup, without what would take the parser too long."""
    if compiled and (found := compiled.tamed(markup)) is not None:
        return found
    return flattened(_ATTRIBUTES.sub(r"\1\2", markup))


def flattened(markup: str) -> str:
    """The markup itself, unless elements nest so deep that the parser needs quadratic time; then without those tags."""
    if markup.count("<") <= _DEEPEST or not _is_deep(markup):
        return markup
    depth = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth
        name = match[2].lower()
        if name in _VOID or name in _HEADINGS or name in _ENDS_ITSELF:
            return match[0]
        if name in _FORMATTING:
            return ""
        if match[1]:
            depth = max(0, depth - 1)
            return match[0] if depth < _DEEPEST else "<br>"
        depth += 1
        return match[0] if depth <= _DEEPEST else "<br>"

    return _TAG.sub(keep, markup)


def _is_deep(markup: str) -> bool:
    names = _NAMES.findall(markup)
    # What a page opens and closes in order is counted without looking at each tag; where it closes more, each is looked at.
    for steps, most in ((_DEPTHS, _DEEPEST), (_FORMATS, _MOST_FORMATTING)):
        depths = list(accumulate(map(steps.__getitem__, names), initial=0))
        if min(depths) < 0:
            return _is_deep_by_tags(names)
        if max(depths) > most:
            return True
    return False


def _is_deep_by_tags(names: list[str]) -> bool:
    depth = formatting = 0
    for name in names:
        step, is_formatting = _DEPTHS[name], _FORMATS[name] != 0
        if step < 0:
            depth -= depth > 0
            formatting -= formatting > 0 and is_formatting
        elif step:
            depth += 1
            formatting += is_formatting
        if depth > _DEEPEST or formatting > _MOST_FORMATTING:
            return True
    return False


class _Steps(dict[str, int]):
    """A cache: by how much a tag changes the depth of the page, by name, with a slash before the name of an end tag."""

    def __init__(self, only: frozenset[str] | None = None) -> None:
        self._only = only

    def __missing__(self, tag: str) -> int:
        name = tag.removeprefix("/").lower()
        counts = name not in _VOID and (self._only is None or name in self._only)
        step = (-1 if tag[0] == "/" else 1) if counts else 0
        if len(self) < _MOST_NAMES:
            self[tag] = step
        return step


_DEPTHS, _FORMATS = _Steps(), _Steps(_FORMATTING)
