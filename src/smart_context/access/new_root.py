"""Add a folder that somebody types to the roots of a running server.

In: what was typed, and the roots there are.  Out: the folder's name, kept in the configuration file where the roots come from there.
Always: what cannot be a root is refused with what to do instead; a file that names other roots than the server has is left alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from smart_context.access.roots import Roots, is_within
from smart_context.errors import BadRequest, ContextError
from smart_context.settings import config, write


def checked(typed: str, roots: Roots, data_dir: str) -> str:
    """Give the name of a folder that can be a root.

    Raises: BadRequest.
    """
    name = os.path.expanduser(typed.strip())
    if not os.path.isabs(name) or "\0" in name:
        raise BadRequest("that is not a whole path", hint="begin with / or ~/, such as ~/Documents")
    name = os.path.normpath(name)
    if not os.path.exists(name):
        raise BadRequest(f"there is no folder {name}", hint="check the spelling; a share has to be mounted first")
    if not os.path.isdir(name):
        raise BadRequest(f"{name} is a file", hint=f"name the folder that holds it: {os.path.dirname(name)}")
    if not os.access(name, os.R_OK | os.X_OK):
        raise BadRequest(
            f"{name} may not be read by this server", hint="change its permissions, or name another folder"
        )
    if wide := too_wide(name):
        hint = f"name the folders that matter; if you mean all of it, in a terminal: context roots add --yes {name}"
        raise BadRequest(f"{name} {wide}", hint=hint)
    real = os.path.realpath(name)
    for root, real_root in roots.resolved.items():
        if is_within(real, real_root):
            raise BadRequest(f"{name} is a root already, or lies in one: {root}", hint="search finds what is in it")
    if is_within(real, os.path.realpath(data_dir)):
        raise BadRequest(f"{name} holds the index itself", hint="name a folder with your own files")
    return name


def keep(name: str, roots: Roots, settings: config.Settings) -> bool:
    """Write a root into the configuration file; False where the server's roots come from its command line or environment.

    Raises: BadRequest where the file cannot be changed.
    """
    path = Path(settings.config_file or config.config_path())
    try:
        told = config.load({"config": str(path)} if path.exists() else {}).roots
        if tuple(map(os.path.abspath, told)) != roots.names:
            return False
        write.add_root(path, name)
    except (ContextError, UnicodeEncodeError) as error:
        why = error.message if isinstance(error, ContextError) else "the folder's name is not UTF-8"
        raise BadRequest(
            f"{path} cannot be changed: {why}", hint="correct it, or start the server with --root"
        ) from error
    return True


def too_wide(name: str) -> str:
    """What is too much about a folder to become a root unasked, for people who type `/` or `~` often mean less; "" for most folders."""
    real, own = os.path.realpath(name), os.path.realpath(os.path.expanduser("~"))
    if real == os.path.realpath(os.sep):
        return "is the whole file system"
    if real == own:
        return "is your whole home folder"
    return "holds your whole home folder" if is_within(own, real) else ""
