"""Recognise questions and requests, and the words in them that say nothing about what is wanted.

In: a query as it was typed.  Out: whether it is a question; its words to leave out (`what`, "find all documents about", question words in Chinese and Japanese); its words
of little weight (`somebody`, `use`).
Always: a text of which nothing would be left stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from smart_context import later
from smart_context.text import analysis

# Hiragana may be inside of another word: a question word is at the start of the text, or follows a particle or another script.
_AFTER = "(?:(?<![\u3041-\u309f])|(?<=[はがをにでともの、]))"
_ASKS = "なに|なん|いつ|どこ|だれ|どなた|なぜ|どうして|どの(?:ように|ような|くらい)?|どれ(?:くらい|ほど)?|どんな|どちら|どう|いくつ|いくら"
_JAPANESE = later.pattern(f"(?:何|誰|{_AFTER}(?:{_ASKS}))(?:(?:です|でした|でしょう|だろう)?か(?=$|[?？。]))?")
_CHINESE = later.pattern(
    "(?:是|在|有|叫)?(?:什[么麼]|甚[么麼]|哪(?!吒)[里裡儿兒些个個位种種年天国國家座部]?|[谁誰]|怎[么麼]?[样樣]?|如何|[为為]何|[为為]什[么麼]|多少|何[时時年处處]|[几幾](?!何)[个個年人种種岁歲次位])"
    "|[吗嗎呢](?=$|[?？。])"
)
_BEGINS = r"(?:^|[.;?!(]\s*)"
_VERB = (
    r"(?:(?:can|could)\s+you\s+)?(?:please\s+)?(?:(?:find|show|list|give|get|search(?:\s+for)?|look\s+for|(?:i\s+am|i'm)\s+looking\s+for|i\s+(?:need|want))"
    r"|(?:i'd|i\s+would|we'd|we\s+would)\s+like|are\s+there|what)(?:\s+to\s+(?:find|see|know|read|have))?\s+(?:(?:me|us|all|any|some|the|every|more)\s+)*"
)
_TEXTS = "(?:articles?|papers?|documents?|files?|texts?|pages?|discussions?|descriptions?|studies|reports?|information|details|anything|everything)"
_ABOUT = r"(?:(?:which|that)\s+)?(?:about|regarding|concerning|describing|discussing|deal(?:s|ing)?\s+with|relat(?:ed|ing)\s+to|describes?|discuss(?:es)?)"
_REQUEST = later.pattern(
    rf"{_BEGINS}(?:{_VERB})?(?:any\s+)?(?:{_TEXTS}(?:\s+(?:are\s+there|there\s+are|exist))?\s+{_ABOUT}|(?:articles|papers|information|discussions)\s+on)\b"
    rf"|{_BEGINS}{_VERB}(?:discussions|descriptions)\s+of\b"
    rf"|\b(?:(?:i\s+am|i'm|we\s+are|especially|particularly)\s+){{0,3}}(?:not\s+)?interested\s+in\b(?:\s+{_TEXTS}\s+(?:{_ABOUT}|on)\b)?"
    rf"|{_BEGINS}(?:tell\s+me\s+about|(?:i'd|i\s+would)\s+like\s+to\s+(?:find|see|know|read)|(?:i\s+am|i'm)\s+looking\s+for)\b",
    re.IGNORECASE,
)
_STUDIED = r"(?:investigated|studied|examined|researched|looked\s+(?:at|into)|worked\s+on|written\s+(?:about|on))"
_STUDIES = "(?:work|research|progress|investigations?|studies)"
_KEPT = "(?:information|data|material|literature)"
_ON = r"(?:about|regarding|concerning|on|pertaining\s+to)"
# A question about what others know, have found or have written: the subject follows.
_QUESTION = later.pattern(
    rf"{_BEGINS}(?:ha[sd]|have|did)\s+(?:anyone|anybody|someone|somebody)\s+(?:else\s+)?(?:ever\s+)?(?:\w+ly\s+)?{_STUDIED}\b"
    rf"|{_BEGINS}(?:what|ha(?:s|ve)\s+any)\s+{_STUDIES}\s+(?:(?:has|have)\s+)?been\s+(?:done|made|conducted|carried\s+out)(?:\s+(?:{_ON}|of|in|into))?\b"
    rf"|{_BEGINS}(?:what|how\s+much)\s+(?:is\s+known|has\s+been\s+(?:said|written|published|done))\s+(?:{_ON}|of)\b"
    rf"|{_BEGINS}what\s+{_KEPT}\s+(?:(?:is|are)\s+(?:available|there)|exists?)\s+(?:{_ON}|for)\b"
    rf"|{_BEGINS}(?:is\s+there\s+(?:any|some)\s+{_KEPT}(?:\s+available)?|what\s+is\s+the\s+available\s+{_KEPT})\s+{_ON}\b"
    rf"|{_BEGINS}(?:what|which)\s+(?:papers|articles)\s+are\s+(?:there|available)\s+(?:{_ON}|dealing\s+with)\b"
    rf"|{_BEGINS}(?:references|literature)\s+on\b"
    rf"|{_BEGINS}(?:is\s+it\s+possible\s+to|(?:does|do)\s+there\s+exist|to\s+what\s+extent)\b",
    re.IGNORECASE,
)
_GERMAN_REQUEST = later.pattern(
    rf"{_BEGINS}(?:ich\s+(?:suche|möchte\s+wissen)"
    r"|(?:(?:zeige?|gib|finde?|suche?)\s+(?:(?:mir|bitte|alle)\s+)*)?(?:dokumente|dateien|texte|artikel|informationen)\s+(?:über|zu))\b",
    re.IGNORECASE,
)
_GERMAN_QUESTION = later.pattern(
    rf"{_BEGINS}wie\s+(?:laute(?:t|n|te|ten)|hei(?:ß|ss)(?:t|en)|hie(?:ß|ss)(?:en)?|nennt(?:\s+(?:man|sich))?|bezeichnet\s+man)\b"
    rf"|{_BEGINS}(?:ist\s+es\s+möglich|gibt\s+es\s+(?:informationen|arbeiten|untersuchungen|studien)\s+(?:über|zu))\b",
    re.IGNORECASE,
)
_KANA = later.pattern("[\u3041-\u30ff]")


def _any_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Each pattern with words of which a text must have one to match: most texts have none, and compiling a pattern takes as long as the rest of a small search.
_NOUNS = _any_of(
    "article articles paper papers document documents file files text texts page pages discussion discussions description descriptions studies report reports "
    "information details anything everything"
)
_REQUESTS = (
    (_NOUNS | _any_of("interested tell like looking"), _REQUEST),
    (_any_of("suche möchte dokumente dateien texte artikel informationen"), _GERMAN_REQUEST),
)
_QUESTIONS = (
    *_REQUESTS,
    (_any_of("wie möglich informationen arbeiten untersuchungen studien"), _GERMAN_QUESTION),
    (
        _any_of(
            "anyone anybody someone somebody been known papers articles information data material literature references possible exist extent"
        ),
        _QUESTION,
    ),
)
_ASKING = _any_of(
    "how what which who whom whose where when why can could may might must shall should will would is are was were am do does did has have had "
    "wie was wer wem wen wessen wo wohin woher wann warum wieso weshalb wozu womit wodurch welche welcher welches welchen welchem kann können darf dürfen muss müssen soll sollen "
    "ist sind war waren hat haben gibt"
)
_LEAST = 3  # words of a question without a question mark: `should cells` and `can bus` are none
_LIGHTLY = 0.2  # the weight of each of the following words in a question
# Filler words of questions. Manuals hardly use them, so that they are rare there, and would outweigh the words that matter.
_LIGHT = _any_of(
    "somebody someone something somewhere anybody anyone anything everybody everyone everything nobody nothing else "
    "get gets getting got rid let lets make makes making made give gives given giving take takes taken taking put puts go goes going come comes coming keep keeps "
    "want wants need needs needed use uses used using try happen happens see seen look looks find tell tells work works belong belongs "
    "way ways many much long often several some any each whole same different difference possible able allowed may might could would should must already again back together "
    "jemand etwas irgendwo alles niemand nichts bekomme bekommen mache machen macht gebe geben nehme nehmen will brauche brauchen benutze benutzen passiert "
    "viel viele lange oft mehrere einige ganze möglich erlaubt schon wieder zusammen"
)


def rest(text: str) -> str:
    """A text in Chinese or Japanese with spaces in place of its question words; any other text unchanged."""
    if text.isascii() or not analysis.has_no_spaces(text):
        return text
    left = _asks(text).sub(" ", text)
    return left if analysis.units(left) else text


def words(text: str) -> list[str]:
    """What `rest` leaves out."""
    return [found[0] for found in _asks(text).finditer(text)] if rest(text) != text else []


def _asks(text: str) -> re.Pattern[str]:
    return _JAPANESE if _KANA.search(text) else _CHINESE


def request(text: str) -> frozenset[str]:
    """The words of a request or question in English or German that only say that something is looked for."""
    said = set(analysis.units(text))
    found = (one for hints, asks in _QUESTIONS if not hints.isdisjoint(said) for one in asks.finditer(text))
    return frozenset(unit for one in found for unit in analysis.units(one[0]))


def is_question(text: str) -> bool:
    """Whether a text in a script with spaces is a question: it has at least three words, of which the first is a question word, or two and a question mark."""
    if analysis.has_no_spaces(text):
        return False
    first, *rest = text.split()[:_LEAST] or [""]
    return bool(rest) and ((first.casefold() in _ASKING and len(rest) > 1) or text.rstrip().endswith("?"))


def light(units: Sequence[str], empty: Set[str]) -> dict[str, float]:
    """The weights of the filler words of a question; none if it has no other words. empty: words that are not looked for anyway."""
    found = _LIGHT.intersection(units)
    is_rest = any(unit not in found and unit not in empty for unit in units)
    return dict.fromkeys(sorted(found), _LIGHTLY) if is_rest else {}


def about(text: str) -> str:
    """A text without its request ("find documents about"), for the embedding model. A question stays as it is: models understand questions."""
    left = text
    said = set(analysis.units(text))
    for hints, asks in _REQUESTS:
        left = asks.sub(" ", left) if not hints.isdisjoint(said) else left
    left = " ".join(left.split())
    return left if analysis.units(left) else text
