"""Write `src/smart_context/cache/lowercase_tables.py` from a JSON file with Unicode's lower-case data.

    python tools/lowercase_tables.py unicode17_lowercase.json

The file has `lower` (code point in hex → lower case, where different), `cased_ranges` (Cased and not Case_Ignorable) and
`case_ignorable_ranges` (both ends included). Run it with the oldest supported Python: `NEWER` is what that one does not know.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

_TARGET = Path(__file__).parents[1] / "src/smart_context/cache/lowercase_tables.py"
_HEAD = '''"""Unicode 17: lower-case mappings, and what decides whether a sigma is final. Made by tools/lowercase_tables.py."""

from __future__ import annotations

# fmt: off
UNICODE = "17.0.0"

# (first, last, step, distance to the lower-case letter)
LOWER_RUNS: tuple[tuple[int, int, int, int], ...] = (
'''


def main(path: str) -> None:
    """Read the data, write the module."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    lower = {int(code, 16): text for code, text in data["lower"].items()}
    single = {code: ord(text) for code, text in lower.items() if len(text) == 1}
    several = {code: text for code, text in lower.items() if len(text) > 1}
    newer = [c for c in range(sys.maxunicode + 1) if chr(c).lower() != lower.get(c, chr(c))]
    parts = [
        _HEAD + _rows(_runs(single)) + ")",
        f"# The only one-to-many mappings.\nLOWER_LONG: dict[int, str] = {{{', '.join(f'{c:#x}: {t!a}' for c, t in several.items())}}}",
        "# Code points that Python 3.11 (Unicode 14) lower-cases otherwise, as ranges: all are younger than it.\n"
        + _ranges("NEWER", _joined(newer)),
        "# Cased and not Case_Ignorable.\n" + _ranges("CASED", data["cased_ranges"]),
        _ranges("CASE_IGNORABLE", data["case_ignorable_ranges"]),
    ]
    _TARGET.write_text("\n\n".join(parts).replace("'", '"') + "\n", encoding="utf-8")


def _runs(single: dict[int, int]) -> list[tuple[int, int, int, int]]:
    runs: list[tuple[int, int, int, int]] = []
    for code, low in sorted(single.items()):
        if runs:
            first, last, step, distance = runs[-1]
            gap = code - last
            if distance == low - code and gap <= 2 and (first == last or gap == step):
                runs[-1] = (first, code, gap, distance)
                continue
        runs.append((code, code, 1, low - code))
    return runs


def _joined(codes: Sequence[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return ranges


def _ranges(name: str, ranges: Iterable[Sequence[int]]) -> str:
    return f"{name}: tuple[tuple[int, int], ...] = (\n{_rows(ranges)})"


def _rows(rows: Iterable[Sequence[int]]) -> str:
    cells = [f"({', '.join(hex(n) if at < 2 else str(n) for at, n in enumerate(row))})" for row in rows]
    lines, line = [], ""
    for cell in cells:
        if len(line) + len(cell) > 110:
            lines.append(line)
            line = ""
        line += f" {cell}," if line else f"{cell},"
    return "".join(f"    {text}\n" for text in [*lines, line])


if __name__ == "__main__":
    main(sys.argv[1])
