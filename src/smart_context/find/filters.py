"""Read file types, years, times and fields out of a query.

In: the text of a query, and the filters of the request.  Out: a `Reading`: the remaining text, and the filters that apply.
Always: the filters of the request bind; the text only narrows them further, and if it contradicts them, its names of types and years
stay words. Quoted text is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smart_context import later
from smart_context.data import dataclass, field, replace
from smart_context.errors import BadRequest
from smart_context.find import kinds, labels, when
from smart_context.find.labels import Field
from smart_context.find.when import Times
from smart_context.plain import quoted
from smart_context.sources.formats import FORMATS
from smart_context.text import languages

_WORDS = {
    ".doc .docx .docm": "doc docs docx docm",
    ".docx .doc .docm .odt .rtf": (
        "word?documents word?document word?files word?file word?docs word-dokumente word?dokumente worddokumente worddateien"
        " documents?word fichiers?word documentos?word"
    ),
    ".ppt .pptx .pptm": "ppt ppts pptx pptm",
    ".ppt .pptx .pptm .odp": (
        "powerpoint powerpoints presentations slides slide?deck slide?decks slideshows präsentationen présentations"
        " presentaciones presentazioni"
    ),
    ".xls .xlsx .xlsm .xlsb": "xls xlsx xlsm xlsb",
    ".xls .xlsx .xlsm .xlsb .ods .csv .tsv": (
        "excel spreadsheet spreadsheets workbooks excel?sheets excel?sheet exceltabellen excel-tabellen tabellenkalkulationen"
        " hojas?de?cálculo feuilles?de?calcul tableurs"
    ),
    ".csv": "csv csvs",
    ".tsv": "tsv",
    ".txt": "txt text?files textdateien",
    ".md .markdown": "md markdown",
    ".html .htm .xhtml": "html htm",
    ".xml": "xml",
    ".json .jsonl": "json",
    ".eml .msg": "eml emails e-mails mails",
    ".msg": "msg",
    ".odt": "odt",
    ".odp": "odp",
    ".ods": "ods",
}
_WORDS |= {each.extensions: each.called for each in FORMATS if each.called}
_TYPES = {name.replace("?", " "): tuple(exts.split()) for exts, names in _WORDS.items() for name in names.split()}
_FIRST_WORDS = frozenset(re.split(r"[\s-]", name)[0].casefold() for name in _TYPES)
_NAME = "|".join(
    sorted((re.escape(name).replace(r"\ ", r"\s+") for name in _TYPES), key=lambda name: (-len(name), name))
)
_TYPE = rf"(?:\*?\.)?(?:{_NAME})"
_AND = r"(?:\s*[,/]\s*(?:or\s+|and\s+)?|\s+(?:or|and|und|oder|ou|et|o|y|e)\s+)"
_TYPE_LIST = later.pattern(
    rf"(?<![\w@.*/-])(?:(?:in|as|als|en|of\s+type|vom\s+typ|only|nur)\s+)?(?P<types>{_TYPE}(?:{_AND}{_TYPE})*)"
    r"(?:[\s-]+(?:files?|documents?|format|dateien|fichiers|archivos|ficheros))?(?![\w@*-]|[./]\w)",
    re.IGNORECASE,
)
_ONE_TYPE = later.pattern(rf"(?<!\w)(?:{_NAME})(?!\w)", re.IGNORECASE)
# `ext:pdf`, `filetype:pdf`: a type as a field; what is no name of a type is an extension
_TYPE_FIELD = later.pattern(r"(?<![\w:-])(?:ext|filetype):\.?(\w{1,16})(?![\w:./*-])", re.IGNORECASE)

_YEAR = r"(?:19|20)[0-9]{2}"
_BEFORE, _AFTER = r"(?<![\w/.,+-])", r"(?![\w/]|[-,:][0-9]|\.\w)"  # not that of a file's name (`2021.pdf`)
_RANGE = later.pattern(
    rf"{_BEFORE}(?:(?:from|between|von|zwischen|de|entre|from\s+the\s+years?)\s+)?({_YEAR})"
    rf"(?:\s*[-–—]\s*|\s+(?:to|until|till|through|bis|à|al?|hasta)\s+|(?<=between\s.{{4}})\s+and\s+|(?<=zwischen\s.{{4}})\s+und\s+"
    rf"|(?<=entre\s.{{4}})\s+(?:et|y)\s+)({_YEAR}){_AFTER}",
    re.IGNORECASE,
)
_SAID = later.pattern(
    rf"{_BEFORE}(?:from|in|of|dated|during|for|year|years|the\s+year|aus|vom?\s+jahr|im\s+jahr|de|en|du|del)\s+"
    rf"({_YEAR}(?:{_AND}{_YEAR})*){_AFTER}",
    re.IGNORECASE,
)
_BARE = later.pattern(rf"{_BEFORE}{_YEAR}{_AFTER}")
# `year:2021`, `year:2019..2021`: a year as a field
_YEAR_FIELD = later.pattern(rf"(?<![\w:-])years?:({_YEAR})(?:(?:\.\.|[-–—])({_YEAR}))?(?!\w)", re.IGNORECASE)
_QUOTED = later.pattern(r'["“”„«»][^"“”„«»]*["“”„«»]')
_QUOTED_ALONE = later.pattern(r'(?<![:\w])["“”„«»][^"“”„«»]*["“”„«»]')  # but not the value of a field
# A negation right before a type or a year: that one stays a word, for the operator to exclude.
_NEGATED = later.pattern(
    r"(?<!\w)(?:not|no|without|except|excluding|ohne|nicht|außer|sauf|sans|sin|excepto|-(?=\())[\s(]+"
    r"(?:(?:from|in|of|for|dated|the|any|as|aus|von|de|en)\s+)*$",
    re.IGNORECASE,
)
_LONGEST = 20_000  # characters: more than a query's words can have, and a pasted book must not cost time
_NEGATION = 40  # characters before a match in which a negation is looked for
_WORD = later.pattern(r"\w+")
# A year behind these tells of other years, or roughly when: it is a word.
_BEYOND = later.pattern(
    r"(?<!\w)(?:after|before|since|until|till|by|prior\s+to|around|circa|early|late|mid|nach|vor|seit|bis|ab|um|après|avant|depuis|vers"
    r"|después\s+de|antes\s+de|desde|hacia)\s+$|(?<!\w)ca?\.\s*$",
    re.IGNORECASE,
)
_CITING = 12  # words from which a year in brackets belongs to a citation
_ONLY = frozenset({"only", "nur", "of", "vom"})  # before a type, these leave no doubt that it is one
_ANY_TIME = Times()
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})


@dataclass(frozen=True, slots=True)
class Reading:
    """A query as read: the remaining text, the filters that apply, and which of them the text named."""

    text: str
    exts: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    read_exts: tuple[str, ...] = ()
    read_years: tuple[str, ...] = ()
    times: Times = _ANY_TIME
    read_times: Times = _ANY_TIME
    fields: tuple[Field, ...] = ()
    given_times: Times = _ANY_TIME
    perhaps: tuple[str, ...] = field(default=(), compare=False)  # names of types that may be words as well

    @property
    def has_read(self) -> bool:
        """Whether the text named a filter."""
        return bool(self.read_exts or self.read_years or self.read_times or self.fields)

    def told(self) -> str:
        """The filters that the text named, for people."""
        parts = [("file types", ", ".join(self.read_exts)), ("years", ", ".join(self.read_years))]
        parts += [("dates", self.read_times.told()), *((one.name, one.value) for one in self.fields)]
        return " and ".join(f"{name} {values}" for name, values in parts if values)

    def without_labels(self, typed: str) -> Reading:
        """The same without the times and fields that the text named; a field's value, and a day or month, are looked for as words."""
        text = " ".join([self.text, self.read_times.named(typed), *(one.value for one in self.fields)])
        text = " ".join(text.split())
        return replace(self, text=text, times=self.given_times, read_times=_ANY_TIME, fields=())


