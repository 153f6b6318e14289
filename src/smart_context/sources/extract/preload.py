"""Load whatever a reader may ever ask for, while files can still be opened.

In: nothing.  Out: nothing.
Always: after `everything`, reading a file of any format opens no other: every reader, every codec and the tables of the
system's library that come with the first use are in memory; codecs that are tables alone as code that has not run yet.
"""

from __future__ import annotations

import codecs
import email
import encodings
import pkgutil
import time
from contextlib import suppress
from importlib import import_module

from smart_context.sources import extract, sniff  # noqa: F401  every file is sniffed first
from smart_context.sources.kept import Kept

# Modules that others import when they are first used; those of `email` all do.
_LATE = (
    "smart_context.sources.extract.compound",
    "charset_normalizer",
    "_strptime",
    "stringprep",
    "unicodedata",
    "linecache",
    "traceback",
)

_TABLES = ("cp", "iso8859_", "koi8_", "mac_", "kz1048", "ptcp154", "palmos", "tis_620", "hp_roman8")
_NO_TABLES = frozenset({"cp932", "cp949", "cp950", "cp65001"})  # of several bytes: they need a library


def everything() -> None:
    """Load it."""
    for module in sorted(set(extract.READERS.values())):
        import_module(f"{extract.__name__}.{module}")
    for name in (*_LATE, *(f"email.{each.name}" for each in pkgutil.iter_modules(email.__path__))):
        import_module(name)
    kept = frozenset(_tables())
    for each in pkgutil.iter_modules(encodings.__path__):
        if f"encodings.{each.name}" not in kept:
            with suppress(LookupError):  # codecs of other systems
                codecs.lookup(each.name)
    if hasattr(time, "tzset"):
        time.tzset()


def _tables() -> list[str]:
    """Keep the codecs that need nothing but a table of their own."""
    try:
        return Kept().keep(encodings, lambda name: name.startswith(_TABLES) and name not in _NO_TABLES)
    except OSError:
        return []
