"""Decide whether a word such as "slides" is a file type to filter by, or an ordinary word of the query.

In: a query, and the position of the word; if that is not enough, the texts of the index.  Out: yes, no or perhaps.
Always: in a few words it may be a type if it is first or last ("budget pdf"); in a sentence or a question only where one would ask for files: first, before
their subject, or last. It is no type if something is done with it, compared with it or said about it ("merge pdf files", "csv or json?", "the pdf is damaged").
Work is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from smart_context import later
from smart_context.engine.expression import Filters
from smart_context.engine.port import View
from smart_context.find import plan, query
from smart_context.text import languages


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SENTENCE = 6  # words
REACH = 200  # characters on either side that are considered
_PUNCTUATION = ".,;:!?()[]–—-\"'"
_LEAD = _set("""
    find show list give get open search look looking me us i we need want please for all any some the my our your their a an of latest
    recent new newest old which what where are is do does have has in there suche finde zeige zeig mir alle die der das meine unsere welche
    wo sind cherche trouve montre moi les des mes nos quels où busca muestra los las mis
""")
_REQUEST = _set(
    "find show list give get open search looking need want suche finde zeige zeig cherche trouve montre busca muestra"
)
_ABOUT = _set("""
    about on regarding concerning covering mentioning containing with from for by that which where since until mention mentions discuss
    discusses contain contains cover covers describe describes say says show shows über zu zum zur mit von aus vom erwähnen sur avec de du
    des sobre con del en
""")
_ASKS = _set("""
    how why what when where who whom whose which can could do does did is are was were should would will may wie warum wann wer kann comment
    pourquoi quand qui est cómo por qué cuándo quién
""")
_OWN = _set("""
    a an the this that these those his her its my your our their two three some many der die das ein eine le la les un une el los
""")
_HOW = _set("how why wie warum comment pourquoi cómo")
_DO = _set("""
    add append attach combine compare compress convert create decode delete duplicate edit embed encode encrypt extract fill generate hide
    insert join make merge move paste parse protect publish read recover remove rename reorder repair replace rotate save send serialise
    serialize strip unhide unlock validate write bearbeiten drehen drucken einfügen erstellen exportieren importieren konvertieren löschen
    speichern umwandeln verschieben zusammenfügen convertir créer exporter fusionner imprimer insérer supprimer borrar combinar crear
    exportar importar imprimir insertar
""")
_DOES = frozenset(
    form
    for word in _DO
    for form in (word, f"{word}ing", f"{word[:-1]}ing" if word[-1] == "e" else f"{word}{word[-1]}ing")
)
# Verbs that may be nouns as well.
_DONE = _set("change copy cut download export fix import print sort split update upload")
_INTO = _set("to into 2")
_NOT_TO = _set("of for from about on in")  # after one of these, it is a noun
_BESIDE = later.pattern(r"(?:19|20)[0-9]{2}(?:[-–](?:19|20)?[0-9]{2})?|from|in|of|and|or|und|oder|et|ou|y|o")
_COMPARED = _set(
    "vs versus between difference differences compared comparison zwischen unterschied entre différence diferencia"
)
_IS = _set("""
    is are was were be been isn't aren't wasn't weren't does do did doesn't don't didn't has have had can can't cannot could will won't
    would should must may not ist sind war waren hat haben kann können wird werden nicht est sont ne es son está están no
""")
_AS = _set("as als")
# What belongs to a kind of file or to its programs, rather than to what the files are about: "excel formula", "pdf password"
_OF_KIND = _set("""
    formula formulas formulae function functions macro macros shortcut shortcuts viewer viewers reader readers editor editors password passwords
    converter converters parser parsers printer plugin plugins add-in add-ins library libraries syntax delimiter delimiters schema schemas
    formel formeln funktion funktionen makro makros passwort kennwort betrachter konverter formule formules lecteur convertisseur fórmula
    fórmulas contraseña lector visor
