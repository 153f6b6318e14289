"""Find what RapidOCR needs on this machine: the extra's libraries, and the networks of its wheel.

In: languages as people write them.  Out: files of networks, by what they do.
Always: nothing is loaded and nothing is fetched; what is missing, and what it cannot read, is named with what to do.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from importlib.util import find_spec

from smart_context.errors import ConfigError, how_to_add
from smart_context.sources import tessdata

FINDS, READS = "rapidocr: finds lines", "rapidocr: reads lines"
_MODULES = ("rapidocr", "onnxruntime", "cv2", "PIL")
_NETWORKS = {FINDS: "*_det_*.onnx", READS: "*_rec_*.onnx"}
# Its network knows Chinese and Japanese characters and Latin letters with most of their marks; no other script. Names are Tesseract's.
_READ = frozenset({
    "cat", "ces", "chi_sim", "chi_tra", "dan", "deu", "eng", "est", "fin", "fra", "hrv", "hun", "ind", "ita", "jpn", "lav", "lit", "nld",
    "nor", "pol", "por", "ron", "slk", "slv", "spa", "swe", "tur",
})  # fmt: skip


def is_installed() -> bool:
    """Whether the extra's libraries are there."""
    return all(find_spec(module) is not None for module in _MODULES)


def files(languages: Sequence[str]) -> dict[str, str]:
    """The networks; they read every language that they know.

    Raises: ConfigError where the extra or a network is missing, and for a language that it cannot read.
    """
    unknown = [language for language in languages if tessdata.name_of(language) not in _READ]
    if unknown:
        hint = 'set ocr.engine = "tesseract", or leave them out of ocr.languages: it reads Chinese, Japanese and Latin letters'
        raise ConfigError(f"rapidocr cannot read: {', '.join(unknown)}", hint=hint)
    if not is_installed():
        raise ConfigError("the extra `rapidocr` is not installed", hint=how_to_add("rapidocr"))
    found = {name: _newest(pattern) for name, pattern in _NETWORKS.items()}
    if not all(found.values()):
        hint = "install it again: pip install --force-reinstall rapidocr"
        raise ConfigError("the installed `rapidocr` holds no networks", hint=hint)
    return found


def _newest(pattern: str) -> str:
    spec = find_spec("rapidocr")
    folder = os.path.dirname(spec.origin) if spec and spec.origin else ""
    return max(glob.glob(os.path.join(glob.escape(folder), "models", pattern)), default="")
