"""Bring the forms of a word together, by rules that no library and no Python version changes.

In: a lower-case word without accents and the code of a language.  Out: its stem, and a beginning that all words of that stem share.
Always: a stem depends on the word and the language alone. English follows Porter's rules of 1980; other languages lose an
inflectional ending and keep at least four letters (three for Arabic and Hebrew).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str) -> str:
    """Return the stem of a word. One of another script than the language's is stemmed by the rules of that script."""
    if word.isascii():
        if not word.isalpha():
            return word
        rule = _RULES.get(language)
        return rule(word) if rule else word
    rule = _RULES.get(_script(word[0]) or language)
    return rule(word) if rule else word


def beginning(found: str, language: str) -> str:
    """Return what every word with this stem begins with; "" where words lose something there too."""
    if not found.isascii():
        return "" if _script(found[0]) == "ar" else found
    # Porter writes an i for a y, puts back an e, and makes -bility -bl; everything else only takes letters away.
    return (found.rstrip("eiyl") or found[:1]) if language == "en" else found


def _script(letter: str) -> str:
    code = ord(letter)
    for first, last, language in _SCRIPTS:
        if first <= code <= last:
            return language
    return ""


_SCRIPTS = (
    (0x0370, 0x03FF, "el"),
    (0x0400, 0x052F, "ru"),
    (0x0590, 0x05FF, "he"),
    (0x0600, 0x077F, "ar"),
    (0x0900, 0x097F, "hi"),
    (0x0980, 0x10FFFF, "none"),
)


def _ending(endings: str, least: int = 4) -> Callable[[str], str]:
    longest_first = sorted(set(endings.split()), key=lambda end: (-len(end), end))
    pattern = re.compile("(?:" + "|".join(longest_first) + ")$")

    def rule(word: str) -> str:
        cut = pattern.search(word, least)
        return word[: cut.start()] if cut else word

    return rule


_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"), ("alli", "al"),
    ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"),
    ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def _english(word: str) -> str:
    if len(word) < 3:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for rules in (_STEP_2, _STEP_3):
        for old, new in rules:
            if word.endswith(old):
                if _measure(word[: -len(old)]) > 0:
                    word = word[: -len(old)] + new
                break
    return _last(_suffix(word))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for old in ("ed", "ing"):
        if word.endswith(old) and _has_vowel(word[: -len(old)]):
            word = word[: -len(old)]
            if word.endswith(("at", "bl", "iz")):
                return word + "e"
            if word[-2:-1] == word[-1:] and word[-1:] not in "aeioulsz" and _is_consonant(word, len(word) - 1):
                return word[:-1]
            return word + "e" if _measure(word) == 1 and _ends_short(word) else word
    return word


def _suffix(word: str) -> str:
    # The longest ending decides, also where it then stays.
    for old in sorted(_STEP_4, key=len, reverse=True):
        if word.endswith(old):
            return word[: -len(old)] if _measure(word[: -len(old)]) > 1 else word
    if word.endswith("ion") and word[-4:-3] in {"s", "t"} and _measure(word[:-3]) > 1:
        return word[:-3]
    return word


def _last(word: str) -> str:
    if word.endswith("e"):
        bare = word[:-1]
        if _measure(bare) > 1 or (_measure(bare) == 1 and not _ends_short(bare)):
            word = bare
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _is_consonant(word: str, at: int) -> bool:
    if word[at] == "y":
        return at == 0 or not _is_consonant(word, at - 1)
    return word[at] not in "aeiou"


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, at) for at in range(len(word)))


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    count, after_vowel = 0, False
    for at in range(len(word)):
        consonant = _is_consonant(word, at)
        count += consonant and after_vowel
        after_vowel = not consonant
    return count


def _ends_short(word: str) -> bool:
    end = len(word) - 1
    return (
        end >= 2
        and _is_consonant(word, end)
        and not _is_consonant(word, end - 1)
        and _is_consonant(word, end - 2)
        and word[end] not in "wxy"
    )


def _arabic(word: str) -> str:
    word = _AR_PREFIX.sub("", word)
    return _AR_SUFFIX.sub("", word)


_RULES: dict[str, Callable[[str], str]] = {
    "en": _english,
    "de": _ending(
        "en er es em e n s ern innen in ung ungen isch ische ischen ischer isches lich liche lichen licher liches"
    ),
    "fr": _ending(
        "s x e es ee ees er ez ent ement ements ations ation ateur ateurs ique iques euse euses eux ive ives if ifs"
    ),
    "es": _ending("s es a as o os e mente amente cion ciones idad idades ado ados ada adas ando iendo ar er ir"),
    "pt": _ending("s es a as o os e mente amente cao coes idade idades ado ados ada adas ando endo indo ar er ir"),
    "it": _ending("a e i o ita mente zione zioni ato ati ata ate ando endo are ere ire"),
    "nl": _ending("en e s er ers heid heden ing ingen lijk lijke ische isch"),
    "sv": _ending("en et n t ar er or arna erna orna ornas ens ets a e s het heten ning ningen ningar"),
    "da": _ending("en et n t er erne ene ens ets e s hed heden ning ningen ninger"),
    "nb": _ending("en et n t er ene ens ets e a s het heten ning ningen ninger"),
    "fi": _ending("n t a ja ta ssa sta lla lta lle ksi na in en an ien iden issa ista illa ilta ille iksi tta sti"),
    "hu": _ending("k ok ek ak t ot et at ban ben bol rol nak nek val vel hoz hez ra re on en nal ig kent i a e"),
    "ro": _ending("ul ului a ei e i ii ilor le lor uri urilor at ata ati ate are ere ire"),
    "tr": _ending("lar ler lari leri in un a e i u da de ta te dan den tan ten nin nun yi yu ya ye si su"),
    "pl": _ending(
        "ami iami ach iach owi owie ow om iom em iem ie ia ego iego emu iemu ymi imi ych ich ym im ej iej a e i o u y"
    ),
    "cs": _ending("ami ach ech ich ovi ove um em emi eho emu ymi ych ym im ou ej a e i o u y ost osti ni niho nim"),
    "ru": _ending(
        "ами ями ах ях ов ев ей ой ый ий ая яя ое ее ые ие ого его ому ему ым им ых их ую юю ом ем ам ям а я о е и ы у ю ь"
    ),
    "el": _ending("ος ου ον οι ων ους ης η ην ες ας α ο ι εις εων ας ματα ματων μα"),
    "hi": _ending("ियों ाओं ुओं ों ें ीं े ी ि ा ु ू ो यों ये ते ता ती ना ने नी कर", 2),
    "he": _ending("יות ים ות ית ה ת י", 3),
    "ar": _arabic,
}
_AR_PREFIX = re.compile("^(?:وال|بال|كال|فال|ولل|ال|لل|و)(?=.{3})")
_AR_SUFFIX = re.compile("(?<=.{3})(?:ها|ات|ان|ون|ين|وا|يه|ه|ة|ي|ا)$")
