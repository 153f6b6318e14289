"""Open a file on the owner's own machine: in its application, or its folder.

In: a path that was confined to the roots.  Out: nothing; the desktop takes over.
Always: only for the owner, at this machine; programs are never started, only documents opened.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from smart_context.errors import Forbidden, NotFound

_PROGRAMS = (
    ".app", ".appimage", ".bat", ".cmd", ".com", ".command", ".desktop", ".exe", ".jar", ".lnk", ".msi", ".ps1", ".py", ".sh", ".url",
    ".vbs",
)  # fmt: skip


def show(path: str, *, folder: bool) -> None:
    """Open a file, or the folder in which it lies.

    Raises: Forbidden for a program; NotFound where there is no desktop.
    """
    if not folder and (os.path.splitext(path)[1].lower() in _PROGRAMS or os.access(path, os.X_OK)):
        raise Forbidden("this file may be a program", hint="show its folder instead")
    command = "open" if sys.platform == "darwin" else "xdg-open"
    if shutil.which(command) is None:
        raise NotFound("there is no desktop on this machine", hint=f"{command} would open the file")
    what = [os.path.dirname(path)] if folder else [path]
    subprocess.Popen(
        [command, *what],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
