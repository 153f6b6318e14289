"""Find what is assigned to a password, secret, token or key: in code, settings, markup, tables and sentences.

In: folded text and the same in lower case.
Always: a name alone gives nothing; the value must look like one, the more so the less the syntax around it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smart_context import later
from smart_context.data import dataclass
from smart_context.redact import names, told, values, wrap

_CLOSED = r"(?:[\"'`\])}*_~\\]{0,4}+|&quot;|&#3[49];|%22|%27)"
_OF = r"(?:[ ](?:for|of|to|für|fuer|zu[rm]?|vom?|des?|del|du|da|do|pour|per|para|для|от|на|до|di)[ ][^\s:=]{1,40}(?:[ ][^\s:=]{1,40}){0,2})?"
# `?=` is of Makefiles, `<-` of R; the arrows are those of notes and lists.
_GIVES = r":=|={1,3}>?|-{1,3}>|<{1,2}-|::?|[?+|]{1,2}=|\?:|[→⇒⟶⟹⇨➔➜➞➡►▶▸↦⮕⟼←]|%3[ad]"
# A type stands apart from its "=", or a string follows: an "=" right after it is the padding of base64 otherwise.
_TYPED = (
    r"(?:(?:\??[ ]?:[ ]?&?[A-Za-z_][\w.\[\]| ]{0,30}\??|[ ](?:string|\[\]byte)|[ ]\{[ ]?get;[ ]?(?:(?:set|init);[ ]?)?\})"
    r"(?=[ ]=[ ]?[^=\s]|=[ ]?[brf]{0,2}[\"'`][^\s,;)}\]\"'`]))?"
)
# What opens a value that begins in the next line: of YAML, of a shell or Terraform, of TOML or Python, of Java's properties.
_OPENED = r"(?:(?:[|>][+\-]?|<<[\-~]?[\"']?\w{1,20}[\"']?|\"{3}|'{3}|\\)(?=[ \t]*\r?\n))?"
_ELSE = r"(?:\w{1,30}[.(\[][\w.$\[\]\"'()]{1,60}[ ](?:\|\||\?\?|or)[ ](?=[\"'`])|(?:\w{1,30}\.)?(?:fetch|getenv|env)\([\"'][\w.\-]{1,60}[\"'](?:,[ ]?|\)[ ]\{[ ])(?=[\"']))?"  # `process.env.X || "x"`, `ENV.fetch('X', 'x')`
# What a value is wrapped in that stands in the text: Puppet's, Python's and Scala's types for secrets.
_WRAPPED = r"(?:(?:\w{1,20}\.)?(?:sensitive|secret(?:str|bytes)?|password)(?:\.new)?\((?=[\"']))?"
_ASSIGN = later.pattern(
    rf"{_CLOSED}(?:[ ]?\([^()\n]{{1,40}}\))?{_OF}{_TYPED}[ \t]{{0,40}}(?:{_GIVES})(?:[*_]{{1,3}}(?=[ \t]))?[ \t]{{0,40}}(?:&quot;|&#3[49];|%22|%27|%20|%09){{0,4}}{_ELSE}{_OPENED}"
    rf"(?P<newline>[ \t]{{0,8}}\r?\n(?:[ \t>|]{{0,20}}\r?\n)?[ \t>*|\-]{{0,40}})?(?:string\([0-9]{{1,4}}\)[ ](?=\"))?{_WRAPPED}"
)  # fmt: skip
_IS = later.pattern(
    rf"{_CLOSED}{_OF}(?:(?<=sło)[ ]to[ ]|[ ]+(?:(?:ha[sd][ ]been[ ]|was[ ]|is[ ]now[ ])?(?:re)?(?:set|changed)[ ]to|equals|is|was|are|be|ist|lautet|war|est|es|era|è|é|jest|är|er|является|olarak)(?:[ ]now|[ ]set to)?[ ]?[: ][ ]?|[ ]?(?:是|为|為|は|는|은)[ :]?)"
)
_CELL = later.pattern(rf"{_CLOSED}:?[ ]?(?:\t{{1,8}}|[ ]?\|(?:[ ]{{0,4}}\|){{0,3}})[ ]?")
_REACH = 16  # characters in which `_CELL` and `_BRACKET` have their sign
_TAG = later.pattern(r"(?:[ ][^<>\n]{0,80})?(?:>|&gt;|%3e)(?:<!\[cdata\[)?[ ]?")
# The value of a field of that name, perhaps after its type or description.
_VALUE_FIELD = later.pattern(
    r"[\"']?[\s,;/{:]{0,40}(?:[\"']?(?:type|description|enabled|required|sensitive|secure|noecho|id)[\"']?[ ]{0,20}[:=][ ]?[\"']?[\w .\-]{0,40}+[\"']?[\s,;]{1,20}){0,3}"
    r"[\"']?(?:(?:default|parameter)?[-_]?value|default|s:[0-9]{1,4})[\"']?[ ]{0,20}[:=][ ]?"
)
_GETS = later.pattern(
    r"(?:define|getenv|environ\.get|env|setenv|putenv|setproperty)\([ ]?[\"'][\w.\-]{0,40}$"
)  # a call whose second argument is the value
_CALL = later.pattern(r"\([ ]?(?=[\"'])")
_PAIR = later.pattern(r"[\"'][ ]?,[ ]{0,40}(?=[\"'])")
_BELOW = later.pattern(r"[\"'`*_]{0,3}:?[\"'`*_]{0,3}[ \t]{0,8}\r?\n(?:[ \t=\-]{0,60}\r?\n)?[ \t>*|]{0,40}")
_ROW = later.pattern(r"[\"']?[,;](?=[^\s,;])")
_ROW_BEGINS = later.pattern(r"[\"']?(?:[a-z]{1,20}[ _\-]){0,2}")
_NEXT_ROW = later.pattern(r"[ \t]{0,8}\r?\n[ \t]{0,8}")
_LABEL = later.pattern(r"[ \t#*>|\-_\"'`]{0,12}(?:[\w\-]{1,20}[ _\-]){0,3}")
_DIRECTIVE = later.pattern(r"[ \t]{0,40}(?:(?:run|docker)[ ])?(?:env|arg|set|setx|setenv|export)[ ]{1,4}[\w.\-]{0,60}")
_LONG_WORD = 8  # letters of a word that is no short option
_WORD_BEFORE = later.pattern(r"[ \t]{0,40}[\w.\-]{0,60}")
_LIST = later.pattern(r"[\[({]\s{0,80}(?=[\"'])")
_OF_KEY = later.pattern(r"\s{0,8}:\s{0,40}")  # after a quoted key
_ENTRY = later.pattern(r"[\"']?[\w.@\-]{1,60}[\"']?:[ ]{1,20}(?=[^\s#&*{\[|>])")
_ARN = later.pattern(r"\barn:[^\s\"'<>]*:$")
_DOCSTRING = ('""', "''")
_NEXT_LINE, _VERB = later.pattern(r"\n[ \t]*"), later.pattern(r"[a-z] $")
_NEXT_QUOTED = later.pattern(r"[ \t]{0,20},?\s{0,80}(?=[\"'])")
_NEXT_ITEM = later.pattern(r"[\"'`]?[ \t]{0,20}\r?\n[ \t]{0,40}-[ \t]{1,8}")
# A space, a gap as between columns, a dash between spaces, the dots of a form.
_SPACE = later.pattern(
    r"[*_]{0,3}(?:[ ]{1,3}[\-–—~•>]{1,2}[ ]{1,3}|[ ]?(?:\.{3,80}|_{3,80}|…{1,40})[ ]?|[ ]{1,40})(?=[^\s])"
)
# Whatever sign stands apart between a label that begins its line and a value that ends it; signs that are part of words, paths and code only if they do.
_SIGN = later.pattern(
    r"[*_~]{0,3}(?:[ \t]{1,40}[^\w\s\uFFFC'`({\[<]{1,3}[ \t]{1,40}|[ \t]{0,40}[^\w\s\uFFFC!-/:-@\[-`{-~]{1,3}[ \t]{0,40}|[ ]{0,2}[;~^>]{1,2}[ \t]{1,40}|[;,~^>\0-\x08]{1,3}|[ ]{2,40})(?=[^\s])"
)
# Any sign between a name and a value, wherever they stand.
_APART = later.pattern(
    r"(?![\"'][ ]?,)[*_~]{0,3}[ \t]{0,4}(?:<=|:-|=:|[^\w\s\uFFFC({\[<.:=$]{1,3}|\.(?=[ ]))[ \t]{0,4}(?=[^\s])"
)
_WITHIN = (
    r"(?:(?![()<>\[\]{}\"'`,;])[!-~]){6,64}"  # what stands in brackets: ASCII, as text of other scripts has no spaces
)
_OPENERS = frozenset("([{<「『【《〈〔")
_BRACKET = later.pattern(
    r"[*_\"'`]{0,3}[ ]?(?:\([\"'`]?(?=[\w+/\-]{16})|[(\[{<「『【《〈〔][\"'`]?(?=[!-~]{8})(?=[^\s()<>\[\]{}]{8,256}[)\]}>」』】》〉〕]))"
)
_WEAK_BRACKET = later.pattern(
    rf"[*_\"'`]{{0,3}}(?:(?:[ ]{{1,2}}|(?<![\0-\x7f]))[(\[{{<]|[ ]?[「『【《〈〔])[\"'`]?(?={_WITHIN}[\"'`]?[)\]}}>」』】》〉〕])"
)
_INSIDE = later.pattern(_WITHIN)
_TAG_SIGNS, _TAG_REACH = ("<", "&lt;", "%3c"), 45
_IN_TAG = later.pattern(r"(?:<|&lt;|%3c)[\w:.\-]{0,40}$")

_QUOTED = later.pattern(
    r"[bBrRuUfFL@$]{0,2}(?P<quote>\"{3}|'{3}|[\"'`])(?P<value>(?:\\.|(?!(?P=quote))[^\\\n]){1,1024}+)(?P=quote)"
)
_ESCAPED = later.pattern(r"(?P<quote>\\{1,7}[\"'])(?P<value>[^\"'\\\n]{1,1024}+)(?=\\)")
_BARE = later.pattern(r"[^\s\uFFFC]{1,512}+")
_STOP = later.pattern(
    r"&(?=[\w.\-]{1,60}=)|;(?=\s|$|[\w ]{1,40}=)|,(?=\s|$|[\"']|[\w.\-]{1,60}[=:])|[\"'`](?=[\s,;)}\]>&|]|$)|\\n|\\\"|\\r|</|\]\]>|\s"
    r"|&(?:quot|amp|apos|lt|gt);|&#3[49];|%(?:2[267]|3[CEce])(?!\d)"
)
_CELL_STOP = later.pattern(r"[ ]{0,2}(?:\t|\||\n|$)")
_ROW_STOP = later.pattern(r"[\"']?(?:[,;\t]|$)")
_END_OF_LINE = later.pattern(r"[\"'`;,.)\]}]*[ \t]*(?:(?:#|//|--).*)?(?:\r?\n|$|\t)")
_END_OF_CELL = later.pattern(r"[\"'`]?[ \t]*(?:\r?\n|$|[\t|;,])")
_RUN = later.pattern(r"[^\s\"'`,;<>]{1,512}+")
_PADDED = later.pattern(r"[A-Za-z0-9+/]{10,}={1,2}")  # base64 to its end
_BLOCK = later.pattern(r"[a-z\-]{1,40}\{")  # of a style sheet
_LENGTHS = later.pattern(r"\d{1,3}(?:[-+]\d{0,3})?\+?|\d{1,2}-[a-z]+")
_SYMBOL = later.pattern(r"[^\w\-.'/,:;()]")
_APP_PASSWORD = later.pattern(r"[a-z]{4}(?: [a-z]{4}){3}(?!\w| \w)")  # as Google prints them
_PLAIN = later.pattern(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_MIN_MADE, _MIN_ASIDE = 8, 16  # characters of a secret that a machine made, alone below its name; of one in a sentence
_PUBLIC = ("AAAA", "ssh-", "-----", "MII")
_BESIDE = frozenset(" \t\r\n\"'`*_:,;")
_URL = later.pattern(r"[a-z][a-z0-9+.\-]{1,20}://")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value starts, and how much the syntax before it says: "assign", "call", "pair", "say", "cell", "tag", "space", "below", "row", "label", "bracket", "apart", "told"."""

    start: int
    syntax: str
    same_line: bool = True


