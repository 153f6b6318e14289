"""Write text from a file as Markdown, as far as its reader knew headings and tables.

In: where a text stands, its heading, and the text as it may be shown.  Out: Markdown with a newline at the end.
Always: the result depends on these alone; no word is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from smart_context import pointer as grammar
from smart_context.errors import BadRequest
from smart_context.model import Pointer

_HEADED = frozenset({"section", "slide"})


def passage(pointer: str, heading: str, text: str) -> str:
    """Return one passage."""
    where = _parsed(pointer)
    kinds = {part.kind for part in where}
    if "sheet" in kinds and "\t" in text:
        text = _table(text)
    elif heading and kinds & _HEADED and not text.startswith("#"):
        text = _headed(heading, text)
    return text if text.endswith("\n") else text + "\n"


def whole(parts: Sequence[tuple[str, str, str]]) -> str:
    """Return a file from its passages, given as pointer, heading and text in reading order; rows of one sheet become one table."""
    joined: list[tuple[str, str, str]] = []
    for pointer, heading, text in parts:
        frame = grammar.format(_frame(_parsed(pointer)))
        if joined and joined[-1][0] == frame:
            before = joined[-1][2]
            seam = "" if before.endswith("\n") or pointer == frame else "\n"
            joined[-1] = (frame, joined[-1][1], before + seam + text)
        else:
            joined.append((frame, heading, text))
    if len(joined) == 1 and not joined[0][0]:
        return joined[0][2]  # a file of lines is its own Markdown
    out = []
    for frame, heading, text in joined:
        part = passage(frame, heading, text)
        names_itself = part.startswith("#") or not frame
        out.append(part if names_itself else f"## {frame}\n\n{part}")
    return "\n".join(out)


def _parsed(pointer: str) -> Pointer:
    try:
        return grammar.parse(pointer) if pointer else ()
    except BadRequest:
        return ()


def _frame(where: Pointer) -> Pointer:
    return where[:-1] if where and where[-1].kind in grammar.RANGES else where


def _headed(heading: str, text: str) -> str:
    first, _, rest = text.partition("\n")
    if first.strip() == heading.strip() or "[redacted:" in first:
        return f"# {first.strip()}\n\n{rest}" if rest else f"# {first.strip()}\n"
    return text


def _table(text: str) -> str:
    rows = [
        [cell.strip().replace("|", "\\|") for cell in line.split("\t")] for line in text.split("\n") if line.strip()
    ]
    width = max(map(len, rows))
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]]) + "\n"
