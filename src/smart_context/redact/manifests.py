"""Find the data of Kubernetes' secrets: every value below `data:` or `stringData:` of a manifest of the kind `Secret`.

In: folded text and the same in lower case.
Always: only the manifest that a kind stands in is read: the lines that stand as deep as its key, or the object in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence

from smart_context import later
from smart_context.redact import stems, values

_OF_SECRETS = r"secret[\"']?(?=[\s,}])"
_KIND = later.pattern(r"(?P<lead>[ ]{0,40}(?:-[ ]{1,4})?)kind:[ ]{1,4}[\"']?")
_MEMBER_KIND = later.pattern(r"\"kind\":[ ]{0,4}\"$")
_BEFORE = 60  # characters before a kind
_MOST = 20_000  # characters of a manifest on either side of its kind
_BETWEEN = ("---", "...")  # between two manifests
_BLOCK = later.pattern(r"(?P<lead>[ ]{0,40}(?:-[ ]{1,4})?)(?:string)?data:[ \t]*(?:#.*)?")
_ENTRY = later.pattern(r"[ ]{1,60}(?:\"[\w.\-]{1,253}\"|'[\w.\-]{1,253}'|[\w.\-]{1,253}):(?=[ \t]|$)")
_OPENS = later.pattern(
    r"[ \t]*(?:!{1,2}\w{1,20}[ ])?(?:[|>][+\-0-9]{0,2})?[ \t]*(?:#.*)?"
)  # the value is in the next lines
_OBJECT = later.pattern(r"\"(?:string)?data\":\s{0,20}\{")
_MEMBER = later.pattern(r"\s{0,40},?\s{0,40}\"[\w.\-]{1,253}\":\s{0,4}\"(?P<value>(?:[^\"\\\n]|\\.){1,8192}+)\"")
_BRACE = later.pattern(r"[{}]")
_LEAST = 4  # characters of a value


def find(text: str, low: str, places: Sequence[int] | None) -> Iterator[tuple[int, int]]:
    """Yield where such data stand. places: where `secret` stands, if that is known."""
    done = 0
    for kind in stems.matches(_OF_SECRETS, "secret", low, places):
        at = kind.start()
        if at < done:
            continue
        line = low[max(low.rfind("\n", 0, at) + 1, at - _BEFORE) : at]
        if match := _KIND.fullmatch(line):
            lead, first = match["lead"], at - len(line)
            start = first if "-" in lead else _first(low, first, len(lead), done)
            done = yield from _in_lines(text, low, start, len(lead), at)
        elif _MEMBER_KIND.search(line):
            done = yield from _in_object(text, low, done, at)


def _first(low: str, at: int, column: int, least: int) -> int:
    """Where a manifest begins that has a key in that line and column. least: where it begins at the earliest."""
    least = max(least, at - _MOST)
    while at > least:
        start = max(low.rfind("\n", 0, at - 1) + 1, least)
        line = low[start : at - 1]
        if line.startswith(_BETWEEN):
            break
        if _depth(line) < column and not _is_open(line):
            return start if _depth(line.replace("-", " ", 1)) == column else at
        at = start
    return at


def _in_lines(text: str, low: str, start: int, column: int, kind: int) -> Generator[tuple[int, int], None, int]:
    """Yield the values of a manifest in YAML; return where it ends."""
    at, end = start, min(len(low), kind + _MOST)
    is_data, depth = False, 0  # depth: that of the entries
    while at < end:
        line, after = _line(low, at, end)
        deep = _depth(line)
        if at > kind and (line.startswith(_BETWEEN) or (deep < column and not _is_open(line))):
            return at
        if deep <= column and not _is_open(line):  # a key of the manifest itself
            block = _BLOCK.fullmatch(line)
            is_data, depth = block is not None and len(block["lead"]) == column, 0
        elif is_data and not _is_open(line):
            depth = depth or deep
            entry = _ENTRY.match(line) if deep == depth else None
            if not (entry and _OPENS.fullmatch(line, entry.end())):
                yield from _value(text, at + (entry.end() if entry else 0), at + len(line))
        at = after
    return end


def _line(low: str, at: int, end: int) -> tuple[str, int]:
    """The line at a place, and where the next one begins."""
    last = low.find("\n", at, end)
    last = last if last >= 0 else end
    return low[at:last], last + 1


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_open(line: str) -> bool:
    """Tell whether a line may stand at any depth: an empty one, a comment, or one for a template."""
    bare = line.strip()
    return not bare or bare.startswith(("#", "{{"))


def _value(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands there, without the quotes around it, if it is a value."""
    part = text[start:end]
    start, end = start + len(part) - len(part.lstrip()), start + len(part.rstrip())
    if end - start > 1 and text[start] in "\"'" and text[end - 1] == text[start]:
        start, end = start + 1, end - 1
    if end - start >= _LEAST and text[start] != "#" and not values.is_placeholder(text[start:end]):
        yield start, end


def _in_object(text: str, low: str, least: int, kind: int) -> Generator[tuple[int, int], None, int]:
    """Yield the values of a manifest in JSON; return where it ends. least: where it begins at the earliest."""
    start = _brace(reversed([*_BRACE.finditer(low, max(least, kind - _MOST), kind)]), "}", max(least, kind - _MOST))
    most = min(len(low), kind + _MOST)
    end = _brace(_BRACE.finditer(low, kind, most), "{", most)
    for block in _OBJECT.finditer(low, start, end):
        at = block.end()
        while member := _MEMBER.match(text, at, end):
            yield from _value(text, *member.span("value"))
            at = member.end()
    return end


def _brace(braces: Iterable[re.Match[str]], opens: str, default: int) -> int:
    """Where the first brace stands that belongs to none before it."""
    depth = 0
    for brace in braces:
        depth += 1 if brace[0] == opens else -1
        if depth < 0:
            return brace.start()
    return default
