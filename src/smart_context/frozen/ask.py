"""Ask a search for what is to be frozen.

In: an index, its roots and a `Question`.  Out: the places that answer, best first, at most `k`.
Always: all of them come from one committed state of the index, and its record is the one that texts are taken from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from smart_context.access.roots import Roots, parsed
from smart_context.data import replace
from smart_context.defaults import MAX_K
from smart_context.errors import BadRequest, Forbidden, IoError, NotFound
from smart_context.find import when
from smart_context.find.model import SearchRequest
from smart_context.frozen import collect
from smart_context.frozen.collect import Picked, Text
from smart_context.frozen.provenance import Provenance, Question

if TYPE_CHECKING:
    from smart_context.engine.port import Record
    from smart_context.find.model import SearchPage
    from smart_context.redact import Redactor

MOST = 10_000  # documents of one cache
Find = Callable[[SearchRequest], "SearchPage"]


def places(find: Find, question: Question, folders: tuple[str, ...], *, whole_files: bool) -> list[Picked]:
    """Return the first `k` places that a question finds; of whole files, the first `k` files. Raises: BadRequest."""
    if not 1 <= question.k <= MOST:
        raise BadRequest(f"`k` must be from 1 to {MOST}")
    found: dict[tuple[str, str | None], Picked] = {}
    asked = SearchRequest(
        question.query,
        MAX_K,
        0,
        question.exts,
        question.years,
        folders,
        since=question.since,
        until=question.until,
    )
    while len(found) < question.k:
        page = find(asked)
        for item in page.items:
            path = parsed(item.path)
            key = (path, None if whole_files else item.pointer)
            if key not in found and len(found) < question.k:
                found[key] = Picked(*key, item.score)
        if len(page.items) < MAX_K:
            break
        asked = replace(asked, offset=asked.offset + MAX_K)
    return list(found.values())


def dated(question: Question, today: str) -> Question:
    """Return a question whose times are days, whatever they were called today. Raises: BadRequest."""
    times = when.given(question.since, question.until, today)
    return replace(question, since=times.since, until=times.until)


def relative(folders: Iterable[str], roots: Roots) -> tuple[str, ...]:
    """Return folders as paths below their roots. Raises: Forbidden."""
    found = [roots.inside(folder) for folder in folders]
    return tuple(place.path[len(place.root.rstrip("/")) + 1 :] for place in found)


def absolute(folders: Iterable[str], roots: Roots) -> tuple[str, ...]:
    """Return where folders below roots may be now."""
    return tuple(os.path.join(root, folder).rstrip("/") or "/" for folder in folders for root in roots.names)


def printed(path: str) -> list[Picked]:
    """Read what `context search --json` printed. Raises: IoError, BadRequest."""
    try:
        rows = json.loads(_lines(path))["items"]
        return [Picked(parsed(str(row["path"])), str(row["pointer"]), float(row.get("score", 0))) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"{path} is not what a search printed", hint="context search … --json > FILE") from error


def listed(path: str) -> list[Picked]:
    """Read a list of paths, one a line, relative ones from the working folder. Raises: IoError."""
    names = dict.fromkeys(os.path.abspath(line) for line in _lines(path).split("\n") if line.strip())
    return [Picked(name, None, 1.0) for name in names]


def again(record: Record, roots: Roots, origin: Provenance, redactor: Redactor | None) -> list[Text]:
    """Return the current texts of the places that a cache's documents came from; missing ones are left out."""
    return [
        text for row in origin.documents for text in _there(record, roots, row.source, row.pointer, origin, redactor)
    ]


def _there(
    record: Record, roots: Roots, source: str, pointer: str, origin: Provenance, redactor: Redactor | None
) -> Iterator[Text]:
    for root in roots.names:
        path = os.path.join(root, parsed(source))
        try:
            place = roots.inside(path)
            yield from collect.texts(
                record, roots, [Picked(place.path, None if origin.whole_files else pointer, 1.0)], redactor
            )
        except (NotFound, Forbidden):
            continue
        return


def _lines(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            return file.read()
    except OSError as error:
        raise IoError(f"cannot read {path}", reason=error.strerror) from error
