"""Open a file on the owner's own machine: in its application, or its folder.

In: a path that was confined to the roots.  Out: nothing; the desktop takes over.
Always: only for the owner, at this machine; programs are never started, only documents opened.
"""

from __future__ import annotations

import os

from smart_context import launch
from smart_context.errors import Forbidden, NotFound

_PROGRAMS = (
    ".app", ".appimage", ".bat", ".cmd", ".com", ".command", ".desktop", ".exe", ".jar", ".lnk", ".msi", ".ps1", ".py", ".sh", ".url",
    ".vbs",
)  # fmt: skip


def show(path: str, *, folder: bool) -> None:
    """Open a file, or the folder in which it lies.

    Raises: Forbidden for a program; NotFound where there is no desktop, or no application for the file.
    """
    if not folder and (os.path.splitext(path)[1].lower() in _PROGRAMS or os.access(path, os.X_OK)):
        raise Forbidden("this file may be a program", hint="show its folder instead")
    try:
        if not launch.document(os.path.dirname(path) if folder else path):
            raise NotFound("no application opened it", hint="open it by hand")
    except FileNotFoundError:
        hint = f"{launch.PROGRAM} would open the file"
        raise NotFound("there is no desktop on this machine", hint=hint) from None
