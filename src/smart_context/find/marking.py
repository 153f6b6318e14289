"""Find the positions of sought words in a text that may be shown.

In: the words of a plan; a text and its language.  Out: `Hit`s in the order of the text.
Always: whether a token is a hit depends on the token and the language alone, never on its neighbours; the check of its first letters only saves the analysis of
tokens that cannot be hits. Scripts without spaces have no tokens: their terms are marked wherever they occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from smart_context import later
from smart_context.data import NamedTuple, dataclass, field
from smart_context.find.plan_model import Sought
from smart_context.text import analysis
from smart_context.text.words import fold, has_no_spaces, normal, spaced

try:
    from smart_context.find import _marking as compiled
except ImportError:
    compiled = None  # type: ignore[assignment]  # not compiled here: the same in Python

_APART = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
# Letters from here on belong to scripts in which stemming also removes prefixes, so that the first letters tell nothing.
_CUT_IN_FRONT = "\u0530"
# Characters that normalisation replaces by others: compatibility forms, and parts of decomposed ones.
_OTHER_FORM = later.pattern("[\u1100-\u11ff\u2e80-\u2fdf\u3099\u309a\u3131-\u318e\uf900-\ufaff]")

# Marks beyond ASCII that no word has and that normalisation leaves alone, the commonest first: a text with no other character beyond it is read as one in ASCII.
_BETWEEN = "’“”‘©—→…–•←»«·×°®\xa0"

_Met = tuple[int, bool]


class Hit(NamedTuple):
    """The position of a word, its number, and whether it is only a part of the token there. A tuple, because a page has thousands."""

    start: int
    end: int
    number: int
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """What is sought, each with the number of its word: terms, those of scripts without spaces also in `wide`, and prefixes.

    worth: the weight of each word, in hundredths. fronts: the first letters of any token that is a hit, or of a part of it.
    met: a cache by language of the tokens looked at, each with its word's number, and whether that is only a part of it.
    """

    terms: Mapping[str, tuple[int, ...]]
    wide: Mapping[str, int]
    prefixes: Mapping[str, int]
    worth: tuple[int, ...]
    fronts: tuple[str, ...]
    met: dict[str, dict[str, _Met | None]] = field(default_factory=dict, compare=False, repr=False)


def words(sought: Sequence[Sought]) -> Words:
    """The words of a query, for marking them in any number of texts."""
    terms: dict[str, tuple[int, ...]] = {}
    wide: dict[str, int] = {}
    prefixes: dict[str, int] = {}
    for number, word in enumerate(sought):
        if word.prefix:
            own = wide if has_no_spaces(word.prefix) else prefixes
            own.setdefault(word.prefix, number)
            continue
        mine = word.terms | word.parts  # hundreds, of a word that compounds have
        terms.update(dict.fromkeys(mine.difference(terms), (number,)))
        for term in () if "".join(mine).isascii() else mine:
            if not term.isascii() and has_no_spaces(term):
                wide.setdefault(term, number)
    # Stems first: compounds are hundreds of terms, and languages agree on most of their stems.
    fronts = {_front(stem) for stem in {term.partition(analysis.TAG)[0] for term in terms}}.union(prefixes)
    worth = tuple(max(1, round(100 * word.idf * min(word.times, 1.0))) for word in sought)
    return Words(terms, wide, prefixes, worth, tuple(sorted(filter(None, fronts))))


def _front(stem: str) -> str:
    """The letters that every word of a stem begins with. Short stems may differ from the second letter on: `die` of `dying`."""
    return stem[: max(3, len(stem) - 2)] if len(stem) > 4 else stem[:2] if len(stem) == 4 else stem[:1]


def hits(plain: str, words: Words, language: str) -> list[Hit]:
    """The hits in a text."""
    return every([(plain, language)], words)[0]


def every(texts: Sequence[tuple[str, str]], words: Words) -> list[list[Hit]]:
    """The hits in texts, each given with its language. Their new tokens are analysed together, which is cheap."""
    read = [_read(plain, words) for plain, _ in texts]
    tokens: dict[str, set[str]] = {}
    for (_, language), one in zip(texts, read, strict=True):
        tokens.setdefault(language, set()).update(one.tokens)
    for language, some in tokens.items():
        _look_at(some, words, language)
    return [_marked(one, words, words.met[language]) for (_, language), one in zip(texts, read, strict=True)]


class _Read(NamedTuple):
    """A text, and its tokens that may be hits; `found`: their positions, where the C module gives them."""

    plain: str
    tokens: Set[str]
    found: list[tuple[int, str]] | None


def _read(plain: str, words: Words) -> _Read:
    bare = _without_marks(plain)
    if not (compiled and bare.isascii()):
        return _Read(plain, _tokens(plain, words), None)
    found = compiled.tokens(bare, words.fronts)[0]
    return _Read(plain, {token for _, token in found}, found)


def _without_marks(plain: str) -> str:
    """A text with a space in the place of each of `_BETWEEN`."""
    for mark in _BETWEEN:
        if plain.isascii():
            break
        plain = plain.replace(mark, " ")
    return plain


def _marked(text: _Read, words: Words, met: dict[str, _Met | None]) -> list[Hit]:
    plain, tokens, found = text
    if compiled and found is not None:
        return compiled.marked(found, met, Hit)
    goes_on = str.isalnum if plain.isascii() else _goes_on
    out: list[Hit] = []
    for token in tokens:
        hit = met[token]
        for start in _places(plain, token) if hit else ():
            end = start + len(token)
            # It is a whole token only if no letter of a script with spaces is beside it.
            if hit and not goes_on(plain[start - 1 : start]) and not goes_on(plain[end : end + 1]):
                out.append(Hit(start, end, *hit))
    for term, number in _wide(plain, words.wide) if has_no_spaces(plain) else ():
        out += [Hit(at, at + len(term), number) for at in _places(plain, term)]
    out.sort()
    return out


def _tokens(plain: str, words: Words) -> set[str]:
    """The tokens of a text; from the C module, only those that may be hits by their first letters, or are not in ASCII."""
    # Regular expressions are slow: they are used only for text that is not ASCII.
    if compiled:
        found, odd = compiled.tokens(plain, words.fronts)
        return {*(token for _, token in found), *(spaced(" ".join(odd)) if odd else ())}
    runs = set(plain.split())
    odd = [run for run in runs if not run.isascii()]
    runs.difference_update(odd)
    return {*" ".join(runs).translate(_APART).split(), *spaced(" ".join(odd))}


def _look_at(tokens: Set[str], words: Words, language: str) -> None:
    """Learn which of the tokens are hits. The texts of a page share most of their tokens."""
    met = words.met.setdefault(language, {})
    fresh = tokens - met.keys()
    if fresh:
        met.update(dict.fromkeys(fresh))
        met.update(_looked_at(fresh, words, language))


def _looked_at(tokens: Set[str], words: Words, language: str) -> dict[str, _Met]:
    fronts = words.fronts
    plain: dict[str, str] = {}
    others: set[str] = set()
    for token in tokens:
        # Most tokens are plain words, which their first letters tell apart.
        if token.isalpha() and token.isascii() and (token.islower() or token.istitle() or token.isupper()):
            lower = token.lower()
            if lower.startswith(fronts):
                plain[token] = lower
        elif _may_be(token, words):
            others.add(token)
    found = {
        token: (hit.places[0][1], False) if hit.places else (min(hit.also), True)
        for token, hit in (analysis.hits(others, language, words.terms).items() if others else ())
    }
    found.update(_words_met(plain, words, language))
    for prefix, number in words.prefixes.items():
        may_be = (token for several in (plain, others) for token in several if _plain(token).startswith(prefix))
        found.update((token, (number, False)) for token in may_be)
    return found


def _words_met(plain: Mapping[str, str], words: Words, language: str) -> Iterator[tuple[str, _Met]]:
    """The hits among tokens that are one plain word. These have no parts, so that all are analysed at once."""
    for token, (term, *others) in zip(plain, analysis.words(plain.values(), language), strict=True):
        if own := words.terms.get(term):
            yield token, (own[0], False)
        elif also := [number for other in others for number in words.terms.get(other, ())]:
            yield token, (min(also), True)


def _is_plain(token: str) -> bool:
    return token.isalpha() and (token.islower() or token.istitle() or token.isupper())


def _may_be(token: str, words: Words) -> bool:
    """Whether a token may be a hit, by its first letters; a token in mixed case or with digits always may, by its parts."""
    if not words.fronts:
        return False
    if token.isdigit() and token.isascii():
        return token[: analysis.MAX_TERM] in words.terms or token.startswith(words.fronts)
    if not _is_plain(token):
        return True
    plain = token.lower() if token.isascii() else _plain(token)
    return plain.startswith(words.fronts) or plain[0] >= _CUT_IN_FRONT


def _plain(token: str) -> str:
    return fold(normal(token))


def _places(plain: str, token: str) -> Iterator[int]:
    at = plain.find(token)
    while at >= 0:
        yield at
        at = plain.find(token, at + len(token))


def _goes_on(side: str) -> bool:
    return side.isalnum() and not has_no_spaces(side)


def _wide(plain: str, wide: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    """The terms of scripts without spaces in a text, as they are written there."""
    found = {term: number for term, number in wide.items() if term in plain}
    if _OTHER_FORM.search(plain):
        for pair in {plain[at : at + size] for at in range(len(plain)) for size in (1, 2)}:
            if (number := wide.get(_plain(pair))) is not None:
                found.setdefault(pair, number)
    return sorted(found.items())