""")
_SAYS_WHAT = {("what", "is"), ("what", "are"), ("was", "ist"), ("was", "sind")}  # a question of what something is
_SOME = 3  # segments, at least, that have the name of the type and all other words of the query: then it is a word
_TIMES = 5  # if they are so many times as many as the matches in files of that type,
_SHARE = 200  # or if one in so many segments with the word beside it has both side by side


class Asked(IntEnum):
    """Whether a word is a file type to filter by. `PERHAPS`: unless the texts of the index show that it is a word."""

    NO, PERHAPS, YES = range(3)


def asked(text: str, start: int, end: int, *, is_type: bool, is_written: bool = False, said: str = "") -> Asked:
    """Whether the words from `start` to `end` are a file type. is_type: they nearly always are, as `pdf files`; is_written: they always are, as `*.pdf`.

    said: the first of these words, if it is a preposition such as `in` or `as`.
    """
    words = text[: 20 * REACH].split()
    before = _words(text[max(0, start - REACH) : start])
    after = _words(text[end : end + REACH])
    first = words[0].lower().strip(_PUNCTUATION) if words else ""
    if is_written:
        return Asked.YES
    if first in _HOW or (said and before and before[-1] in _DOES | _DONE):
        return Asked.NO
    if said in _AS:
        return Asked.YES
    if _is_done(before, after) or _is_told(before, after) or (not is_type and not _OF_KIND.isdisjoint(after[:1])):
        return Asked.NO
    is_last = len(text) - end < REACH and all(map(_BESIDE.fullmatch, after))
    is_first = start < REACH and all(word in _LEAD for word in before)
    is_question = first in _ASKS
    is_short = len(words) < _SENTENCE and not is_question
    follows = after[0] if after else ""
    if is_first and (
        follows in _ABOUT or (follows == "of" and not _REQUEST.isdisjoint(before)) or (is_type and before)
    ):
        return Asked.YES
    if is_last and (is_first or said or (is_type and not is_question)):
        return Asked.YES if is_first or (is_type and not is_question) else Asked.PERHAPS
    if is_short:
        return Asked.PERHAPS if is_type or is_last or is_first or follows in _ABOUT else Asked.NO
    if is_type and not is_question:
        return Asked.NO if not before else Asked.YES if said or follows in _ABOUT else Asked.PERHAPS
    return Asked.PERHAPS if is_last and not is_question and not (before and before[-1] in _OWN) else Asked.NO


def are_words(view: View, typed: str, names: Sequence[str], given: Filters, left: str, read: Filters) -> bool:
    """Whether the texts of the index use the names of types as words: many more segments have all words of the query than segments of such files have the
    other words, or many have a name side by side with another word of the query ("pdf settings").

    typed: the query; left: the query without the names; given, read: the filters without and with the types."""
    every = _count(view, typed, given) if names else 0
    if every < _SOME:
        return False
    if every >= _TIMES * _count(view, left, read):
        return True
    words = _words(typed)
    empty = languages.stop_words(words)
    for name in names:
        for at in (at for at, word in enumerate(words) if word == name):
            for pair in (words[max(0, at - 1) : at + 1], words[at : at + 2]):
                other = next((word for word in pair if word != name and word not in empty), "")
                together = _count(view, f'"{" ".join(pair)}"', given) if other else 0
                if together >= max(_SOME, _count(view, other, given) / _SHARE):
                    return True
    return False


def told(names: Sequence[str]) -> str:
    """The note that names of types were read as words."""
    listed = " and ".join(f"'{name}'" for name in names)
    read = f"{listed} read as {'words' if len(names) > 1 else 'a word'}, as many texts have it"
    return f"{read}; 'only {names[0]}' asks for files of that type"


def _count(view: View, text: str, limits: Filters) -> int:
    """How many segments have all words of a text; 0 if it has operators."""
    tree = query.parse(text)
    if tree is None or not (query.is_plain(tree) or isinstance(tree, query.Word | query.Phrase)):
        return 0
    every = query.And(tree.items) if isinstance(tree, query.Some) else tree
    return view.count(plan.make(every, view).wanted, limits)


def _is_told(before: list[str], after: list[str]) -> bool:
    """Whether the words between `before` and `after` are the subject of a statement, a comparison, or a question of what they are."""
    beside = {*before[-1:], *after[:1]}
    if not beside.isdisjoint(_COMPARED) or not _COMPARED.isdisjoint(before):
        return True
    if after and after[0] in _IS and not (before and before[0] in _ASKS):
        return True
    return not after and len(before) < 4 and tuple(before[:2]) in _SAYS_WHAT


def _is_done(before: list[str], after: list[str]) -> bool:
    """Whether the words between `before` and `after` are the object of a verb."""
    beside = {*before[-1:], *after[:1]}
    if not beside.isdisjoint(_DOES | _INTO) or not _DONE.isdisjoint(after[:1]):
        return True
    follows = before[1] if len(before) > 1 else ""
    return bool(before) and (before[0] in _DOES or (before[0] in _DONE and follows not in _NOT_TO))


def _words(text: str) -> list[str]:
    return [word for part in text.lower().split() if (word := part.strip(_PUNCTUATION))]
