"""Tell whether a word such as "slides" asks for files of that kind, or is a word of a sentence.

In: a query, and where the word stands in it.  Out: yes or no.
Always: in a few words it asks where it stands first or last ("budget pdf"); in a sentence or a question only where one would ask for files: first, before
what they are about, or last. What something is to be done with is no kind that is looked for ("merge pdf files"). Work is bounded.
"""

from __future__ import annotations

from smart_context import later


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SENTENCE = 6  # words
REACH = 200  # characters on either side that are looked at
_PUNCTUATION = ".,;:!?()[]–—-\"'"
_LEAD = _set("""
    find show list give get open search look looking me us i we need want please for all any some the my our your their a an of latest
    recent new newest old which what where are is do does have has in there suche finde zeige zeig mir alle die der das meine unsere welche
    wo sind cherche trouve montre moi les des mes nos quels où busca muestra los las mis
""")
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
# These may be things as well.
_DONE = _set("change copy cut download export fix import print sort split update upload")
_INTO = _set("to into 2")
_NOT_TO = _set("of for from about on in")  # what stands behind them then
_BESIDE = later.pattern(r"(?:19|20)[0-9]{2}(?:[-–](?:19|20)?[0-9]{2})?|from|in|of|and|or|und|oder|et|ou|y|o")


def is_asked_for(text: str, start: int, end: int, *, is_type: bool, is_written: bool = False) -> bool:
    """Whether the words at a place ask for files; `is_type` tells nearly by itself, as `pdf files` does, `is_written` wholly, as `*.pdf` does."""
    words = text[: 20 * REACH].split()
    before = _words(text[max(0, start - REACH) : start])
    after = _words(text[end : end + REACH])
    first = words[0].lower().strip(_PUNCTUATION) if words else ""
    if is_written:
        return True
    if first in _HOW or _is_done(before, after):
        return False
    is_last = len(text) - end < REACH and all(map(_BESIDE.fullmatch, after))
    is_first = start < REACH and all(word in _LEAD for word in before)
    is_question = first in _ASKS
    is_short = len(words) < _SENTENCE and not is_question
    if is_type or (is_short and (is_last or is_first)):
        return True
    if is_short or is_first:
        return is_last or after[0] in _ABOUT
    return is_last and not is_question and not (before and before[-1] in _OWN)


def _is_done(before: list[str], after: list[str]) -> bool:
    """Whether something is to be done with what stands between."""
    beside = {*before[-1:], *after[:1]}
    if not beside.isdisjoint(_DOES | _INTO) or not _DONE.isdisjoint(after[:1]):
        return True
    follows = before[1] if len(before) > 1 else ""
    return bool(before) and (before[0] in _DOES or (before[0] in _DONE and follows not in _NOT_TO))


def _words(text: str) -> list[str]:
    return [word for part in text.lower().split() if (word := part.strip(_PUNCTUATION))]
