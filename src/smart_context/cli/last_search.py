"""The last search of a person: `context open 3` shows its third result.

In: a page of results.  Out: the path and pointer of one of them, later.
Always: neither the query nor any text is kept; the file holds one page at most, and nobody else may read it. Opening a result
checks the roots again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context import regular
from smart_context.errors import NotFound

if TYPE_CHECKING:
    from smart_context.find.model import SearchPage

FILE = "last-search.json"
_MOST_BYTES = 4_000_000


def keep(data_dir: str, page: SearchPage) -> None:
    """Remember where the results of a page are. A folder that cannot be written is no reason to fail."""
    rows = [[item.path, item.pointer] for item in page.items]
    data = json.dumps({"offset": page.offset, "results": rows}).encode()
    folder = Path(data_dir)
    if not folder.is_dir() or len(data) > _MOST_BYTES:
        return
    beside = folder / f".{FILE}.{os.getpid()}"
    with suppress(OSError):
        beside.unlink(missing_ok=True)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        os.replace(beside, folder / FILE)


def result(data_dir: str, number: int) -> tuple[str, str]:
    """Path and pointer of a result, by the number that the search showed.

    Raises: NotFound where there was no such search or result.
    """
    try:
        kept = json.loads(regular.read(Path(data_dir) / FILE, _MOST_BYTES))
        offset, rows = int(kept["offset"]), [(str(path), str(pointer)) for path, pointer in kept["results"]]
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise NotFound("there was no search yet", hint="run: context search WORDS") from None
    if not 0 < number - offset <= len(rows):
        shown = f"it showed {offset + 1} to {offset + len(rows)}" if rows else "it found nothing"
        raise NotFound(
            f"the last search has no result {number}; {shown}", hint=f"a file of that name is written ./{number}"
        )
    return rows[number - offset - 1]


def clear(data_dir: str) -> None:
    """Forget the last search."""
    with suppress(OSError):
        (Path(data_dir) / FILE).unlink(missing_ok=True)
