"""Find what OCR needs on this machine: the extra's libraries, and the data of languages.

In: languages as people write them.  Out: files of Tesseract's data, by Tesseract's name for each language.
Always: nothing is loaded and nothing is fetched; what is missing is named, with what to install.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from smart_context.errors import ConfigError, how_to_add

ORIENTATION = "osd"
"""Tesseract's name for what tells which way up a page is. Without it a page that is read badly is tried every way."""

_MODULES = ("tesserocr", "PIL")
_PLACES = (
    "/usr/share/tesseract-ocr/*/tessdata",
    "/usr/share/tessdata",
    "/usr/share/tesseract/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
)
# Codes of two letters, as files and people name languages; every other name is Tesseract's own.
_NAMES: Mapping[str, str] = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa",
    "et": "est", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "id": "ind",
    "it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por",
    "ro": "ron", "ru": "rus", "sk": "slk", "sl": "slv", "sr": "srp", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr",
    "vi": "vie", "zh": "chi_sim",
}  # fmt: skip


def is_installed() -> bool:
    """Whether the extra's libraries are there."""
    return all(find_spec(module) is not None for module in _MODULES)


def files(languages: Sequence[str], folder: str = "") -> dict[str, str]:
    """The data of these languages, the first one first, and of the orientation if there is any; `folder`: the only place to look.

    Raises: ConfigError where the extra or the data of a language is missing.
    """
    if not is_installed():
        raise ConfigError("the extra `ocr` is not installed", hint=how_to_add("ocr"))
    there = available(folder)
    wanted = [name_of(language) for language in languages]
    missing = [name for name in wanted if name not in there]
    if missing:
        raise ConfigError(f"OCR has no data for: {', '.join(missing)}", hint=how_to_get(missing))
    return {name: there[name] for name in dict.fromkeys((*wanted, ORIENTATION)) if name in there}


def name_of(language: str) -> str:
    """Tesseract's name of a language."""
    return _NAMES.get(language, language)


def available(folder: str = "") -> dict[str, str]:
    """Every language that has data, with its file; if several places have it, that of the first place."""
    places = [folder] if folder else [os.path.join(sys.prefix, "share", "tessdata"), *_PLACES]
    found: dict[str, str] = {}
    for place in places:
        for file in sorted(glob.glob(os.path.join(place, "*.traineddata"))):
            found.setdefault(os.path.basename(file).removesuffix(".traineddata"), os.path.abspath(file))
    return found


def how_to_get(names: Sequence[str]) -> str:
    """What to install for these languages."""
    packages = " ".join(f"tesseract-ocr-{name.replace('_', '-').lower()}" for name in names)
    return f"on Debian and Ubuntu: apt install {packages}; elsewhere put NAME.traineddata into the folder that `ocr.data_dir` names"
