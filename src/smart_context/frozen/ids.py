"""Name the documents of a frozen cache after the places that they come from.

In: paths below their roots and pointers.  Out: ids, `<path>/<pointer>.md` or, for a whole file, its path.
Always: different places have different ids, whatever their names hold; `place` reads an id back, but for the case of letters, which ids do not keep.
Where two places differ in case alone, both keep their capitals as escapes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote

from smart_context.cache import document, lowercase

# What means something else in an id or a path, or cannot stand in one: a backslash becomes a slash, a control character moves the cursor.
_PATH = re.compile("[%\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_POINTER = re.compile("[%\\\\/'\"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_DOTS = re.compile(r"^\.(?=/)")
_END = ".md"


def of_places(places: Sequence[tuple[str, str | None]]) -> list[str]:
    """Return an id for each path below its root and pointer; no pointer means the whole file."""
    raw = [_raw(path, pointer) for path, pointer in places]
    ids = [document.id_of(one) for one in raw]
    times = Counter(ids)
    return [one if times[one] == 1 else _with_capitals(path) for one, path in zip(ids, raw, strict=True)]


def place(document_id: str, *, whole_file: bool) -> tuple[str, str]:
    """Return the path and the pointer that an id names; the pointer of a whole file is empty."""
    if whole_file:
        return _unescaped(document_id), ""
    path, _, pointer = document_id.removesuffix(_END).rpartition("/")
    return _unescaped(path), _unescaped(pointer)


def _raw(path: str, pointer: str | None) -> str:
    name = _DOTS.sub("%2e", _PATH.sub(_escaped, path))
    return name if pointer is None else f"{name}/{_POINTER.sub(_escaped, pointer)}{_END}"


def _with_capitals(raw: str) -> str:
    return "".join(letter if lowercase.lower(letter) == letter else _bytes(letter) for letter in raw)


def _escaped(found: re.Match[str]) -> str:
    return _bytes(found[0])


def _bytes(letter: str) -> str:
    return "".join(f"%{byte:02x}" for byte in letter.encode("utf-8", "surrogateescape"))


def _unescaped(text: str) -> str:
    return unquote(text, errors="surrogateescape")
