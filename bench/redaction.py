"""Redaction: CPU time for 2 kB of ordinary text, and growth on hostile text up to a megabyte.

`python -m bench redaction [FILE …]` also measures the text of files, in pieces of 2 kB.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from smart_context import redact

_PROSE = (
    "The committee met on 12 March 2024 to review the annual report. Revenue rose by 4.5 % to 1,234,567 euros, while costs "
    "fell. Each department (12 in all) presented its plan; see pages 14-19 and table 3. The secretary sends the minutes. "
) * 10
_ORDINARY = {
    "prose": _PROSE[:2000],
    "prose in German": (
        "Die Überweisung erfolgte am 3. März; größere Beträge müssen geprüft werden, siehe Anhang 4. " * 30
    )[:2000],
    "source code": Path(redact.__file__).with_name("gate.py").read_text(encoding="utf-8")[:2000],
    "prose with four secrets": _PROSE[:1850]
    + " (212) 555-0187, nora@example.org, password: hunter2horse!, 4111 1111 1111 1111",
    "a table of numbers": ("120 340 560 780 910 1200 33,4 0815 17.5\n" * 60)[:2000],
}
_HOSTILE = {
    "a…": "a", "@…": "@", "a@…": "a@", "1 1 …": "1 ", "+1 …": "+1 ", "password=…": "password=", 'password="…': 'password="', "://a:b@…": "://a:b@",
    "BEGIN PRIVATE KEY…": "-----BEGIN PRIVATE KEY-----\n", "DE89 …": "DE89 ", "a column of 1": "1\n", "zero-width spaces": "a\u200b",
}  # fmt: skip


def main(argv: list[str]) -> None:
    start = _cpu(
        lambda: subprocess.run([sys.executable, "-c", "import smart_context.redact"], check=True), children=True
    )
    print(f"import: {1000 * (start - _cpu_of_nothing()):.0f} ms CPU beyond an empty interpreter")
    redact.clean("+1 212 555 0187")  # the numbering plans are loaded once, here
    print("\nordinary text, 2 kB          ms CPU")
    for name, text in _ORDINARY.items():
        print(f"  {name:<26} {1000 * min(_mean(text, 10) for _ in range(7)):.2f}")
    print("\nhostile text                 ms at 128 kB   ms at 1 MB   growth (8 = linear)")
    for name, unit in _HOSTILE.items():
        small, large = (_mean((unit * (size // len(unit) + 1))[:size], 1) for size in (131_072, 1_048_576))
        print(f"  {name:<26} {1000 * small:>12.0f} {1000 * large:>12.0f}   {large / small:.1f}")
    for path in argv:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        pieces = [text[i : i + 2000] for i in range(0, len(text), 2000)]
        spent = _cpu(lambda: [redact.clean(piece) for piece in pieces])  # noqa: B023  called at once
        print(f"\n{path}: {len(pieces):,} pieces, {1000 * spent / max(1, len(pieces)):.2f} ms each")


def _mean(text: str, times: int) -> float:
    return _cpu(lambda: [redact.clean(text) for _ in range(times)]) / times


def _cpu(work: Callable[[], object], *, children: bool = False) -> float:
    def now() -> float:
        if not children:
            return time.process_time()
        import resource

        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = now()
    work()
    return now() - before


def _cpu_of_nothing() -> float:
    return _cpu(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), children=True)
