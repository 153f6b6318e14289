"""Read plain text, source code, Markdown, JSON and notebooks.

In: the bytes of a text file.  Out: its lines, numbered from 1, unchanged but for embedded pictures and the letters that JSON writes as escapes.
Always: line n of the units is line n of the file (for a notebook: of all its cells in sequence). Markdown has one unit per heading, so that headings can be searched.
"""

from __future__ import annotations

import json
import re

from smart_context.model import Extracted, Unit
from smart_context.sources.extract import Buffer, Job
from smart_context.sources.extract.encoding import clean, decode_capped
from smart_context.sources.extract.properties import About, day

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t])")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_LONGEST_HEADING = 200
_BASE64 = ";base64,"
# A picture, sound, font or program as a data URL, which in JSON may have escaped slashes. Its data are no words, and there may be megabytes of them.
_EMBEDDED = re.compile(
    r"(\bdata:(?:image|audio|video|font|application)\\?/[\w.+-]{1,80}(?:;[\w.+=-]{1,80}){0,4};base64,)(?:[A-Za-z0-9+/_-]|\\/){64,}+={0,2}",
    re.ASCII,
)
# Escapes of letters (`\u00fc`; beyond U+FFFF two) and of space between words (`\n`), of which the index would make words. Two backslashes are one in the text.
_ESCAPE = re.compile(r"\\\\|(\\[nrtf])|((?:\\u[0-9A-Fa-f]{4})+)")
# A line remains one line, and what is valid JSON remains valid.
_STAYS = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": " ", "\r": " "})


def read(data: Buffer, job: Job) -> Extracted:
    """Read a text file of any encoding."""
    text, notes = decode_capped(data, job.limits)
    if job.name.lower().endswith(".ipynb"):
        cells = _notebook(text)
        if cells is not None:
            return Extracted(job.kind, "", cells, notes)
    if _BASE64 in text:
        text = _EMBEDDED.sub(r"\1…", text)
    if "\\" in text and (job.kind == "json" or job.name.lower().endswith(".properties")):
        text = clean(_ESCAPE.sub(_unescaped, text))
    if job.kind == "markdown":
        about, units = _markdown(text, job.limits.max_units)
        return about.extracted(job.kind, units, notes)
    return Extracted(job.kind, "", (Unit((), text, divisible="lines"),) if text.strip() else (), notes)


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return " "
    if not match[2]:
        return match[0]
    return bytes.fromhex(match[2].replace("\\u", "")).decode("utf-16-be", "replace").translate(_STAYS)


def _markdown(text: str, most: int) -> tuple[About, tuple[Unit, ...]]:
    lines = text.split("\n")
    starts = _headings(lines)
    title = _words(_front(lines, "title")) or next((heading for _, level, heading in starts if level == 1), "")
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, 0, ""))
    starts = starts[:most]
    units = []
    for position, (start, _, heading) in enumerate(starts):
        end = starts[position + 1][0] if position + 1 < len(starts) else len(lines)
        block = "\n".join(lines[start:end])
        if block.strip():
            units.append(Unit((), block, heading, "lines", start + 1))
    return About(title, _front(lines, "author"), day(_front(lines, "date"))), tuple(units)


def _headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """The headings: (line from 0, level, words). Fenced code has none, and neither has front matter."""
    found: list[tuple[int, int, str]] = []
    fence = ""
    skip_to = _front_end(lines)
    for at, line in enumerate(lines):
        if at < skip_to:
            continue
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif match[1].startswith(fence):
                fence = ""
            continue
        if fence:
            continue
        if match := _HEADING.match(line):
            found.append((at, len(match[1]), _words(line[match.end() :].rstrip().rstrip("#"))))
        elif (match := _UNDERLINE.match(line)) and _can_be_underlined(lines, at, skip_to):
            found.append((at - 1, 1 if match[1][0] == "=" else 2, _words(lines[at - 1])))
    return found


def _can_be_underlined(lines: list[str], at: int, skip_to: int) -> bool:
    above = lines[at - 1].strip() if at > skip_to else ""
    alone = at - 1 <= skip_to or not lines[at - 2].strip() or bool(_FENCE.match(lines[at - 2]))
    return bool(above) and alone and above[0] not in "#>|-*+" and not _FENCE.match(above)


def _front_end(lines: list[str]) -> int:
    """The line after YAML front matter, 0 if there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((at + 1 for at, line in enumerate(lines[1:200], 1) if line.rstrip() in {"---", "..."}), 0)


def _front(lines: list[str], key: str) -> str:
    """A value of the front matter, or ""."""
    found = (
        line[len(key) + 1 :].strip().strip("'\"") for line in lines[1 : _front_end(lines)] if line.startswith(f"{key}:")
    )
    return next(found, "")


def _words(text: str) -> str:
    return " ".join(text[:1000].split())[:_LONGEST_HEADING]


def _notebook(text: str) -> tuple[Unit, ...] | None:
    """The cells' sources and printed outputs; None if this is no notebook after all. Lines are numbered over all cells."""
    try:
        book = json.loads(text)
    except (ValueError, RecursionError):
        return None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        return None
    lines: list[str] = []
    for cell in cells:
        if isinstance(cell, dict):
            lines += _joined(cell.get("source")).split("\n")
            for output in cell["outputs"] if isinstance(cell.get("outputs"), list) else ():
                lines += _printed(output)
    return (Unit((), "\n".join(lines), divisible="lines"),) if any(lines) else ()


def _printed(output: object) -> list[str]:
    if not isinstance(output, dict):
        return []
    data = output.get("data")
    shown = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else None)
    return _joined(shown).split("\n") if shown else []


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
