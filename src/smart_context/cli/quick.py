"""Run the most frequent commands without click, which takes longer to import than a small search takes.

In: the words of a command line.  Out: the command, run; or nothing, if click must parse them.
Always: what is parsed here is parsed as click does. Whatever is unusual (help, an option that is unknown, given twice, without its value or
with a wrong one) is left to click, which says what is wrong.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from smart_context import defaults
from smart_context.cli import keep_given_options, warn_of_variables

# The kind of an option's value: none, text, a number, a file or folder that may be missing, a place below a root, one of some words. Options
# whose kind ends in "s" may be repeated.
_SETTINGS = {
    "--config": ("config_file", "file"),
    "--root": ("roots", "folders"),
    "--data-dir": ("data_dir", "folder"),
    "--cache-root": ("cache_root", "folder"),
}
_JSON = {"--json": ("as_json", "flag")}
COMMANDS: Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]] = {
    "search": (
        "words",
        {
            "-k": ("k", "number"),
            "--limit": ("k", "number"),
            "--offset": ("offset", "number"),
            "--ext": ("exts", "texts"),
            "--year": ("years", "texts"),
            "--in": ("folders", "places"),
            "--since": ("since", "text"),
            "--until": ("until", "text"),
            "--sort": ("sort", "order"),
            "--all-copies": ("all_copies", "flag"),
            "--explain": ("explain", "flag"),
            "-l": ("names", "flag"),
            "--names": ("names", "flag"),
            "-0": ("null", "flag"),
            "--null": ("null", "flag"),
            "--group": ("grouped", "flag"),
            "--open": ("opened", "number"),
            "--unredacted": ("unredacted", "flag"),
            "--jsonl": ("jsonl", "flag"),
            **_SETTINGS,
            **_JSON,
        },
    ),
    "index": ("folders", {"--full": ("full", "flag"), "--no-embed": ("no_embed", "flag"), **_SETTINGS, **_JSON}),
    "serve": ("", {"--watch": ("watch", "flag"), **_SETTINGS}),
}
_MODULES = {"search": "searching", "index": "indexing", "serve": "serving"}
_NEEDS_WORDS = {"search"}


def run(args: list[str]) -> bool:
    """Run the command, if it is understood here."""
    given = parsed(args)
    if given is None:
        return False
    flags = {name: given.pop(name, None) for name, _ in _SETTINGS.values()}
    flags["config"] = flags.pop("config_file")
    keep_given_options(flags)
    command = import_module(f"smart_context.cli.{_MODULES[args[0]]}")
    from smart_context.settings import config

    settings = config.load(flags)
    warn_of_variables()
    command.run(settings=settings, **given)
    return True


def parsed(args: list[str]) -> dict[str, Any] | None:
    """The arguments of a command by name; None if click must parse them."""
    if not args or args[0] not in COMMANDS:
        return None
    takes, options = COMMANDS[args[0]]
    words: list[str] = []
    given: dict[str, Any] = {}
    rest = iter(args[1:])
    for word in rest:
        if word == "--":
            words += rest
        elif len(word) < 2 or word[0] != "-":
            words.append(word)
        else:
            option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
            name, kind = options.get(option, ("", ""))
            if not name or (name in given and not kind.endswith("s")) or (equals and kind == "flag"):
                return None
            told = None if kind == "flag" else value if equals else next(rest, None)
            understood = True if kind == "flag" else _understood(kind, told)
            if understood is None:
                return None
            given[name] = (*given.get(name, ()), understood) if kind.endswith("s") else understood
    if not takes:
        return None if words else given
    if args[0] in _NEEDS_WORDS:
        return {**given, takes: tuple(words)} if words else None
    places = [_understood("folder", word) for word in words]
    return None if None in places else {**given, takes: tuple(places)}


def _understood(kind: str, told: str | None) -> Any:
    """The parsed value of an option; None if click would refuse it."""
    if told is None:
        return None
    if kind == "number":
        try:
            return int(told)
        except ValueError:
            return None
    if kind == "order":
        return told if told in defaults.SORTS else None
    if kind.startswith("text"):
        return told
    place = os.path.expanduser(told)
    if not place:
        return None
    return (
        place
        if kind.startswith("place") or _may_be(place, stat.S_ISREG if kind.startswith("folder") else stat.S_ISDIR)
        else None
    )


def _may_be(place: str, is_wrong: Any) -> bool:
    """Whether a path is what it should be, or does not exist yet."""
    try:
        mode = os.stat(place).st_mode
    except OSError:
        return True
    return not is_wrong(mode) and os.access(place, os.R_OK)
