"""What holds an index: the port that searching and indexing know, and who stands behind it.

`at` opens none of it: an engine is loaded when something is asked of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smart_context.engine.port import Engine


def at(address: str | os.PathLike[str]) -> Engine:
    """The engine at an address: a data directory."""
    from smart_context.engine.local.place import Local

    return Local(os.fspath(address))