def read(
    text: str,
    exts: tuple[str, ...] = (),
    years: tuple[str, ...] = (),
    times: Times = _ANY_TIME,
    today: str | None = None,
    *,
    with_types: bool = True,
) -> Reading:
    """Read a query, with filters normalized by `given`; times and fields only if `today` is a day, or "" for an unknown one.
    with_types: False leaves the names of types as words."""
    text = text[:_LONGEST]
    if today is None:
        return _types_and_years(text, exts, years, with_types=with_types)
    labelled = _wanted(labels.FIELD, text, quoted=True)[: labels.MOST] if ":" in text else []
    text, found = when.read(_without(text, [match.span() for match in labelled]), today, _wanted_time)
    return replace(
        _types_and_years(text, exts, years, with_types=with_types),
        times=times.within(found),
        read_times=found,
        fields=tuple(map(labels.field, labelled)),
        given_times=times,
    )


def _types_and_years(text: str, exts: tuple[str, ...], years: tuple[str, ...], *, with_types: bool) -> Reading:
    left, types, perhaps = _types(text) if with_types else (text, (), ())
    held = tuple(ext for ext in exts if ext in types) if exts and types else exts or types
    if types and not held:  # the text contradicts the request
        left, types, perhaps, held = text, (), (), exts
    after, written = _written_years(left)
    after, named = _years(after)
    named = tuple(sorted({*written, *named}))
    kept = tuple(year for year in years if year in named) if years and named else years or named
    if named and not kept:
        after, named, kept = left, (), years
    return Reading(" ".join(after.split()), held, kept, types, named, perhaps=perhaps)


