"""Judge whether a stretch of text is the value of a secret or only a placeholder.

Always: linear in the value; no detector decides this by itself.
"""

from __future__ import annotations

import itertools
from functools import cache
from operator import add

from smart_context import later
from smart_context.redact.view import MASK

_TEMPLATE = later.pattern(
    r"""(?xi)
      [$%]?[<{\[(].*                                   # <password>, ${PASS}, {{ pass }}, [hidden], %(pass)s
    | \$[a-z_][\w.:]*+ | (?:[^\w\s]*%[sdr])+[^\w\s]* | %\w++%   # $PASS, %s, %s:%s, %PASS%
    | (?:\\+[nrt0])+ | [*&][a-z_]+ | !(?:env|getatt|include|ref|reference|secret|sub|unsafe|vault)\b.*   # "\n", an alias or a tag of YAML
    | [x*•●.\-_#?0/\\…]++                              # xxxx, ****, ....
    """
)
_PLACEHOLDER = later.pattern(
    r"""(?xi)
      (?:your|my|the|some|enter|insert|put|replace|add|use|example|sample|dummy|fake|placeholder|redacted|hidden|masked|removed|secret-?here)
      (?:[-_\ ].*)?+
    | .*[-_](?:here|placeholder)
    | :?[a-z:]{2,30}:`.*                                            # :meth:`peek`, in reStructuredText
    """
)
_EXPRESSION = later.pattern(r"a\\?-z|0\\?-9|\[\^|\(\?[:=!<]|\\[dsSwW][+*{]")  # a regular one
_SIGNS = later.pattern(r"[!#$%&*+=@^|~`{}\[\]]")
_MANY_SIGNS = 4  # different ones
# What people and programs write where a value would stand.
_WORDS = frozenset(
    """
    a added all always an changed characters de ditto likewise deprecated fixed removed mot oublié passe least and any are as at auto bool boolean bytes can cannot clave const contrasena contraseña credential
    credentials darf debe default defaults disabled does doit empty enabled env es est et event expired expires
    false field file for form from function get has hash hidden if in incorrect input int integer invalid is ist
    it its kann kennwort key keys label let login masked missing muss must n/a name new nicht nil no none not
    null number object oder of off old on once one only option optional options or ou output param parola pass passphrase
    passwd password passwords passwort plain prompt protected public pwd query read redacted required reset
    return same secret secrets see self senha set shall should show siehe str string tbd text that the this to
    todo token tokens true type und undefined unknown unset update user username valid value var ver void voir
    wachtwoord was what when which who will wird with wrong y yes you your
    adgangskode geslo hasło heslo jelszó lozinka lösenord parol parolă salasana şifre κωδικός пароль סיסמה 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호
    """.split()  # noqa: SIM905
)
_CODE = later.pattern(
    r"""(?x)
      [A-Za-z_$][\w$]*+ (?: (?:\.|->|::)[A-Za-z_$][\w$]*+ )++ [;,)]*      # self.password, config::token
    | [\w$.>:-]++ [(\[] .*                                                # get_token(user), environ["X"]
    | (?:await|new|return|lambda|not|self|this|async|function|def)\b .*
    | [A-Za-z]++ (?:\[\]|\?|!)? [;,)]*                                    # a type or a name
    """
)
_NAMES = later.pattern(r"[A-Za-z]+(?:[_-][A-Za-z]+)+[;,)]*")
_KEYISH = later.pattern(r"(?i)passw|pwd|secret|token|api_?key|credential")
# What names something of a program, a file or a resource, though its letters and digits are mixed.
_NAMED = later.pattern(
    r"""(?x)
      _?[A-Z][A-Za-z]{0,20}\d{0,6}(?:[A-Z][a-z]+){0,4}(?:Key|Token|Secret|Password|Credential)s?     # Ed25519PrivateKey
    | [a-z0-9_.]*(?:key|token|secret|password|credential)s?                                           # rfc4716_key, .models.v1_secret
    | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+                                                                   # TEST_DATA_BASE64
    | (?:~|\.{1,2})/.* | arn:.* | .*\{[\w.]*\}.*                                                       # ../dm-0, arn:aws:kms:eu-west-1, prefix-{name}
    | [\w\-./\\]*\.(?:cer|conf|c|cpp|crt|cs|csr|csv|der|go|h|html?|java|jks|js|json|key|kt|log|md|p12|pem|pfx|php|pl|ppk|pub|py|rb|rs|rst|sh|ts|txt|xml|ya?ml)
      (?:[:\#][\w.\-]*)?                                                                              # keys/admin1.pem, Parser.java:350, a.html#v3
    """
)
_HUMPS = later.pattern(r"[a-z]*(?:[A-Z]{0,4}[A-Z][a-z]{2,})+(?:[A-Z]{1,4}|Ids?)?")
_MAX_HUMPED = 0.2  # oddness of words in one
_UUID = later.pattern(r"(?i)[a-z\-]{0,8}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Letters of scripts that put no space between words.
_UNSPACED = (
    "\u0e00-\u0edf\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
)
_BEFORE_UNSPACED = later.pattern(f"[^{_UNSPACED}]*")
_DATE = later.pattern(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}")
# What has a number by its nature: something that is counted, an algorithm, a standard.
_NUMBERED = later.pattern(
    r"""(?xi)
      (?: chapter|column|example|field|figure|item|level|line|option|page|part|phase|row|section|stage|step|table|type|version ) [-_]? \d{1,3} (?: \.\d{1,3} ){0,3}
    | (?: aes|base|blake|char|cp|crc|des|ed|http|ipv|iso|latin|md|ntlmv?|oauth|pbkdf|pkcs|rfc|rsa|sha|ucs|utf|varchar|wpa ) [-_]? \d{1,5} (?: [-_]\d{1,4}|[bsv] )?
    | (?-i:[A-Z]{2,10}) (?: -\d{1,7} ){1,3} | [a-z]{1,10} \#\d{1,9}            # CVE-2024-53179, bug#123456
    """
)
_NO_EXPRESSION = later.pattern(r"[\w!@#$%^&*+~?.\-]+")  # the signs of a password that are not those of code as well
_VERSION = later.pattern(r"(?i)v?\d+\.\d.*|\d{4}-\d\d-\d\d.*|0x.*")  # or a date, or a number
_GIVEN = later.pattern(r"[A-Za-z_][\w.\-]*=[^=].*")
_MIN_CLEAR, _CLEAR = 0.25, later.pattern(r"[!$^]")


# Which letters follow which in English words and in the names of programs, for 97 % of all pairs: first letter, then those after it.
_FOLLOWERS = """
    abcdfgiklmnprstuvxy baeijlorsuy cacehiklmoprstuy dadeilorsu eabcdefgilmnopqrstvwxy faefilorstu gaeghilnorsu haeiort
    iabcdefglmnoprstvxz je kaeis ladefilopstuy mabdeilmopsu nacdefgiklnopstuvy oabcdfgiklmnoprstuvw pacdehiloprstuy qlu
    racdefgiklmnoprstuvy sacehiklmopqrstuy tacefhilmoprstuwy uabcdefgilmnprst vaeio waehinors xaceipt ynopst ze
""".split()  # noqa: SIM905
_USUAL = frozenset(row[0] + after for row in _FOLLOWERS for after in row[1:])
_DIGIT, _LETTER = later.pattern(r"[0-9]"), later.pattern(r"[^\W\d_]")
_TURN = later.pattern(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")
_ALPHABET = "abcdefghijklm"
_PARTS = later.pattern(r"[+/_\-=]")
_JUDGED = 96  # characters of a value are enough to tell


def is_template(value: str) -> bool:
    """Tell whether a value will be put in later, or was taken out: `${PASS}`, `<password>`, stars."""
    return MASK in value or _TEMPLATE.fullmatch(value) is not None


def is_placeholder(value: str) -> bool:
    """Tell whether a value is only a stand-in: empty, a template, `your-token-here`, a word such as `required`."""
    bare = value.strip(" \t\"'`,;")
    if not bare or is_template(bare) or bare.lower() in _WORDS:
        return True
    if _EXPRESSION.search(bare) and not _UUID.fullmatch(bare):  # `…b0-90be-…` is part of one
        return True
    # `put your phrase here` is a stand-in; what a machine made may begin with `put ` too.
    return _PLACEHOLDER.fullmatch(bare) is not None and len(set(_SIGNS.findall(bare))) < _MANY_SIGNS


def is_phrase(value: str) -> bool:
    """Tell whether several words are a passphrase rather than a sentence about one."""
    words = value.split()
    return len(words) >= 3 and value.islower() and all(word.isalnum() and word not in _WORDS for word in words)


def is_code(value: str) -> bool:
    """Tell whether a value reads as an expression: a call, an attribute, a bare name."""
    if value.isalpha() and len(value) >= 12 and oddness(value) >= 0.3:
        return False  # letters of a machine's making
    return _CODE.fullmatch(value) is not None or (
        _NAMES.fullmatch(value) is not None and _KEYISH.search(value) is not None
    )


def is_named(value: str) -> bool:
    """Tell whether a value names something of a program, a file or a resource: `NextToken`, `keys/admin1.pem`, `arn:aws:kms:…`."""
    if value.isalpha():
        return _HUMPS.fullmatch(value) is not None and oddness(value) < _MAX_HUMPED
    return _NAMED.fullmatch(value) is not None


def is_uuid(value: str) -> bool:
    """Tell whether a value is a UUID, perhaps after a short word."""
    return _UUID.fullmatch(value) is not None


def spaced(value: str) -> str:
    """What of a value stands before any text in a script that puts no space between words: `hunter2` of `hunter2です`."""
    if value.isascii():
        return value
    found = _BEFORE_UNSPACED.match(value)
    return found[0] if found else value


def is_random(value: str) -> bool:
    """Tell whether characters are mixed as generated ones are: letters with digits, case that no word has, letters in no word's order."""
    if len(set(value)) < min(6, len(value)):
        return False
    if _DIGIT.search(value) and _LETTER.search(value):
        return True
    value = value[:_JUDGED]
    letters = [c for c in value if c.isalpha()]
    upper, lower = sum(c.isupper() for c in letters), sum(c.islower() for c in letters)
    humped = upper >= 2 and lower >= 2 and _switches(value) >= max(3, len(value) // 6)
    return (humped and (len(value) < 12 or oddness(value) >= 0.15)) or (len(letters) >= 10 and oddness(value) >= 0.3)


def is_generated(value: str) -> bool:
    """Tell whether a value can only be a machine's: long, varied, and mixed as no words, names or numbers are."""
    if len(value) < 14 or len(set(value)) < 8:
        return False
    return oddness(value) >= (0.35 if len(value) >= 16 else 0.45) or _turns(value) >= max(5, len(value) // 6)


def is_salt(value: str) -> bool:
    """Tell whether a value is made of every sign of a keyboard, spaces too, as WordPress makes its keys."""
    return len(value) >= 40 and sum(not c.isalnum() and c != " " for c in value) >= len(value) // 5


def _turns(value: str) -> int:
    """How often a letter follows a digit or a digit a letter, as in hexadecimal numbers."""
    return len(_TURN.findall(value[:_JUDGED]))


def is_mixed(value: str) -> bool:
    """Tell whether capitals, small letters and digits stand so mixed that a value is no name, path or number of any kind."""
    part = max(_PARTS.split(value), key=len)
    return (
        len(part) >= 12
        and sum(map(str.isupper, part)) >= 2
        and sum(map(str.islower, part)) >= 2
        and _DIGIT.search(part) is not None
        and oddness(value) >= 0.5
        and _ALPHABET not in value.lower()
    )


def oddness(value: str) -> float:
    """The share of neighbouring characters that words and numbers rarely have: 0.05 in words, 0.6 in random letters, more with digits.

    What stands around a sign is no neighbour of it, and a capital after a small letter begins a word.
    """
    counted, odd = _pairs()
    pairs = list(map(add, value[:_JUDGED], value[1:_JUDGED]))
    total = sum(map(counted.__contains__, pairs))
    return sum(map(odd.__contains__, pairs)) / total if total else 0.0


@cache
def _pairs() -> tuple[frozenset[str], frozenset[str]]:
    """The pairs of letters and digits that count, and the odd ones among them."""
    letters, digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
    words = {a + b for a in letters for b in letters if not (a.islower() and b.isupper())}
    mixed = {pair for a in letters for b in digits for pair in (a + b, b + a)}
    numbers = {a + b for a in digits for b in digits}
    return frozenset(words | mixed | numbers), frozenset(mixed | {pair for pair in words if pair.lower() not in _USUAL})


def is_strong(value: str) -> bool:
    """Tell whether a value is one without any sign around it: long or varied enough to be no word and no number."""
    if len(value) < 8 or not _DIGIT.search(value) or not _LETTER.search(value):
        return False
    return len(value) >= 20 or _switches(value) >= 4 or any(c in "!@#$%^&*+=~?" for c in value[1:])


def is_chosen(value: str) -> bool:
    """Tell whether a value that stands alone below a word for a secret, or in the cell after it, is one that somebody chose: letters and digits."""
    has_both = _DIGIT.search(value) is not None and _LETTER.search(value) is not None
    if len(value) < 6 or not has_both or len(set(value)) < 4:
        return False
    return is_password(value) and not is_numbered(value)


def is_told(value: str) -> bool:
    """Tell whether a word is a password where other words say so than its label: as `is_chosen`, and no expression, path or version."""
    return is_chosen(value) and not is_expression(value) and "/" not in value and value[0] not in "<-+[("


def is_expression(value: str) -> bool:
    """Tell whether what stands in brackets is an expression, an argument, an address or a version."""
    return is_code(value) or is_version(value) or "://" in value or is_given(value)


def is_given(value: str) -> bool:
    """Tell whether a value is an argument with its name: `x=1`."""
    return _GIVEN.fullmatch(value) is not None


def is_numbered(value: str) -> bool:
    """Tell whether a value has a number by its nature: `version2`, `sha256`, `CVE-2024-53179`."""
    return _NUMBERED.fullmatch(value) is not None


def is_version(value: str) -> bool:
    """Tell whether a value is a version, a date or a hexadecimal number."""
    return _VERSION.fullmatch(value) is not None


def is_clear(value: str) -> bool:
    """Tell whether a value is a secret in the middle of a sentence: letters and digits that change as in no word, name, version or expression."""
    if not is_strong(value) or not _NO_EXPRESSION.fullmatch(value) or is_code(value) or is_placeholder(value):
        return False
    if is_version(value) or value.count("_") > 1:
        return False
    return (_turns(value) >= 2 and oddness(value) >= _MIN_CLEAR) or _CLEAR.search(value, 1) is not None


def is_password(value: str) -> bool:
    """Tell whether an explicitly assigned value may be a password: not a stand-in, not code, not a date."""
    return len(value) >= 3 and not is_placeholder(value) and _DATE.fullmatch(value) is None


def _switches(value: str) -> int:
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.isalpha() else "s" for c in value]
    return sum(a != b for a, b in itertools.pairwise(kinds))
