"""Find what is assigned to a password, secret, token or key: in code, settings, markup, tables and sentences.

In: folded text and the same in lower case.
Always: a name alone gives nothing; the value must look like one, the more so the less the syntax around it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from smart_context.redact import names, values, wrap

_CLOSED = r"[\"'`\])}*]{0,3}+"
_OF = r"(?:[ ](?:for|of|to|für|zu[rm]?|vom?|des?|del|du|da|do|pour|per|para|для|от|на)[ ][^\s:=]{1,40}(?:[ ][^\s:=]{1,40}){0,2})?"
# A type stands apart from its "=", or a string follows: an "=" right after it is the padding of base64 otherwise.
_TYPED = r"(?:[ ]?:[ ]?[A-Za-z_][\w.\[\]| ]{0,30}(?=[ ]=[ ]?[^=\s]|=[ ]?[brf]{0,2}[\"'`][^\s,;)}\]\"'`]))?"
_ASSIGN = re.compile(
    rf"{_CLOSED}(?:[ ]?\([^()\n]{{1,40}}\))?{_OF}{_TYPED}[ \t]{{0,40}}(?::=|=>|->|={{1,3}}|::?|→|⇒)[ \t]{{0,40}}(?:[|>][+\-]?(?=[ \t]*\n))?"
    r"(?P<newline>[ \t]{0,8}\r?\n[ \t>*|\-]{0,40})?"
)  # fmt: skip
_IS = re.compile(
    rf"{_CLOSED}{_OF}(?:[ ]+(?:is|was|are|be|ist|lautet|war|est|es|era|è|é|jest|är|er)(?:[ ]now|[ ]set to)?[ ]?[: ][ ]?|[ ]?(?:是|为|為|は|는|은)[ :]?)"
)
_CELL = re.compile(rf"{_CLOSED}:?[ ]?(?:\t|[ ]?\|)[ ]?")
_TAG = re.compile(r"(?:[ ][^<>\n]{0,80})?>(?:<!\[cdata\[)?[ ]?")
_VALUE_FIELD = re.compile(r"[\"']?[\s,;/]{0,40}[\"']?(?:default[-_]?)?value[\"']?[ ]?[:=][ ]?")
_CALL = re.compile(r"\([ ]?(?=[\"'])")
_SPACE = re.compile(r"[ ]{1,3}(?=[^\s])")
_IN_TAG = re.compile(r"<[\w:.\-]{0,40}$")

_QUOTED = re.compile(
    r"[bBrRuUfFL@$]{0,2}(?P<quote>\"{3}|'{3}|[\"'`])(?P<value>(?:\\.|(?!(?P=quote))[^\\\n]){1,1024}+)(?P=quote)"
)
_BARE = re.compile(r"[^\s\uFFFC]{1,512}+")
_STOP = re.compile(
    r"&(?=[\w.\-]{1,60}=)|;(?=\s|$|[\w ]{1,40}=)|,(?=\s|$|[\"'\w.\-]{1,60}[=:])|[\"'`](?=[\s,;)}\]>&|]|$)|\\n|\\\"|\\r|</|\]\]>|\s"
)
_CELL_STOP = re.compile(r"[ ]{0,2}(?:\t|\||\n|$)")
_END_OF_LINE = re.compile(r"[\"'`;,.)\]}]*[ \t]*(?:(?:#|//|--).*)?(?:\r?\n|$|\t)")
_RUN = re.compile(r"[^\s\"'`,;<>]{1,512}+")
_LENGTHS = re.compile(r"\d{1,3}(?:[-+]\d{0,3})?\+?|\d{1,2}-[a-z]+")
_SYMBOL = re.compile(r"[^\w\-.'/,:;()]")
_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}(?!\w| \w)")  # as Google prints them
_PLAIN = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_URL = re.compile(r"[a-z][a-z0-9+.\-]{1,20}://")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value starts, and how much the syntax before it says: "assign", "quote", "say", "cell", "tag", "space"."""

    start: int
    syntax: str
    same_line: bool = True


