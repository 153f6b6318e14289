"""The reading process of an index: read a file, and prepare it for the index.

In: a `Preparing`, then the arguments of `worker_child`; with a file that OCR has read, an `ocr_text.OcrRequest`.  Out: a `Prepared` for each file.
Always: everything is loaded before the first file is read; hostile bytes are parsed here and nowhere else.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
from collections.abc import Sequence
from importlib import import_module

from smart_context import redact
from smart_context.index import ocr_text, prepare
from smart_context.index.reading import Preparing
from smart_context.model import Extracted, Limits, Prepared, Skipped
from smart_context.redact import Redactor
from smart_context.sources.extract.sight import Sight
from smart_context.text import languages, stems


def main(args: Sequence[str]) -> None:
    """Read and prepare files until the parent closes the socket."""
    how, redactor = loaded(args[0])
    from smart_context.sources import extract, worker_child

    def read(data: bytes | mmap.mmap, name: str, limits: Limits, more: bytes = b"") -> Prepared | Skipped:
        sight = _before(data, more) if more else None
        found = worker_child.within_limits(extract.extract(data, os.path.basename(name), limits, sight), limits)
        if not isinstance(found, Extracted):
            return found
        worker_child.grant_cpu(limits)  # what follows is our own code, whose cost depends on the text's length alone
        return prepare.file(found, name, how, redactor)

    worker_child.serve(args[1:], read)


def _before(data: bytes | mmap.mmap, more: bytes) -> Sight | None:
    """What OCR read of a file before, as long as its bytes are the same."""
    import hashlib  # imported here, because the parent imports this module and must start without OpenSSL

    asked = ocr_text.from_json(more)
    is_same = hashlib.sha256(data).hexdigest() == asked.sha256
    return Sight(known=asked.recognized()) if is_same else None


def loaded(told: str) -> tuple[Preparing, Redactor]:
    """The `Preparing` of the command line, with everything loaded that reading and redaction need. The garbage collector is off until files are served."""
    gc.disable()
    from smart_context.sources.extract import preload

    preload.everything()
    _load_rules()
    how = json.loads(told)
    preparing = Preparing(how["max_chars"], tuple(how["patterns"]), how["searched"])
    redactor = Redactor(preparing.patterns)
    redactor.clean("warm up: name@example.com +49 30 1234567 password=1")  # loads what detectors import on first use
    return preparing, redactor


def _load_rules() -> None:
    """Load what redaction and analysis load on first use: in the jail nothing can be opened."""
    import pkgutil

    for module in pkgutil.iter_modules(redact.__path__):
        import_module(f"{redact.__name__}.{module.name}")
    _keep_numbering_plans()
    for language in languages.CODES:
        stems.stem(["word"], language)


def _keep_numbering_plans() -> None:
    """Keep the numbering plan of each country as code that runs when a text may have a number of it: few files have one."""
    from phonenumbers import PhoneMetadata, data

    from smart_context.sources.kept import Kept

    try:
        Kept().keep(data)
    except OSError:
        PhoneMetadata.load_all()
