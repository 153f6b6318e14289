"""The state file of a ranking: which version made it, and its last commit.

In: the ranking's folder.  Out: its generation, or why it cannot be used.
Always: it is replaced atomically, and only after the commit that it names is on the disk. It is a module of its own so that a run that has
nothing to write need not load the engine to know that the ranking is up to date.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smart_context.errors import SearchFailed

ANALYSIS_VERSION = 9
"""Of the terms that `analysis` makes of a text; another one means another ranking."""

REBUILD = "the index is rebuilt from the record by: context index --rebuild"

_NAME = "generation.json"
_FORMAT = 6


class OtherVersion(SearchFailed):
    """The ranking was made by another version of this program, in a format or by an analysis that is not ours: nothing is wrong with it."""


def read(folder: Path) -> int:
    """The generation of a ranking's last commit.

    Raises: SearchFailed where there is none, it was made by another version, or it is damaged; OSError when it cannot be read.
    """
    try:
        state = json.loads((folder / _NAME).read_text(encoding="utf-8"))
        made_by, generation = (state["format"], state["analysis"]), int(state["generation"])
    except FileNotFoundError:
        raise SearchFailed(f"there is no ranking index in {folder}", hint=REBUILD) from None
    except (ValueError, KeyError, TypeError) as error:
        raise SearchFailed(f"the ranking index {folder} is damaged", hint=REBUILD) from error
    if made_by != (_FORMAT, ANALYSIS_VERSION):
        raise OtherVersion(f"the ranking index {folder} was made by another version", hint=REBUILD)
    return generation


def source(folder: Path) -> dict[str, Any]:
    """What a ranking says of the record that it was derived from; nothing where that lies beside it, or cannot be read."""
    try:
        found = json.loads((folder / _NAME).read_text(encoding="utf-8"))["source"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def text(folder: Path) -> bytes:
    """All that a ranking says, as it is written; nothing where it says nothing.

    Raises: OSError when it cannot be read.
    """
    try:
        return (folder / _NAME).read_bytes()
    except FileNotFoundError:
        return b""


def write(folder: Path, generation: int, source: Mapping[str, Any] | None = None) -> None:
    """Write a ranking's generation, and the source that it was derived from."""
    state = {"format": _FORMAT, "analysis": ANALYSIS_VERSION, "generation": generation}
    _put(folder, {**state, "source": dict(source)} if source else state)


def tell(folder: Path, *, parts: int) -> None:
    """Note that a ranking has other parts than before, so that readers reload."""
    _put(folder, {**json.loads(text(folder)), "parts": parts})


def _put(folder: Path, state: Mapping[str, Any]) -> None:
    beside = folder / f"{_NAME}.new"
    with beside.open("w", encoding="utf-8", newline="") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(folder / _NAME)