def find(text: str, low: str, found: Sequence[names.Name]) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand that are assigned to the names that were found."""
    done = 0
    for name in found:
        if name.start < done or low[name.start - 1 : name.start] == "=":
            continue  # "spf=pass": a value, not a name
        for place in _places(low, name.start, name.end):
            span = _value(text, low, place, name)
            if span is not None:
                yield span
                done = span[1]
                break


def _places(low: str, start: int, end: int) -> Iterator[_Place]:
    if match := _ASSIGN.match(low, end):
        yield _Place(match.end(), "assign", same_line=match["newline"] is None)
    if _IN_TAG.search(low, max(0, start - 42), start) and (match := _TAG.match(low, end)):
        yield _Place(match.end(), "tag")
    if match := _VALUE_FIELD.match(low, end):
        yield _Place(match.end(), "assign")
    if match := _CALL.match(low, end):
        yield _Place(match.end(), "call")
    if match := _IS.match(low, end):
        yield _Place(match.end(), "say")
    if match := _CELL.match(low, end):
        yield _Place(match.end(), "cell")
    if end - start > 4 and (match := _SPACE.match(low, end)):
        flag = low[max(0, start - 30) : start].rsplit(None, 1)[-1:] or [""]
        yield _Place(match.end(), "assign" if flag[0].startswith("--") else "space")


def _value(text: str, low: str, place: _Place, name: names.Name) -> tuple[int, int] | None:
    if place.syntax not in {"cell", "tag"} and (quoted := _QUOTED.match(text, place.start)):
        value = quoted["value"]
        judge = _quoted_password if name.is_password else _quoted_secret
        return quoted.span("value") if judge(value, name.word) else None
    if name.is_password and place.syntax == "assign" and (groups := _APP_PASSWORD.match(text, place.start)):
        return groups.span()
    start = place.start + (text[place.start : place.start + 1] in {'"', "'", "`"})
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    end = _bare_end(text, start, bare.end(), place.syntax)
    value = text[start:end]
    if not value or _URL.match(low, start):
        return None
    alone = _END_OF_LINE.match(text, end) is not None
    accepted = (
        _bare_password(value, place, alone=alone)
        if name.is_password
        else _bare_secret(value, name.word, place, alone=alone)
    )
    if not accepted:
        return None
    if bare.end() - start >= 512:
        while more := _BARE.match(text, end):
            end = more.end()
    return start, wrap.follow(text, end, _RUN) if _END_OF_LINE.match(text, end) else end


def _bare_end(text: str, start: int, end: int, syntax: str) -> int:
    if syntax in {"tag", "cell"}:
        pattern = _STOP if syntax == "tag" else _CELL_STOP
    else:
        pattern = _STOP
    stop = pattern.search(text, start, end)
    if stop:
        end = stop.start()
    while end > start and text[end - 1] in ".,;:)]}\"'`|" and not _balanced(text, start, end):
        end -= 1
    return end


def _balanced(text: str, start: int, end: int) -> bool:
    closer = text[end - 1]
    opener = {")": "(", "]": "[", "}": "{"}.get(closer)
    return opener is not None and opener in text[start:end]


def _quoted_password(value: str, name: str) -> bool:
    if not values.is_password(value) or _URL.match(value.lower()):
        return False
    if " " in value.strip():
        return (
            "phrase" in name
            or values.is_phrase(value)
            or (values.is_strong(value.replace(" ", "")) and value.count(" ") < 3)
        )
    return _LENGTHS.fullmatch(value) is None and not (
        values.is_code(value) and ("(" in value or "." in value or "_" in value)
    )


def _quoted_secret(value: str, name: str) -> bool:
    if values.is_placeholder(value) or " " in value or "/" in value[:1] or _URL.match(value.lower()):
        return False
    if value.isdigit():
        return len(value) >= (16 if name == "token" else 8)
    if values.is_random(value):
        return len(value) >= 6 and not (values.is_code(value) and "(" in value)
    return len(value) >= 16 and value.isalnum() and len(set(value)) >= 8


def _bare_password(value: str, place: _Place, *, alone: bool) -> bool:
    if not values.is_password(value) or _LENGTHS.fullmatch(value):
        return False
    has_digit = any(c.isdigit() for c in value)
    if place.syntax == "space":
        return values.is_strong(value) and not values.is_code(value)
    if has_digit or _SYMBOL.search(value):
        if values.is_code(value) and not value.isalnum():
            return False
        enough = 4 if place.syntax in {"assign", "tag"} or has_digit else 6
        return len(value) >= enough and (place.same_line or alone or values.is_strong(value))
    # A plain word is a password only where nothing but an assignment of its own line can be meant.
    return (
        alone
        and place.same_line
        and place.syntax in {"assign", "tag"}
        and len(value) >= 5
        and _PLAIN.fullmatch(value) is not None
    )


def _bare_secret(value: str, name: str, place: _Place, *, alone: bool) -> bool:
    if values.is_placeholder(value) or values.is_code(value):
        return False
    if value.isdigit():
        return place.syntax == "assign" and len(value) >= (16 if name == "token" else 8)
    if place.syntax in {"space", "say"}:
        return values.is_strong(value) and (len(value) >= 16 or place.syntax == "say")
    if not values.is_random(value):
        return place.syntax == "assign" and len(value) >= 20 and value.isalnum() and len(set(value)) >= 8
    return values.is_strong(value) or len(value) >= 16 or (len(value) >= 6 and alone and place.same_line)