def gives_way(reading: Reading, text: str) -> bool:
    """Whether a text names only years or only types, and neither as a field nor as `*.pdf`: then it may not have meant them."""
    if reading.read_times or reading.fields or bool(reading.read_years) is bool(reading.read_exts):
        return False
    if reading.read_years:
        return not _wanted(_YEAR_FIELD, text)
    return not (_type_fields(text) or any(map(_is_written, _wanted(_TYPE_LIST, text))))


def given(exts: Iterable[str], years: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Extensions and years from a caller, normalized.

    Raises: BadRequest naming the argument.
    """
    several = (part for ext in exts for part in ext.split(","))  # no extension has a comma
    plain = dict.fromkeys("." + ext.strip().lower().lstrip("*").lstrip(".") for ext in several)
    if "." in plain:
        raise BadRequest("`exts` holds an empty extension", hint="an extension looks like .docx")
    numbers = dict.fromkeys(part.strip() for year in years for part in year.split(","))
    for year in numbers:
        if not re.fullmatch(r"[0-9]{4}", year):
            raise BadRequest(f"`years` holds {quoted(year)}, which is no year", hint="a year looks like 2021")
    return tuple(plain), tuple(numbers)


def _types(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The text without the types that it names; the extensions of these; and their names, if all of them may be words as well."""
    found: dict[str, None] = {}
    fields = _type_fields(text)
    for match in fields:
        found.update(dict.fromkeys(_TYPES.get(match[1].lower(), (f".{match[1].lower()}",))))
    text = _without(text, [match.span() for match in fields])
    if not may_name_types(text):
        return text, tuple(sorted(found)), ()
    spans: list[tuple[int, int]] = []
    perhaps: list[str] = []
    is_sure = bool(fields)
    for match in _wanted(_TYPE_LIST, text):
        names = _ONE_TYPE.findall(match["types"])
        is_type, said = _is_type(match, len(names)), match[0].lower().split()[0]
        # After one type, others may be named.
        behind = match.end() + kinds.REACH
        alone = text[: match.end()] + _ONE_TYPE.sub("and", text[match.end() : behind]) + text[behind:]
        is_led = not match["types"].lower().startswith(said)
        asked = kinds.asked(
            alone, *match.span(), is_type=is_type, is_written=_is_written(match), said=said if is_led else ""
        )
        if asked is kinds.Asked.NO:
            continue
        for name in names:
            found.update(dict.fromkeys(_TYPES[" ".join(name.lower().split())]))
        spans.append(match.span())
        is_sure = is_sure or asked is kinds.Asked.YES
        perhaps += [name.lower() for name in names]
    return _without(text, spans), tuple(sorted(found)), () if is_sure else tuple(perhaps)


def _type_fields(text: str) -> list[re.Match[str]]:
    return _wanted(_TYPE_FIELD, text) if ":" in text else []


def may_name_types(text: str) -> bool:
    """Whether a text has the first word of some type's name: most have none, and need not be matched against all names."""
    # As in `re.IGNORECASE`: a dotless i is an i, and so is a capital I with a dot.
    plain = text.casefold().replace("\u0307", "").replace("\u0131", "i")
    return not _FIRST_WORDS.isdisjoint(_WORD.findall(plain))


def _is_type(match: re.Match[str], count: int) -> bool:
    """Whether a match names types whatever is around it: several types, or `pdf files`."""
    return count > 1 or not match[0].endswith(match["types"])


def _is_written(match: re.Match[str]) -> bool:
    """Whether the notation leaves no doubt: `*.pdf`, `only pdf`."""
    return match["types"][0] in "*." or match[0].lower().split()[0] in _ONLY


def _written_years(text: str) -> tuple[str, set[str]]:
    """The years that are written as a field, and the text without them."""
    found = _wanted(_YEAR_FIELD, text) if ":" in text else []
    years = {str(year) for match in found for year in _from_to(int(match[1]), int(match[2] or match[1]))}
    return _without(text, [match.span() for match in found]), years


def _from_to(one: int, other: int) -> range:
    return range(min(one, other), max(one, other) + 1)


def _years(text: str) -> tuple[str, tuple[str, ...]]:
    if "19" not in text and "20" not in text:
        return text, ()
    found: set[str] = set()
    left = text
    for pattern in (_RANGE, _SAID):
        spans = []
        for match in _wanted(pattern, left):
            numbers = [int(year) for year in re.findall(_YEAR, match[0])]
            if pattern is _RANGE:
                numbers = list(_from_to(*numbers))
            found.update(map(str, numbers))
            spans.append(match.span())
        left = _without(left, spans)
    bare = [
        match
        for match in _wanted(_BARE, left)
        if not _BEYOND.search(left, max(0, match.start() - _NEGATION), match.start())
    ]
    if len(_WORD.findall(left)) > _CITING:  # in a long text, a year in brackets belongs to a citation
        bare = [match for match in bare if left[match.start() - 1 : match.end() + 1] != f"({match[0]})"]
    # After a month, a year is a filter and stays in the text too: without it, that month of any year would be found.
    dated = [
        match for match in bare if when.ENDS_IN_MONTH.search(left, max(0, match.start() - _NEGATION), match.start())
    ]
    if bare and has_words(_without(left, [match.span() for match in bare])):
        found.update(match[0] for match in bare)
        left = _without(left, [match.span() for match in bare if match not in dated])
    return left, tuple(sorted(found))


def has_words(text: str) -> bool:
    """Whether a text has a word that is neither a stop word nor an operator."""
    words = [word for word in _WORD.findall(text) if word not in _OPERATORS]
    stop = languages.stop_words([word.lower() for word in words])
    return any(word.lower() not in stop for word in words)


def _wanted(pattern: re.Pattern[str], text: str, *, quoted: bool = False) -> list[re.Match[str]]:
    """The matches of a pattern that are neither quoted nor negated; `quoted`: they may contain quotation marks."""
    marks = _QUOTED_ALONE if quoted else _QUOTED
    plain = marks.sub(lambda found: "\0" * len(found[0]), text)
    return [
        match
        for match in pattern.finditer(plain)
        if not _NEGATED.search(plain, max(0, match.start() - _NEGATION), match.start())
    ]


def _wanted_time(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return _wanted(pattern, text, quoted=True)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return " ".join(text[start:end] for start, end in zip(starts, ends, strict=True))
