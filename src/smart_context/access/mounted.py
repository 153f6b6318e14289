"""Tell a mounted folder that is away from one that was emptied.

In: a folder, and the device that it lay on.  Out: whether it is away.
Always: it only looks.
"""

from __future__ import annotations

import os


def is_away(path: str, device: int) -> bool:
    """Say whether a folder that lay on a device is an empty place now, or none at all."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None and os.stat(path).st_dev != device
    except OSError:  # removed with the mount, as some desktops do, or a connection that is gone
        return True
