"""The OCR engines: Tesseract, or RapidOCR where it is chosen.

In: the name of an engine and languages.  Out: the files that it needs, and from these the engine itself.
Always: finding the files loads nothing, so that missing ones are reported before a process is started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smart_context.data import dataclass
from smart_context.sources import rapidmodels, tessdata
from smart_context.sources.extract.sight import Engine

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """Limits of an OCR process in bytes: resident memory at which others wait for it, address space in addition to what it starts with,
    and resident memory at which it is replaced."""

    held: int
    extra: int
    replace_above: int


_TESSERACT = Memory(400_000_000, 768 * _MB, 512 * _MB)
_RAPIDOCR = Memory(700_000_000, 1536 * _MB, 900 * _MB)


def data(engine: str, languages: Sequence[str], folder: str = "") -> dict[str, str]:
    """The files that an engine needs for these languages; `folder`: the only place to look for Tesseract's.

    Raises: ConfigError where the extra or some of the data is missing.
    """
    return rapidmodels.files(languages) if engine == "rapidocr" else tessdata.files(languages, folder)


def memory(files: Mapping[str, str]) -> Memory:
    """What the engine of these files may take."""
    return _RAPIDOCR if rapidmodels.READS in files else _TESSERACT


def load(files: Mapping[str, str]) -> Engine:
    """The engine of these files, with everything loaded.

    Raises: RuntimeError when they cannot be used.
    """
    if rapidmodels.READS in files:
        from smart_context.sources import rapid

        return rapid.Rapid(files)
    from smart_context.sources import tesseract

    return tesseract.Tesseract(files)
