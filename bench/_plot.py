"""Draw lines on logarithmic axes into an SVG file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 70, 230, 40, 40
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a")
_HARDLY = 0.1  # of a decade


@dataclass(frozen=True)
class Line:
    """A named line through (x, y) points, all positive."""

    name: str
    points: Sequence[tuple[float, float]]


def write_svg(path: Path, title: str, lines: Sequence[Line]) -> None:
    """Draw the lines with both axes logarithmic, decades marked, names at the right ends."""
    points = [point for line in lines for point in line.points]
    across = _Axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    up = _Axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [f'<text x="{LEFT}" y="22" font-weight="bold">{escape(title)}</text>']
    for value in up.marks():
        y = up.at(value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,g}</text>')
    parts += [
        f'<text x="{across.at(value):.1f}" y="{HEIGHT - 14}" text-anchor="middle">{value:,.0f}</text>'
        for value in across.marks()
    ]
    label = float(-HEIGHT)
    # From the highest end down, so that names which must make room stay in the order of their lines.
    for line, colour in sorted(zip(lines, COLOURS, strict=False), key=lambda pair: -pair[0].points[-1][1]):
        where = [(across.at(x), up.at(y)) for x, y in line.points]
        path_data = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
        parts.append(f'<polyline points="{path_data}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in where]
        label = max(where[-1][1], label + 15)
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{label + 4:.1f}" fill="{colour}">{escape(line.name)}</text>')
    body = "\n".join(parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n',
        encoding="utf-8",
    )


class _Axis:
    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low, top = math.floor(math.log10(min(values))), math.log10(max(values))
        # What is hardly more than a power of ten gets no empty decade of its own.
        self.high = max(top if top - math.floor(top) < _HARDLY else math.ceil(top), self.low + 1)
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def marks(self) -> list[float]:
        between = (1, 2, 5) if self.high - self.low <= 1 else (1,)
        marks = [step * 10.0**power for power in range(self.low, math.floor(self.high) + 1) for step in between]
        return [mark for mark in marks if math.log10(mark) <= self.high]
