"""Write `src/smart_context/cache/pack/tables.py` from Unicode 17's character data.

    python -m pip install "unicodedata2==17.*" && python tools/pack_tables.py

A code point that Unicode 17 does not assign is left where it makes the ranges fewest. What is normalized was assigned in Unicode
14, the data of the oldest supported Python: Unicode promises that the normal form of such a character never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import unicodedata2  # type: ignore[import-not-found,unused-ignore]

_TARGET = Path(__file__).parents[1] / "src/smart_context/cache/pack/tables.py"
_HEAD = '''"""Unicode 17: what separates words, and what has another form that means the same. Made by tools/pack_tables.py."""

from __future__ import annotations

# fmt: off
UNICODE = "17.0.0"

'''


def main() -> None:
    """Write the module."""
    import unicodedata

    if unicodedata.unidata_version != "14.0.0" or unicodedata2.unidata_version != "17.0.0":
        raise SystemExit("needs Python 3.11 and unicodedata2 17")

    def separates(code: int) -> bool | None:
        kind = unicodedata2.category(chr(code))
        return None if kind == "Cn" else kind[0] in "PSZC"

    def has_form(code: int) -> bool | None:
        letter = chr(code)
        if unicodedata.category(letter) == "Cn":
            return False
        return unicodedata.normalize("NFKD", letter) != letter or None

    text = _HEAD
    text += _ranges("SEPARATORS", "(first, last), neither letter, digit nor mark", separates)
    text += "\n" + _ranges(
        "FORMS", "(first, last) among which are all characters with a compatible or decomposed form", has_form
    )
    _TARGET.write_text(text, encoding="utf-8")


def _ranges(name: str, comment: str, holds: Callable[[int], bool | None]) -> str:
    """The ranges where something holds; None joins ranges and makes none."""
    ranges: list[list[int]] = []
    is_open = False
    for code in range(0x80, 0x110000):
        answer = holds(code)
        if answer:
            if is_open:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
            is_open = True
        elif answer is False:
            is_open = False
    items = [f"(0x{first:x}, 0x{last:x})" for first, last in ranges]
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) > 118:
            lines.append(line)
            line = "   "
        line += f" {item},"
    lines.append(line)
    return f"# {comment}\n{name}: tuple[tuple[int, int], ...] = (\n" + "\n".join(lines) + "\n)\n"


if __name__ == "__main__":
    main()
