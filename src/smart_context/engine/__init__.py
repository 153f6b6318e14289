"""Engines, which store an index: the port that searching and indexing know, and its implementations.

`at` opens nothing: an engine is loaded on first use.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smart_context.engine.port import Engine, Shared


def at(data_dir: str | os.PathLike[str], address: str = "", places: Sequence[str] = ()) -> Engine:
    """The engine at an address: a database, with the ranking derived from it in the data directory; without one, the data directory itself."""
    if address:
        return shared(data_dir, address, places)
    from smart_context.engine.local.engine import Local

    return Local(os.fspath(data_dir))


def shared(data_dir: str | os.PathLike[str], address: str, places: Sequence[str] = ()) -> Shared:
    """The engine with its record in a database. `places`: where folders of the record lie on this machine, as `RECORD=HERE`."""
    from smart_context.engine.postgres.engine import Postgres

    return Postgres(address, os.fspath(data_dir), places)
