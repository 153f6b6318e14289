"""Find where a password stands that other words tell than a sign after its name: a change, a question, the user above, a field before.

In: folded text in lower case, and the name of a secret in it.  Out: places, and how sure they are.
Always: a place says nothing of what stands there; `assigned` judges that.
"""

from __future__ import annotations

from collections.abc import Iterator

from smart_context import later
from smart_context.redact import names

_LOGIN = later.pattern(r"\b(?:login|user|username)[ :=]{1,2}[^\s:=]{1,60}[ ,;]{1,2}$")  # `user jane password x`
_LEVEL = later.pattern(r"[ ](?:[0-9][ ])?(?=[^\s\"'`\\]{0,64}[0-9])")  # of Cisco's settings
_DEVICE = later.pattern(
    r"[ \t]{0,40}(?:enable|neighbor[ ][^\s]{1,60}|ppp[ ](?:chap|pap[ ]sent-username[ ][^\s]{1,60}))[ ]$"
)
_ALONE = later.pattern(r"[ ](?:[0-9][ ])?(?=[^\s]{6,64}[ \t]*(?:\r?\n|$))")
_INDENT = later.pattern(r"[ \t]{1,40}")
_USER_ABOVE = later.pattern(
    r"(?:^|\n)(?:[ \t]{0,40}|c: |> |--> )(?:user|username|login|account)[ ][^\s]{1,60}[ \t]*\r?\n(?:(?:s: |< |<-- )?[0-9+][^\n]{0,100}\n)?$"
)
_ABOVE = 240  # characters of the lines above
_CHANGED = later.pattern(r"\b(?:re)?(?:set|changed?|updated?)\b[^\n]{0,60}$")
_TO = later.pattern(r"[ ]to:?[ ][\"'`]?(?=[^\s]{0,64}[0-9])")
_IS_BELOW = later.pattern(r"[ ](?:is|are|ist|lautet)[ ]?(?:now)?:[ \t]{0,8}\r?\n(?:[ \t>|]{0,20}\r?\n)?[ \t>*|]{0,40}")
# The answer to a question: in the next line, perhaps after who gives it.
_ASKED = later.pattern(
    r"[^\n?]{0,40}\?[\"')]{0,2}[ \t]{0,8}\r?\n(?:[ \t>|]{0,20}\r?\n)?[ \t>*|]{0,20}(?:[^\s:>][^\n:>]{0,40}[:>][ ]{1,4})?(?=[^\s]{6,64}[.!]?[ \t]*(?:\r?\n|$))"
)
_REACH = 45  # characters after a name in which a question ends
# `user/password: jane / x`
_USER = later.pattern(r"(?:user|login|name|benutzer|account|email)[ ]?[/&][ ]?$")
_AND_USER = later.pattern(r"[*_)]{0,3}[ ]?[:=][*_]{0,3}[ ]{0,3}[\"'`]?[^\s/:,|\"'`]{2,60}[\"'`]?[ ]?[/:|,][ ]?")
# What stands before its name: `x as the password`, `{"value": "x", "name": "password"}`.
_AS = later.pattern(
    r"(?:^|\s)[\"'`(]?(?P<value>[^\s\"'`()]{6,64}+)[\"'`)]?[ ](?:as|is|als|ist|was)[ ](?:the|your|my|our|their|its|das|dein|mein|ihr|unser)[ ](?:(?:new|old|initial|temporary|default|current|neue|alte|admin|root|user|wifi|wi-fi|wlan|login)[ ]){0,3}$"
)
_ENDS_CLAUSE = later.pattern(r"[\"'`)]{0,2}(?:[.,;:!?)]|[ \t]*(?:\r?\n|$)|[ ](?:for|of|to|on|für|auf|von)[ ])")
_FIELD_BEFORE = later.pattern(
    r"\b(?:\w{1,12}[_-]?)?value[\"']?[ ]?[:=][ ]?(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote))[^\n\\]){3,256}+)(?P=quote)[\s,;]{1,40}-?[ ]?[\"']?(?:\w{1,12}[_-]?)?(?:name|key|id)[\"']?[ ]?[:=][ ]?[\"']?[\w.\-/]{0,60}$"
)
_VERBS, _FIELDS, _AHEAD, _LONGEST_TOLD = (" as ", " is ", " als ", " ist ", " was "), ("name", "key", "id"), 60, 66
_MAX_ARGUMENT = 100  # characters of an argument up to its name
_BEFORE = 400  # characters before a name in which such a value stands


