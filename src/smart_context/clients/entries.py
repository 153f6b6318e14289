"""Check the entries that we wrote into clients' settings, and plan how to repair one.

In: where clients keep their settings.  Out: `Fault`s: a program that is gone, one of another version, a folder that has vanished.
Always: nothing is changed here; no program of a project's settings is run, since anybody may have written those.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise

from smart_context.clients import change, command, probe
from smart_context.clients.known import Client, Places
from smart_context.data import dataclass
from smart_context.errors import IoError

_START = "serve"
# What is not there now may be plugged in or mounted again.
_COMES_AND_GOES = ("/media/", "/mnt/", "/run/media/", "/net/", "/Volumes/")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with an entry; mended: the command that would be right, empty where only the user can tell."""

    what: str
    mended: tuple[str, ...] = ()


def faults(client: Client, places: Places, version: str) -> Iterator[Fault] | None:
    """Look over the client's entry, None where it has none. `version` is ours.

    Raises: ConfigError for settings that cannot be read.
    """
    words = change.command_of(client, places)
    return None if words is None else _faults(client, words, version)


def _faults(client: Client, words: Sequence[str], version: str) -> Iterator[Fault]:
    if not words or _START not in words:
        yield Fault("its entry starts no server of ours")
        return
    at = words.index(_START)
    program, arguments = words[:at], words[at:]
    ours = (*command.words(), *arguments)
    if not _is_there(program[0]):
        yield Fault(f"its entry starts {program[0]}, which is gone", ours)
    elif list(program) != command.words() and client.base != "project":
        other = _version(program)
        if other is None:
            yield Fault(f"its entry starts {' '.join(program)}, which does not run", ours)
        elif other != version:
            yield Fault(f"its entry starts version {other} ({program[0]}); this is {version}", ours)
    for root in _roots(arguments):
        if not os.path.isdir(root):
            yield Fault(f"its entry serves {root}, which is not there", _without(words, root))


def _is_there(program: str) -> bool:
    return shutil.which(program) is not None


def _version(program: Sequence[str]) -> str | None:
    try:
        return probe.version(program)
    except IoError:
        return None


def _roots(arguments: Sequence[str]) -> list[str]:
    return [value for option, value in pairwise(arguments) if option == "--root"]


def _without(words: Sequence[str], root: str) -> tuple[str, ...]:
    """The command without a folder that was removed; nothing for the last one, and for one that may only be unplugged."""
    others = [other for other in _roots(words) if other != root]
    if not others or root.startswith(_COMES_AND_GOES) or not os.path.isdir(os.path.dirname(root)):
        return ()
    kept: list[str] = []
    for word in words:
        if word == root and kept and kept[-1] == "--root":
            kept.pop()
        else:
            kept.append(word)
    return tuple(kept)
