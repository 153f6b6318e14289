import os
from collections.abc import Iterable
from typing import Any

def unmet(
    folder: int,
    path: str,
    found: Iterable[os.DirEntry[str]],
    known: dict[str, Any],
    names: list[str],
    stamps: list[Any],
    /,
) -> list[os.DirEntry[str]]: ...
