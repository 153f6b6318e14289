"""Names of files as terms: what a file is found by when its name is typed.

In: a path, or what somebody typed.  Out: terms, each the name or its stem, alone and with the folder it stands in.
Always: case, accents, and what joins the parts of a name make no difference (`Base-Events.py` is `base_events.py`); the extension is apart.
"""

from __future__ import annotations

import os
import re

from smart_context.text.words import fold, normal

MARK = "/"  # what a name's term begins with; no word of a text does
LIKE = re.compile(r"\w[._/\\-]\w")  # what is written as names are, and words are not
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
    """The terms that something typed may mean as a name, the most exact first; a folder before it binds."""
    *folders, name = typed.replace("\\", "/").rstrip("/").split("/")
    parent = _key(folders[-1]) if folders else ""
    own = dict.fromkeys(key for key in (_with_extension(name), _key(name)) if key)
    return [f"{MARK}{parent}/{key}" if parent else MARK + key for key in own]


def is_spelt(path: str, typed: str, *, cased: bool = False) -> bool:
    """Whether a file is called exactly what was typed: with its extension, or without; but for case, unless that counts."""
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
