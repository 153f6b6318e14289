"""File names as terms, by which a file is found when its name is typed.

In: a path, or what somebody typed.  Out: terms: the name with and without its extension, alone and with its folder.
Always: case, accents and separators make no difference (`Base-Events.py` is `base_events.py`), except the dot of the extension.
"""

from __future__ import annotations

import os
import re

from smart_context.text.words import fold, normal

MARK = "/"  # what a name's term begins with; no word of a text does
LIKE = re.compile(r"\w[._/\\-]\w")  # what looks like a file name, and not like a word
_PART = re.compile(r"[^\W_]+")
_EXTENSION = re.compile(r"(?<=.)\.([A-Za-z0-9]{1,8})$")
_COMPRESSED = re.compile(r"(?<=.)\.(?:gz|bz2|xz|zst|lzma)$", re.IGNORECASE)
_LONGEST = 120
_BETWEEN = bytes(code for code in range(128) if not chr(code).isalnum())  # what joins parts, in ASCII


def of_file(path: str) -> list[str]:
    """The terms of a file's name: whole and without its extension, alone and below its folder; of a compressed file also without that."""
    folder, name = os.path.split(path)
    parent = _key(os.path.basename(folder))
    both = dict.fromkeys((name, _COMPRESSED.sub("", name)))
    own = [key for one in both for key in (_with_extension(one), _key(_EXTENSION.sub("", one))) if key]
    return [MARK + key for key in dict.fromkeys(own)] + [
        f"{MARK}{parent}/{key}" for key in dict.fromkeys(own) if parent
    ]


def asked(typed: str) -> list[str]:
    """The terms of a typed text as a file name, the most exact first; a folder before the name is required."""
    *folders, name = typed.replace("\\", "/").rstrip("/").split("/")
    parent = _key(folders[-1]) if folders else ""
    own = dict.fromkeys(key for key in (_with_extension(name), _key(name)) if key)
    return [f"{MARK}{parent}/{key}" if parent else MARK + key for key in own]


def is_spelt(path: str, typed: str, *, cased: bool = False) -> bool:
    """Whether a file has exactly the typed name, with its extension or without; cased: case matters."""
    name, asked = os.path.basename(path), os.path.basename(typed.replace("\\", "/").rstrip("/"))
    if not cased:
        name, asked = name.lower(), asked.lower()
    inner = _COMPRESSED.sub("", name)
    return asked in {name, inner, _EXTENSION.sub("", name), _EXTENSION.sub("", inner)}


def _with_extension(name: str) -> str:
    found = _EXTENSION.search(name)
    stem = _key(name[: found.start()]) if found else ""
    return f"{stem}.{found[1].lower()}" if found and stem else ""


def _key(name: str) -> str:
    if name.isascii():  # the same in a third of the time
        return name.lower().encode().translate(None, _BETWEEN).decode()[:_LONGEST]
    plain = fold(normal(name.encode("utf-8", "replace").decode()))
    return "".join(_PART.findall(plain))[:_LONGEST]
