"""Find the names under which secrets are kept: `password`, `api_key`, `mot de passe`, `密码` and their like.

In: folded text in lower case.  Out: `Name`s in text order.
Always: a stem is looked for as a plain substring; its pattern runs only where it is present.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter

from smart_context.data import dataclass
from smart_context.redact import stems

_KEY_OF = (
    "api access secret private encrypt encryption sign signing master account auth shared deploy consumer app application "
    "subscription service storage license licence client session hmac aes rsa ssh webhook sas admin root function functions "
    "publish publishable host data storage base bot user personal org project team server test live production custom deploy "
    "integration origin license network wifi wlan wep wpa machine agent runner trigger feed job global delivery identity insert browser bedrock"
)
_BEFORE_KEY = re.compile(rf"(?:{'|'.join(sorted(set(_KEY_OF.split()), key=len, reverse=True))})[ _.\-]?$")
_BESIDE_KEY = frozenset(" _.-")
_ENDS_KIND = tuple(sorted(set(_KEY_OF.split())))
_LATIN = r"(?<![a-z])"

# stem, pattern that begins with it, whether people choose the value themselves (a password) or a machine makes it (a token)
_ASCII: tuple[tuple[str, str, bool], ...] = (
    ("pass", (r"pass(?:word|wort|wd|wrd|phrase|code|ord)|(?<![a-z])pass(?!e)|(?<=de)passe|(?<=de[ _-])passe|(?<=a[- ])passe"
             r"|(?<=db|my|pg)pass|(?<=ssh|ftp|sql|rpc|vnc|web|app|git|key|new|zip)pass|(?<=user|smtp|root|sudo|bind|mail|imap|auth|ldap|cert|wifi)pass|(?<=admin|store|login|mysql|local)pass|(?<=remote)pass"), True),
    ("pwd", r"pwd", True),
    ("pw", rf"{_LATIN}pw|(?<=user)pw|(?<=db)pw|(?<=bind)pw|(?<=root)pw|(?<=ldap)pw|(?<=admin)pw|(?<=ftp)pw", True),
    ("psk", rf"{_LATIN}psk(?!_[0-9])", True),
    ("psw", rf"{_LATIN}psw", True),
    ("mdp", rf"{_LATIN}mdp", True),
    ("kennwort", r"kennwort", True),
    ("clave", rf"{_LATIN}clave(?: de acceso)?", True),
    ("contras", r"contrase(?:na|nya)", True),
    ("senha", rf"{_LATIN}senha", True),
    ("parol", rf"{_LATIN}parol(?:a|e)?(?:n[iı]z|s[iı])?(?: d'ordine)?", True),
    ("wachtwoord", r"wachtwoord", True),
    ("losenord", r"losenord", True),
    ("adgangskode", r"adgangskode", True),
    ("salasana", r"salasana", True),
    ("jelszo", r"jelszo", True),
    ("hasl", rf"{_LATIN}hasl(?:o|em|a)(?: dostepu)?", True),
    ("heslo", rf"{_LATIN}heslo", True),
    ("geslo", rf"{_LATIN}geslo", True),
    ("lozinka", r"lozinka", True),
    ("sifre", rf"{_LATIN}sifre(?:niz|si)?", True),
    ("losungswort", r"losungswort", True),
    ("zugangscode", r"zugangscode", True),
    ("freischaltcode", r"freischaltcode", True),
    ("aktivierungscode", r"aktivierungscode", True),
    ("toegangscode", r"toegangscode", True),
    ("inlogcode", r"inlogcode", True),
    ("d'acc", r"(?<=code )d'acc[eè]s", True),
    ("acceso", r"(?<=digo de )acceso", True),
    ("acesso", r"(?<=digo de )acesso", True),
    ("accesso", r"(?:(?<=codice di )|(?<=chiave di ))accesso", True),
    ("kata ", r"kata (?:sandi|laluan)", True),
    ("khau", r"(?<=mat )khau", True),  # as marks leave it that are drawn over its letters
    ("key", r"key(?:[ _]?id)?", False),
    ("keymaterial", r"keymaterial", False),
    ("key content", r"key content", False),
    ("recovery code", r"recovery codes?", True),
    ("recovery key", r"recovery key", True),
    ("backup code", r"backup codes?", True),
    ("recovery_code", r"recovery_codes?", True),
    ("backup_code", r"backup_codes?", True),
    ("client", r"client[ _.\-]?id", False),
    ("secret", r"secret", False),
    ("_salt", r"_salt", False),
    ("token", r"token", False),
    ("credential", r"credentials?", False),
    ("jeton", rf"{_LATIN}jeton", False),
    ("session", r"(?<!j)session[ _\-]?id", False),
    ("jsessionid", r"jsessionid", False),
    ("phpsessid", r"phpsessid", False),
    ("connect.sid", r"connect\.sid", False),
    ("x-auth", r"x-auth", False),
    ("_auth", r"(?<![a-z0-9])_auth", False),
    ("clave ", r"clave (?:de )?(?:la )?api", False),
    ("chave", r"chave (?:de |da )?api", False),
)  # fmt: skip
_OTHER_CHOSEN = (
    "contraseña", "lösenord", "jelszó", "hasł", "парол", "кодовое слово", "код доступа", "kod dostępu", "パスコード", "κωδικός", "κωδικος", "şifre", "şİfre", "סיסמה", "סיסמא", "पासवर्ड", "รหัสผ่าน", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호", "parolă",
    "كلمة المرور", "كلمة السر", "رمز عبور", "mật khẩu",
)  # fmt: skip
_OTHER_MADE = (
    "api-schlüssel", "apischlüssel", "wlan-schlüssel", "netzwerkschlüssel", "netzwerksicherheitsschlüssel", "schlüsselinhalt", "zugangsschlüssel", "zugriffsschlüssel", "clé api", "clé wi-fi", "clé wifi", "clé de sécurité", "clé d'api", "clé secrète", "ключ api", "api ключ", "api-ключ",
    "令牌", "密钥", "密鑰", "apiキー", "トークン", "秘密鍵", "api 키", "api키", "토큰", "токен",
)  # fmt: skip
# What a name may end in, where that is inflected.
_FORMS = {
    "şİfre": r"şİfre(?:nİz|sİ)?", "hasł": r"hasł(?:o|em|a)(?: dostępu)?", "парол": r"парол(?:ь|я|ем|и)(?: (?:администратора|пользователя|доступа|учетной записи))?", "şifre": r"şifre(?:niz|si)?",
}  # fmt: skip
# With the first letter beyond ASCII of each, small and capital.
_OTHER = tuple(
    (next((c, c.upper()) for c in name if not c.isascii()), (name, _FORMS.get(name) or re.escape(name), chosen))
    for names, chosen in ((_OTHER_CHOSEN, True), (_OTHER_MADE, False))
    for name in names
)
LETTERS = frozenset(letter for first, _ in _OTHER for letter in first)
"""One of them is in every name that is not all ASCII."""
_BY_SIGN = {sign: tuple(row for row in _ASCII if row[0].strip() == sign) for sign in {row[0].strip() for row in _ASCII}}
_SIGNS = frozenset(_BY_SIGN)
# "password_prod", "token2", "api_keys" still are names; "password_length", "tokenizer", "keyboard" are not.
_SUFFIX = re.compile(
    r"(?P<many>s(?![a-z0-9]))?(?:[_\-.]?(?:base64|b64|value|plain|text|raw|prod|production|dev|test|testing|staging|live|old|new|main|master|primary|secondary|"
    r"backup|bak|copy|tmp|temp|default|current|previous|prev|next|string|binary|data|base|encoded|enc|rotated|legacy|fallback|alt|[0-9]{1,3}))"
    r"{0,2}+(?![a-z0-9\u00df-\u024f])"
)
_NO_SUFFIX = frozenset(" \t\r\n\"'`:;,=<>()[]{}|/\\*+&%$#@!?~^")  # what ends a name that stands before it
# What follows a name that is given a value; a key of no kind that is known is a name only there.
_GIVEN = re.compile(r"[\"'`\])}*\\]{0,4}+[ \t]{0,40}+(?:[:=,]|->|=>|%3[ad]|value|>|(?:is|was|ist)[ :]|[\w\-+/=]{20})")
_OPTION = re.compile(r"(?<![\w\-])--?[a-z][\w\-]{0,40}$")
_OPEN_KEY = re.compile(r"(?:pub|public)[ _.\-]?$")


@dataclass(frozen=True, slots=True)
class Name:
    """Where a name starts and ends, and how it reads.

    is_vague: the name alone says little (`my_key`, `tokens`), so that the value must look generated. is_many: several values may follow.
    """

    start: int
    end: int
    word: str
    is_password: bool
    is_vague: bool = False
    is_many: bool = False


def find(low: str, seen: stems.Seen, letters: frozenset[str]) -> list[Name]:
    """Return the names in text order. seen: the signs that the text holds. letters: those of `LETTERS` that it may hold."""
    rows = [(row, seen[sign]) for sign in _SIGNS.intersection(seen) for row in _BY_SIGN[sign]]
    if letters:
        rows += [(row, None) for first, row in _OTHER if not letters.isdisjoint(first) and row[0] in low]
    found = [name for row, places in rows for name in _of(low, places, *row)]
    found.sort(key=attrgetter(*Name.__match_args__))
    return found


def _of(low: str, places: Sequence[int] | None, stem: str, pattern: str, is_chosen: bool) -> Iterator[Name]:
    for match in stems.matches(pattern, stem, low, places):
        word, (start, end), is_many = match[0], match.span(), False
        if low[end : end + 1] not in _NO_SUFFIX:
            suffix = _SUFFIX.match(low, end)
            if suffix is None:
                continue
            end, is_many = suffix.end(), suffix["many"] is not None
        is_vague = word.startswith("client") or (word == "token" and is_many)
        if stem == "key":
            kind = _kind_before(low, start)
            if kind is not None:
                start = kind.start()
            elif _is_given(low, start, match.end(), end):
                is_vague = True
            else:
                continue
        yield Name(start, end, word, is_chosen, is_vague, is_many)


def _kind_before(low: str, start: int) -> re.Match[str] | None:
    """The word before a key that says what kind of key it is; looked for only where one ends there."""
    ends = start - (low[start - 1 : start] == "\n")
    ends -= low[ends - 1 : ends] in _BESIDE_KEY
    return (
        _BEFORE_KEY.search(low, max(0, start - 16), start)
        if low.endswith(_ENDS_KIND, max(0, start - 16), ends)
        else None
    )


def _is_given(low: str, start: int, end: int, after: int) -> bool:
    """Whether a key of no kind that is known is given a value, as a name or as an option."""
    is_one = _GIVEN.match(low, after) or (
        low.find("-", max(0, start - 44), start) >= 0 and _OPTION.search(low, max(0, start - 44), end)
    )
    return bool(is_one) and not _OPEN_KEY.search(low, max(0, start - 8), start)


def is_verdict(text: str, name: Name) -> bool:
    """Tell whether a name is no name but what a test came to: `PASS: test_parser2`."""
    return (
        name.word == "pass"
        and text.startswith(("PASS:", "Pass:"), name.start)
        and not (name.start and (text[name.start - 1] in "_-.\"'<" or text[name.start - 1].isalnum()))
        and text[name.start : name.end].isupper()
    )
