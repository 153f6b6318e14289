"""Load everything that a reader may need, while files can still be opened.

In: nothing.  Out: nothing.
Always: after `everything`, reading a file of any format opens no other file: every reader, every codec and the tables that the
C library loads on first use are in memory; codecs as code that has not run yet, with the libraries that they call.
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

# Modules that others import on first use; all modules of `email` do.
_LATE = (
    "smart_context.sources.extract.compound",
    "charset_normalizer",
    "_strptime",
    "stringprep",
    "unicodedata",
    "linecache",
    "traceback",
)

# What codecs import.
_LIBRARIES = (
    "_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp", "_codecs_kr", "_codecs_tw", "_multibytecodec",
    "base64", "binascii", "bz2", "quopri", "re", "stringprep", "unicodedata", "zlib",
)  # fmt: skip


def everything() -> None:
    """Load it."""
    for module in sorted(set(extract.READERS.values())):
        import_module(f"{extract.__name__}.{module}")
    for name in (*_LATE, *(f"email.{each.name}" for each in pkgutil.iter_modules(email.__path__))):
        import_module(name)
    _keep_codecs()
    if hasattr(time, "tzset"):
        time.tzset()


def _keep_codecs() -> None:
    """Keep the code of codecs in memory without running it: most are never used."""
    try:
        for name in _LIBRARIES:
            import_module(name)
        Kept().keep(encodings)
    except (OSError, ImportError):
        for each in pkgutil.iter_modules(encodings.__path__):
            with suppress(LookupError):  # codecs of other systems
                codecs.lookup(each.name)