def find(text: str, low: str, found: Sequence[names.Name]) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand that are assigned to the names that were found."""
    done = 0
    for name in found:
        span, syntax = told.before(low, name)
        value = text[slice(*span)]
        if values.is_told(value) if syntax == "told" else syntax and _is_quoted(value, _Place(0, syntax), name):
            yield span
        if name.start < done or (name.word == "pass" and low[name.start - 1 : name.start] == "="):
            continue  # "spf=pass": a value, not a name
        if low[name.start - 1 : name.start] == ":" and _ARN.search(low, max(0, name.start - 120), name.start):
            continue  # a part of the name of a resource
        for place in _places(low, name):
            if place.syntax == "assign" and names.is_verdict(text, name):
                continue
            given = _values(text, low, place, name)
            if given:
                yield from given
                done = given[-1][1]
                break


def _places(low: str, name: names.Name) -> Iterator[_Place]:
    start, end = name.start, name.end
    yield from _given(low, name)
    after = low[end : end + _REACH]
    if (
        any(low.rfind(sign, max(0, start - _TAG_REACH), start) >= 0 for sign in _TAG_SIGNS)
        and _IN_TAG.search(low, max(0, start - _TAG_REACH), start)
        and (match := _TAG.match(low, end))
    ):
        yield _Place(match.end(), "tag")
    if match := _VALUE_FIELD.match(low, end):
        yield _Place(match.end(), "assign")
    if after[:1] == "(" and (match := _CALL.match(low, end)):
        yield _Place(match.end(), "call")
    if after[:1] in {'"', "'"} and (match := _PAIR.match(low, end)):
        yield _Place(match.end(), "pair")
        if low.find("(", max(0, start - 44), start) >= 0 and _GETS.search(low, max(0, start - 60), start):
            yield _Place(match.end(), "assign")
    if name.is_many:
        return
    if match := _IS.match(low, end):
        yield _Place(match.end(), "say")
    if name.is_vague:
        if match := _SPACE.match(low, end):
            yield _Place(match.end(), "space")
        return
    if not _OPENERS.isdisjoint(after) and (match := _BRACKET.match(low, end)):
        yield _Place(match.end(), "space")
    if (
        name.is_password
        and not _OPENERS.isdisjoint(after)
        and _begins_word(low, start)
        and (match := _WEAK_BRACKET.match(low, end))
    ):
        yield _Place(match.end(), "bracket")
    if ("|" in after or "\t" in after) and (match := _CELL.match(low, end)):
        yield _Place(match.end(), "cell")
    yield from _by_line(low, name)
    if (
        (start == 0 or not low[start - 1].isalnum())
        and (match := _APART.match(low, end))
        and (match[0] != "-" or (name.is_password and _begins_word(low, start)))
    ):
        yield _Place(match.end(), "apart")


def _given(low: str, name: names.Name) -> Iterator[_Place]:
    """The place after a sign that assigns."""
    start, end = name.start, name.end
    if match := _ASSIGN.match(low, end):
        is_same_line = match["newline"] is None
        is_call = low[end] == ")"  # "(forget_passphrase): Likewise." speaks of a name; it assigns nothing
        is_verb = name.word == "pass" and _VERB.search(low, max(0, start - 2), start) is not None
        # What comes below the head of a function is not given, nor what comes below "these must pass:".
        if is_same_line or not (is_call or is_verb):
            yield _Place(match.end(), "say" if is_call else "assign", same_line=is_same_line)


def _begins_word(low: str, start: int) -> bool:
    return start == 0 or not (low[start - 1].isalnum() or low[start - 1] in "_.>:$-")


def _by_line(low: str, name: names.Name) -> Iterator[_Place]:
    """Places that the line tells in which a name stands: an option, a label, the first cell of a row."""
    start, end = name.start, name.end
    after = low[end : end + 1]
    line = (
        low[max(low.rfind("\n", 0, start) + 1, start - 100) : start]
        if after in _BESIDE or not after.isalnum()
        else "\n"
    )
    if _ROW_BEGINS.fullmatch(line) and (match := _ROW.match(low, end)):
        yield _Place(match.end(), "row")
    if (end - start > 4 or start == 0 or low[start - 1] == "d") and (match := _SPACE.match(low, end)):
        yield _Place(match.end(), "assign" if _is_directive(line, name.word) else "space")
    if name.is_password:
        yield from (_Place(at, syntax) for at, syntax in told.places(low, line, name))
    if not _LABEL.fullmatch(line):
        return
    if match := _BELOW.match(low, end):
        yield _Place(match.end(), "below", same_line=False)
    if match := _SIGN.match(low, end):
        yield _Place(match.end(), "label")


def _is_directive(line: str, word: str) -> bool:
    """Tell whether a name and a space after it assign: an option, `ENV DB_PASSWORD x`, `bindpw x`."""
    flag = line.rsplit(None, 1)[-1:] or [""]
    return (
        flag[0].startswith("--")
        or (flag[0] == "-" and line[-1:] == "-" and len(word) >= _LONG_WORD)
        or _DIRECTIVE.fullmatch(line) is not None
        or (word == "pw" and _WORD_BEFORE.fullmatch(line) is not None)
    )


def _values(text: str, low: str, place: _Place, name: names.Name) -> list[tuple[int, int]]:
    """The value at a place, or the values of a list that begins there."""
    opened = _LIST.match(text, place.start) if place.syntax == "assign" else None
    if opened:
        return _quoted_items(text, opened.end(), place, name)
    if (
        name.is_many
        and not place.same_line
        and _ENTRY.match(text, place.start)
        and text[place.start - 1] in " \t"
        and text[place.start - 2] != "-"
    ):
        return list(_entries(text, low, place.start, name))
    found: list[tuple[int, int]] = []
    at = place.start
    while (span := _value(text, low, _Place(at, place.syntax, place.same_line), name)) is not None:
        found.append(span)
        more = None if place.same_line else (_NEXT_ROW if place.syntax == "below" else _NEXT_ITEM).match(text, span[1])
        if more is None:
            break
        at = more.end()
    return found


def _entries(text: str, low: str, at: int, name: names.Name) -> Iterator[tuple[int, int]]:
    """Values with a key each, a line each, as YAML has them below `passwords:`."""
    indent = at - text.rfind("\n", 0, at)
    while (entry := _ENTRY.match(text, at)) and at - text.rfind("\n", 0, at) == indent:
        span = _value(text, low, _Place(entry.end(), "assign"), name)
        if span and values.is_chosen(text[slice(*span)]):
            yield span
        more = _NEXT_LINE.search(text, entry.end())
        if more is None:
            break
        at = more.end()


def _quoted_items(text: str, at: int, place: _Place, name: names.Name) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while quoted := _QUOTED.match(text, at):
        key = _OF_KEY.match(text, quoted.end())
        if key and (quoted := _QUOTED.match(text, key.end())) is None:
            break
        # What a name is given in braces are its parts, and only of several secrets are they secrets.
        is_one = key is None or (name.is_many and values.is_chosen(quoted["value"]))
        if is_one and _is_quoted(quoted["value"], place, name):
            found.append(quoted.span("value"))
        more = _NEXT_QUOTED.match(text, quoted.end())
        if more is None:
            break
        at = more.end()
    return found


def _value(text: str, low: str, place: _Place, name: names.Name) -> tuple[int, int] | None:
    if place.syntax not in {"cell", "tag", "row", "label", "bracket", "apart"} and (
        quoted := _QUOTED.match(text, place.start) or _ESCAPED.match(text, place.start)
    ):
        return quoted.span("value") if _is_quoted(quoted["value"], place, name) else None
    if name.is_password and place.syntax == "assign" and (groups := _APP_PASSWORD.match(text, place.start)):
        return groups.span()
    start = place.start + (text[place.start : place.start + 1] in {'"', "'", "`"})
    if place.syntax == "bracket":
        inside = _INSIDE.match(text, start)
        return inside.span() if inside and values.is_chosen(inside[0]) and not values.is_expression(inside[0]) else None
    bare = _BARE.match(text, start)
    if bare is None:
        return None
    end = _bare_end(text, start, bare.end(), place.syntax)
    value = values.spaced(text[start:end])
    if not value or _URL.match(low, start) or value.startswith(_DOCSTRING):
        return None
    ends = _END_OF_CELL if place.syntax in {"cell", "row"} else _END_OF_LINE
    alone = ends.match(text, end) is not None or (place.syntax == "assign" and told.is_argument(text, name, start))
    if not _is_bare(value, place, name, alone=alone):
        return None
    if bare.end() - start >= 512:
        while more := _BARE.match(text, end):
            end = more.end()
    return start, wrap.follow(text, end, _RUN) if _END_OF_LINE.match(text, end) else end


def _is_quoted(value: str, place: _Place, name: names.Name) -> bool:
    if name.is_vague or place.syntax == "pair":
        made = values.is_generated(value) or values.is_salt(value)
        return made and not values.is_placeholder(value) and _is_unreadable(value, name)
    if not values.spaced(value):
        return False
    if place.syntax == "space" and not (_SYMBOL.search(value) or any(c.isdigit() for c in value)):
        return False  # a word that is only quoted
    return _quoted_password(value, name.word) if name.is_password else _quoted_secret(value, name.word)


def _is_bare(value: str, place: _Place, name: names.Name, *, alone: bool) -> bool:
    if name.is_vague:
        return values.is_generated(value) and not values.is_code(value) and _is_unreadable(value, name)
    if place.syntax == "apart":
        return values.is_clear(value) and (name.is_password or len(value) >= _MIN_ASIDE)
    if place.syntax == "told":
        return values.is_told(value)
    if place.syntax in {"below", "row", "label"}:
        is_one = values.is_strong(value) or (values.is_chosen(value) and (name.is_password or len(value) >= _MIN_MADE))
        is_word = (
            values.is_code(value) or values.is_placeholder(value) or (not name.is_password and values.is_named(value))
        )
        return alone and is_one and not is_word and value[0] not in "/<-+[(" and "://" not in value
    if name.is_password:
        return _bare_password(value, place, alone=alone)
    return _bare_secret(value, name.word, place, alone=alone)


def _is_unreadable(value: str, name: names.Name) -> bool:
    """Tell whether a generated value is a key at all: no address, no public key, no name, no text of one or several words."""
    if _URL.match(value.lower()) or value.startswith(_PUBLIC) or values.is_named(value):
        return False
    if (value.isalpha() and value.islower()) or (
        name.word.startswith("key") and name.word.endswith("id") and values.is_uuid(value)
    ):
        return False
    return " " not in value or values.is_salt(value)


def _bare_end(text: str, start: int, end: int, syntax: str) -> int:
    stop = {"cell": _CELL_STOP, "row": _ROW_STOP}.get(syntax, _STOP).search(text, start, end)
    if stop:
        end = stop.start()
    closers = ".,;:)]}\"'`|>" if syntax == "space" else ".,;:)]}\"'`|"
    while end > start and text[end - 1] in closers and not _balanced(text, start, end):
        end -= 1
    return end


def _balanced(text: str, start: int, end: int) -> bool:
    closer = text[end - 1]
    opener = {")": "(", "]": "[", "}": "{"}.get(closer)
    return opener is not None and opener in text[start:end]


def _quoted_password(value: str, name: str) -> bool:
    if not values.is_password(value) or _URL.match(value.lower()) or value.rstrip().endswith(":"):
        return False
    if " " in value.strip():
        return (
            "phrase" in name
            or name == "psk"
            or values.is_phrase(value)
            or (values.is_strong(value.replace(" ", "")) and value.count(" ") < 3)
        )
    return _LENGTHS.fullmatch(value) is None and not (
        values.is_code(value) and ("(" in value or "." in value or "_" in value)
    )


def _quoted_secret(value: str, name: str) -> bool:
    if values.is_placeholder(value) or values.is_named(value) or " " in value or _URL.match(value.lower()):
        return False
    if _PADDED.fullmatch(value):
        return True
    if value.startswith("/"):  # a path: it would be padded else
        return False
    if value.isdigit():
        return len(value) >= (16 if name == "token" else 8)
    if values.is_random(value):
        return len(value) >= 6 and not (values.is_code(value) and ("(" in value or "[" in value))
    return len(value) >= 16 and value.isalnum() and len(set(value)) >= 8


def _bare_password(value: str, place: _Place, *, alone: bool) -> bool:
    if not values.is_password(value) or _LENGTHS.fullmatch(value) or (place.syntax == "tag" and value[0] == "@"):
        return False
    if place.syntax == "say" and values.is_numbered(value):
        return False
    has_digit = any(c.isdigit() for c in value)
    if place.syntax == "space":
        is_word = values.is_code(value) or values.is_numbered(value) or values.is_given(value) or value[0] == "|"
        return values.is_strong(value) and not is_word
    if has_digit or _SYMBOL.search(value):
        if values.is_code(value) and not value.isalnum():
            return False
        enough = 4 if place.syntax in {"assign", "tag"} or has_digit else 6
        return len(value) >= enough and (place.same_line or alone or values.is_strong(value))
    # A plain word is a password only where nothing but an assignment of its own line can be meant.
    return (
        alone
        and place.same_line
        and place.syntax in {"assign", "tag"}
        and len(value) >= 5
        and _PLAIN.fullmatch(value) is not None
    )


def _bare_secret(value: str, name: str, place: _Place, *, alone: bool) -> bool:
    if values.is_placeholder(value) or values.is_code(value) or values.is_named(value) or _BLOCK.match(value):
        return False
    if place.syntax == "assign" and _PADDED.fullmatch(value):
        return True
    if value.isdigit():
        return place.syntax == "assign" and len(value) >= (16 if name == "token" else 8)
    if place.syntax in {"space", "say"}:
        return values.is_strong(value) and (len(value) >= 16 or place.syntax == "say") and not values.is_given(value)
    if not values.is_random(value):
        return place.syntax == "assign" and len(value) >= 20 and value.isalnum() and len(set(value)) >= 8
    return (
        values.is_strong(value)
        or len(value) >= 16
        or (len(value) >= 6 and place.same_line and (alone or name == "keymaterial"))
    )
