"""Open a file in its application, or a folder, as a click on it would.

In: a path.  Out: whether an application took it.
Always: nothing of what the desktop's program writes reaches our terminal or protocol; nobody waits for the application to end.
"""

from __future__ import annotations

import subprocess
import sys

PROGRAM = "open" if sys.platform == "darwin" else "xdg-open"
# Seconds in which it fails if no application takes the file; with some desktops it runs for as long as the application.
_FAILS_WITHIN = 3.0


def document(path: str) -> bool:
    """Open a file or folder; False where nothing can.

    Raises: FileNotFoundError where there is no such program.
    """
    started = subprocess.Popen(
        [PROGRAM, path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return started.wait(_FAILS_WITHIN) == 0
    except subprocess.TimeoutExpired:
        return True
