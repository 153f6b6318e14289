"""Distinguish an unmounted folder from one that was emptied.

In: the record, which has the mounts of the last run, and a folder.  Out: the mounts at or below it that are not mounted now.
Always: it changes nothing. An unmounted folder has not lost its files, so nothing below it may be removed from the index.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from smart_context.access.mounted import is_away

if TYPE_CHECKING:
    from smart_context.engine.port import Record

AWAY = "not mounted now; its files are kept as they were indexed last"


def away(record: Record, folder: str) -> dict[str, int]:
    """The mounts inside a folder that are not there now, with the device each lay on."""
    return {path: device for path, device in record.mounts(folder).items() if path != folder and is_away(path, device)}


def of_top(folder: str) -> dict[str, int]:
    """The device of a folder, if it is a mount: the walk that starts there does not see its parent."""
    try:
        device, outside = os.stat(folder).st_dev, os.stat(os.path.dirname(folder)).st_dev
    except OSError:  # gone since the walk
        return {}
    return {folder: device} if device != outside else {}