def places(low: str, line: str, name: names.Name) -> Iterator[tuple[int, str]]:
    """Yield where a password may stand after its name, and the syntax of that. line: what of its line stands before the name."""
    start, end = name.start, name.end
    if low[end : end + 1] == " ":
        yield from _after_space(low, line, name)
        if match := _IS_BELOW.match(low, end):
            yield match.end(), "told"
    has_user = low[start - 1 : start] == "/" or low[start - 2 : start] in {"/ ", "& "}
    if has_user and _USER.search(line) and (match := _AND_USER.match(low, end)):
        yield match.end(), "told"
    if low.find("?", end, end + _REACH) >= 0 and (match := _ASKED.match(low, end)):
        yield match.end(), "told"


def _after_space(low: str, line: str, name: names.Name) -> Iterator[tuple[int, str]]:
    end = name.end
    is_users = ("user" in line or "login" in line) and _LOGIN.search(line)
    if line and (is_users or _DEVICE.fullmatch(line)) and (match := _LEVEL.match(low, end)):
        yield match.end(), "say"
    if name.word in {"password", "pass"} and (match := _ALONE.match(low, end)) and _is_setting(low, line, name):
        yield match.end(), "label"
    if low.startswith(" to", end) and _CHANGED.search(line) and (match := _TO.match(low, end)):
        yield match.end(), "told"


def _is_setting(low: str, line: str, name: names.Name) -> bool:
    """Tell whether a line that begins with a name is a setting or a command: it is indented, or a line above says for which user."""
    if line.strip() not in {"", "c:", ">", "-->"}:
        return False
    before = name.start - len(line)
    above = _USER_ABOVE.search(low, max(0, before - _ABOVE), before)
    return above is not None or (name.word == "password" and _INDENT.fullmatch(line) is not None)


def is_argument(text: str, name: names.Name, start: int) -> bool:
    """Tell whether what assigns is an option or a variable that a command is given: `--password=x --quiet`, `PGPASSWORD=x psql`."""
    if text[start - 1] != "=" or not name.is_password:
        return False
    first = max(text.rfind(sign, max(0, name.start - _MAX_ARGUMENT), name.start) for sign in " \t\n\"'") + 1
    word = text[first:start]
    is_first = text[first - 1 : first] in {"", "\n"} or text[max(0, first - 2) : first] in {"$ ", "# "}
    return word.startswith("-") or (word.isupper() and is_first)


def before(low: str, name: names.Name) -> tuple[tuple[int, int], str]:
    """Return where a value may stand before its name, and the syntax of that; none where none does."""
    value, syntax, start = None, "", name.start
    ahead = low[max(0, start - _AHEAD) : start]
    given = max(ahead.rfind(":"), ahead.rfind("="))
    if name.is_vague:
        return (0, 0), ""
    if given > 0 and ahead[:given].rstrip(" \"'").endswith(_FIELDS):
        value, syntax = _FIELD_BEFORE.search(low, max(0, start - _BEFORE), start), "assign"
    elif ahead[-1:] == " " and name.is_password and any(map(ahead.__contains__, _VERBS)):
        is_end = _ENDS_CLAUSE.match(low, name.end)
        value, syntax = is_end and _AS.search(low, max(0, start - _AHEAD - _LONGEST_TOLD), start), "told"
    return (value.span("value"), syntax) if value else ((0, 0), "")
