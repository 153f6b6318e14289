"""Stem words: with Snowball for the languages that tantivy includes, with light rules of our own for others.

In: lower-case words and a language.  Out: their stems, in order.
Always: a stem depends on the word and the language alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from smart_context import later
from smart_context.text import snowball

_SNOWBALL = {
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}


def stem(words: Sequence[str], language: str) -> list[str]:
    """The stem of each word; a language without rules leaves them as they are."""
    if language in _SNOWBALL:
        return snowball.stemmer(_SNOWBALL[language])(" ".join(words))
    rule = _LIGHT.get(language)
    return [rule(word) for word in words] if rule else list(words)


def has_rules(language: str) -> bool:
    """Whether words of a language are stemmed."""
    return language in _SNOWBALL or language in _LIGHT


def _endings(words: str) -> re.Pattern[str]:
    longest_first = sorted(words.split(), key=lambda end: (-len(end), end))
    return later.pattern("(?:" + "|".join(longest_first) + ")$")


_PL = _endings(
    "ami iami ach iach owi owie owie ów om iom em iem ie ia ią ię ego iego emu iemu ymi imi ych ich ym im ej iej a ą e ę i o u"
    " y ość ości ością ować uje ują ał ała ało ali ały ić yć eć ać owy owa owe owego owej nie nia niu niem anie ania enie enia"
)
_CS = _endings(
    "ami ach ech ích ích ovi ové ům em emi ého ému ými ých ým ím ou ej a e i o u y á é í ý ě ost osti ní ního ním"
)


def _slavic(pattern: re.Pattern[str]) -> Callable[[str], str]:
    def rule(word: str) -> str:
        cut = pattern.search(word, 4)  # what is left keeps four letters
        return word[: cut.start()] if cut else word

    return rule


_HI = _endings("ियों ियाँ ियां ाओं ाएँ ुओं ों ें ीं े ी ि ा ु ू ो याँ यों ये ते ता ती ना ने नी कर")


def _hindi(word: str) -> str:
    cut = _HI.search(word, 2)
    return word[: cut.start()] if cut else word


_AR_PREFIX = later.pattern("^(?:وال|بال|كال|فال|ولل|ال|لل|و)(?=.{3})")
_AR_SUFFIX = later.pattern("(?<=.{3})(?:ها|ات|ان|ون|ين|وا|يه|ه|ة|ي|ا)$")


def _arabic(word: str) -> str:
    return _AR_SUFFIX.sub("", _AR_PREFIX.sub("", word))


_HE_PREFIX = later.pattern("^(?:וה|שה|מה|כשה|של|וב|ול|ומ|וש|[הובלמשכ])(?=.{3})")
_HE_SUFFIX = later.pattern("(?<=.{2})(?:יות|ים|ות|ית|ה|ת|י)$")


def _hebrew(word: str) -> str:
    return _HE_SUFFIX.sub("", _HE_PREFIX.sub("", word))


_LIGHT: dict[str, Callable[[str], str]] = {
    "ar": _arabic,
    "cs": _slavic(_CS),
    "he": _hebrew,
    "hi": _hindi,
    "pl": _slavic(_PL),
}
