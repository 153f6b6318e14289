"""Find passwords in markup that is shown as it is written: `<th>Password</th><td>x</td>`, `<input type=password value=x>`; and what a reader leaves of `<b>Password</b><i>x</i>`.

In: folded text, the same in lower case, and the names of secrets in it.
Always: nothing is looked for but beside a name; a value that stands between tags needs letters and digits.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from smart_context import later
from smart_context.redact import columns, names, stems, values

_REACH = 12  # characters after a name in which the next tag begins
# The end of the element that holds the name, and the beginning of those that hold the value.
_NEXT = later.pattern(r"[ ]{0,2}:?[ ]{0,2}(?:</?[a-z][^<>]{0,200}>\s{0,40}){1,4}+")
_CONTENT = later.pattern(r"[^\s<>&]{6,128}+(?=\s{0,40}<[/a-z])")
_FIELD = later.pattern(r"[ ]{0,2}:?[ ]{0,2}(?:</[a-z][\w:.\-]{0,40}>\s{0,40}){1,3}+<input\b")
_TYPE = later.pattern(r"[\s\"']type[ ]?=[ ]?[\"']?$")
_TYPE_REACH = 10
_VALUE = later.pattern(
    r"[\s\"']value[ ]?=[ ]?(?:\"(?P<double>[^\"<>\n]{3,200}+)\"|'(?P<single>[^'<>\n]{3,200}+)'|(?P<bare>[^\s\"'<>/=]{3,200}+))"
)
# A table: a row after the heads, the cells of a row, a word alone in a cell.
_MAX_ROW, _MAX_CELL = 4096, 80  # characters of a row and of a head
_ROW = later.pattern(
    r"\s*(?:</t(?:r|head)\s*>\s*|<t(?:body|head)\b[^<>]{0,200}>\s*){0,3}<tr\b[^<>]{0,400}>(?P<cells>(?:(?!</?t(?:r|able)\b)[\s\S]){0,4096}+)"
)
_CELL = later.pattern(r"(?i)<t[hd]\b[^<>]{0,400}>(?P<content>(?:(?!</?t[hdr]\b)[\s\S]){0,1000}+)")
_TAGS = later.pattern(r"<[^<>]{1,200}>")
_WORD = later.pattern(r"(?:\s|<[^<>]{1,200}>)*+(?P<value>[^\s<>]{4,128}+)(?:\s|<[^<>]{1,200}>)*+")
_TAG = 400  # characters of a tag
_MIN_MADE = 8  # characters of a secret that a machine made


# Without anything between them, a label and its value must be all of a line.
_GLUED = r"pass(?:word|wort)(?=(?P<value>[a-z0-9]\S{7,63}+)[ \t]{0,8}(?:\r?\n|$))"
_NO_LABEL = later.pattern(r"[ \t#*>|\-_\"'`•]{0,12}")


def glued(text: str, low: str, places: Sequence[int] | None) -> Iterator[tuple[int, int]]:
    """Yield where what is clearly a password follows its label without a space. places: where `pass` stands, if that is known."""
    for match in stems.matches(_GLUED, "pass", low, places):
        line = low.rfind("\n", max(0, match.start() - 16), match.start()) + 1 or max(0, match.start() - 16)
        start, end = match.span("value")
        if _NO_LABEL.fullmatch(low, line, match.start()) and values.is_clear(text[start:end]):
            yield start, end


def find(text: str, low: str, found: Sequence[names.Name], *, has_rows: bool) -> Iterator[tuple[int, int]]:
    """Yield where passwords stand in markup. has_rows: whether it has rows of a table."""
    done = 0 if has_rows else len(low)
    for name in found:
        if name.is_vague or name.is_many:
            continue
        if name.start >= done:
            done = yield from _below(text, low, name)
        if name.word == "password" and low[name.start - 1 : name.start] in {"=", '"', "'"}:
            yield from _of_type(text, low, name)
        elif "<" in low[name.end : name.end + _REACH]:
            yield from _after(text, low, name)


def _below(text: str, low: str, name: names.Name) -> Generator[tuple[int, int], None, int]:
    """Yield what the rows of a table hold below the heads in whose row the name stands; return where the table ends."""
    start = low.rfind("<tr", max(0, name.start - _MAX_ROW), name.start)
    if start < 0 or _CELL.search(low, start, name.start) is None:
        return name.end
    table = low.rfind("<table", max(0, start - _MAX_ROW), start)
    end = low.find("</tr", name.end, name.end + _MAX_ROW)
    if end < 0 or low.find("</tr", max(table, start - _MAX_ROW, 0), name.start) >= 0:
        return name.end
    heads = [
        columns.kind(_TAGS.sub("", cell["content"]).strip()[:_MAX_CELL]) for cell in _CELL.finditer(low, start, end)
    ]
    if not any(heads):
        return end
    while (row := _ROW.match(low, end)) is not None:
        end = row.end()
        for of, cell in zip(heads, _CELL.finditer(text, *row.span("cells")), strict=False):
            value = of and _WORD.fullmatch(text, *cell.span("content"))
            if value and columns.may_be(value["value"], of):
                yield value.span("value")
    return end


def _after(text: str, low: str, name: names.Name) -> Iterator[tuple[int, int]]:
    """The content of the next element, or the value of a field after a label."""
    if field := _FIELD.match(low, name.end):
        value = _VALUE.search(text, field.end(), _end(low, field.end()))
        part = value and value.lastgroup
        if value and part and _is_one(value[part], name):
            yield value.span(part)
    elif next_ := _NEXT.match(low, name.end):
        content = _CONTENT.match(text, next_.end())
        if content and _is_one(content[0], name):
            yield content.span()


def _of_type(text: str, low: str, name: names.Name) -> Iterator[tuple[int, int]]:
    """The value of a field that is for a password, whatever it is."""
    if not _TYPE.search(low, max(0, name.start - _TYPE_REACH), name.start):
        return
    start = low.rfind("<", max(0, name.start - _TAG), name.start)
    if start < 0 or low.find(">", start, name.start) >= 0:
        return
    value = _VALUE.search(text, start, _end(low, name.end))
    if value and (part := value.lastgroup) and values.is_password(value[part]):
        yield value.span(part)


def _end(low: str, start: int) -> int:
    """Where the tag ends that a place is in."""
    end = low.find(">", start, start + _TAG)
    return end if end >= 0 else min(len(low), start + _TAG)


def _is_one(value: str, name: names.Name) -> bool:
    if values.is_code(value) or "://" in value or value[0] in "/#.":
        return False
    return values.is_strong(value) or (values.is_chosen(value) and (name.is_password or len(value) >= _MIN_MADE))
