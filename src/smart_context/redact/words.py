"""The words of a text at which a detector could begin, each once; at most words none could.

In: folded text.  Out: `Words`.
Always: a sign of a detector is in the text if and only if it is in these words; so is every word that may be a token. Which words hold
nothing is remembered: it saves time, and changes nothing. Where `_glance.c` is compiled, no list of words is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import filterfalse

from smart_context.data import dataclass

COMMANDS = (
    "curl", "etcdctl", "skopeo", "jenkins-cli", "mysql", "mariadb", "mysqladmin", "docker login", "podman login", "az login", "buildah login", "nerdctl login", "skopeo login", "oras login",
    "registry login", "crane auth login", "oc login", "cf login", "svn", "twine", "nuget add", "nuget update", "mongo", "ldapadd", "ldapmodify", "ldapsearch", "ldapwhoami", "ldapdelete",
    "ldapcompare", "ldapmodrdn", "ldappasswd", "sshpass", "smbclient", "rpcclient", "smbget", "smbmap", "redis-cli", "openssl", "zip", "unzip", "gpg", "ssh-keygen", "pdftk", "useradd",
    "usermod", "dsadd", "dsmod", "certutil", "pk12util", "signtool", "generic-password", "internet-password", "unlock-keychain", "create-keychain", "security import", "ipa-server-install",
    "ipa-replica-install", "ipa-client-install", "slappasswd", "caddy", "swaks", "sendemail", "doctl", "npm config", "7z", "7za", "7zz", "rar a", "rar x", "rar e", "unrar x", "unrar e",
    "snmp", "sqlcmd", "osql", "isql", "tsql", "bcp", "ipmitool", "mosquitto_", "racadm", "psexec", "winrm", "rdesktop", "ncftp", "cqlsh", "cypher-shell", "rabbitmqadmin", "crackmapexec",
    "netexec", "nxc", "hydra", "freerdp", "plink", "pscp", "psftp", "putty", "x11vnc", "vncviewer", "keytool", "jarsigner", "apksigner", "schtasks", "lftp", "gh secret", "keyvault secret",
    "nmcli", "iwconfig", "wpa_cli", "reg add", "put-parameter", "wifi:", "identified", "convertto-securestring", "jdbc:oracle:", "sqlplus", "sqlldr", "expdp", "impdp", "connect", "conn ",
    "connect to", "machine", "snmp-server", "snmp-server host", "snmp-server user", "community string", "trapsink", "trap2sink", "informsink", "trapcommunity", "option community",
    "authentication-password", "privacy-password", "authentication-key", "plain-text-password-value", "username ", "aaa-server", "standby ", "vrrp ", "snmp community", "enable secret", "cifs",
    "rocommunity", "rwcommunity", "com2sec", "createuser", "tacacs-server", "radius-server", "isakmp key", "message-digest-key", "key-string", "pre-shared-key", "wpa-psk", "password enc",
    "wpa_passphrase", "htpasswd", "openssl passwd", "mkpasswd", "bw login", "bw unlock", "dscl", "samba-tool user", "secret-set-value", "user-secrets", "poetry", "-upw ", "-opw ",
    "--encrypt ", "impacket-", "secretsdump", "wmiexec", "smbexec", "psexec.py", "rootpw", "_password password", "-password password", "setuser", " on >", " on #", ":587", ":465", "chpasswd",
    "login", "+ok", 'send "', "send '", 'send -- "', "send -- '", "sendline(", "send_line(", "login(", "basicauth(", "credential(", "credentials(", "auth=(", ".auth(", "authenticate(",
    "mysql_connect(", "mysqli(", "mysqli_connect(", "pymysql.connect(", "mysqldb.connect(", "pdo(", "getconnection(", " -a ", "--auth", "password '", "password n'", 'password "', "<<<",
    "rabbitmqctl", "stats auth", "insecure-password", "net use", "net user", "psk", "xauth", ": eap", "ugfzc3dvcmq6", ":5432:", ":5433:", ":6432:", ":*:", "recovery key", "seed phrase",
    "recovery phrase", "mnemonic", "logon", "logins", "zugangsdaten", "anmeldedaten", "credentials", "wifi", "wi-fi", "wlan", "echo", "printf '", 'printf "', "requirepass", "masterauth",
    ":6379>",
)  # fmt: skip
"""With which commands and settings begin that `commands` looks at."""
OF_COMMANDS = frozenset(COMMANDS)
# Every sign that a detector asks for, in lower case. Words beyond ASCII are never left out.
SIGNS = (
    "@", "at]", "at)", "at}", "at>", "ät]", "ät)", "ät}", "a]", "a)", "a}", "[a]", "(a)", "{a}", "@]", "@)", "@}", "arroba", "arroba]", "arroba)",
    "arroba}", "dot", "%40", "&commat", "&commat;",
    "://", "basic", "bearer", "auth", "authori", '"auth"', "_auth", "x-auth", "apikey", "digest", "negotiate", "aws4-hmac-sha256", "cookie", '"kty"', "private", "token", "key", "client",
    "pass", "pwd", "pw", "psw", "mdp", "kennwort", "clave", "contras", "senha", "parol", "wachtwoord", "losenord", "adgangskode", "salasana",
    "jelszo", "hasl", "heslo", "geslo", "lozinka", "sifre", "kata", "secret", "_salt", "credential", "jeton", "session", "jsessionid", "phpsessid",
    "connect.sid", "chave", "keymaterial", "recovery_code", "backup_code", "openvpn", "losungswort", "zugangscode", "freischaltcode", "aktivierungscode", "toegangscode", "inlogcode", "d'acc", "acceso", "acesso", "accesso",
    "pin:", "pin=", 'pin"', "pin'", "pin-code", "pin1", "pin2", "puk", "cvv", "cvc", "<tr", "akia", "asia", "abia", "acca", "khau",
    *(word for word in COMMANDS if " " not in word),
)  # fmt: skip
_MIN_TOKEN = 14  # characters of the shortest token of all, with its mark
_LONG, _MOST_GAP = re.compile(rf"\S{{{_MIN_TOKEN},}}"), 8  # characters between two pieces of a token
_DIGIT, _LETTERS = re.compile(r"[0-9]"), re.compile(r"[A-Za-z]{2}")
_NO_DIGIT, _MIN_NO_DIGIT = re.compile(r"[a-z][A-Z]|[A-Z]{12}|[a-z]{20}"), 20  # a token without any digit is long
_RUN, _MIN_BARE, _MAX_BARE = re.compile(r"[A-Za-z0-9+/_\-]+"), 32, 128  # characters of a token of no known issuer
_MAX_KNOWN, _LONGEST = 80_000, 40  # words remembered of either kind, and their characters: some ten megabytes

_plain: set[str] = set()  # words without a sign
_marked: set[str] = set()


@dataclass(frozen=True, slots=True)
class Words:
    """Every such word once, in the order of the text; `low` is all of them in lower case, a line each."""

    unique: tuple[str, ...]
    low: str


def of(text: str) -> Words:
    """Collect the words of a text."""
    others = dict.fromkeys(filterfalse(_plain.__contains__, text.split()))
    fresh = list(filterfalse(_marked.__contains__, others))
    if fresh:
        others = dict.fromkeys(filterfalse(_learn(fresh).__contains__, others))
    return Words(tuple(others), "\n".join(others).lower())


def may_be_token(word: str) -> bool:
    """Whether a word is as long and as mixed as a token."""
    if len(word) < _MIN_TOKEN:
        return False
    if _DIGIT.search(word):
        return _LETTERS.search(word) is not None
    return len(word) >= _MIN_NO_DIGIT and _NO_DIGIT.search(word) is not None


def before_tokens(text: str, tokens: Iterable[str]) -> Iterator[str]:
    """The ends of the words before such words, beyond spaces, tabs and bars: there a token may begin that they cut."""
    known = set(tokens)
    for match in _LONG.finditer(text) if known else ():
        if match[0] in known:
            end = start = match.start()
            while end > max(0, start - _MOST_GAP) and text[end - 1] in " \t|":
                end -= 1
            first = end
            while first > max(0, end - _MIN_TOKEN + 1) and not text[first - 1].isspace():
                first -= 1
            yield text[first:end]


def may_be_bare(word: str) -> bool:
    """Whether a word that may be a token holds a stretch that is as long and as mixed as one of no known issuer."""
    return len(word) >= _MIN_BARE and any(map(_is_mixed, _RUN.findall(word)))


def _is_mixed(run: str) -> bool:
    return (
        _MIN_BARE <= len(run) <= _MAX_BARE
        and sum(map(str.isupper, run)) >= 2
        and sum(map(str.islower, run)) >= 2
        and _DIGIT.search(run) is not None
    )


def forget() -> None:
    """Forget which words were met before."""
    _plain.clear()
    _marked.clear()


def _learn(words: list[str]) -> set[str]:
    """Remember different words; those without a sign."""
    plain = set(filter(str.isascii, words))
    joined = "\n".join(plain)
    low = joined.lower()
    for sign in SIGNS:
        if sign in low:
            plain.difference_update(_lines_with(sign, low, joined))
    long = [word for word in plain if len(word) >= _MIN_TOKEN]
    plain.difference_update([word for word in long if may_be_token(word)])
    if max(len(_plain), len(_marked)) > _MAX_KNOWN:
        forget()
    _plain.update(plain.difference([word for word in long if len(word) > _LONGEST]))
    _marked.update([word for word in set(words) - plain if len(word) <= _LONGEST])
    return plain


def _lines_with(sign: str, low: str, text: str) -> Iterator[str]:
    """The lines of a text that hold a sign. low: the same in lower case, character by character."""
    at = low.find(sign)
    while at >= 0:
        start, end = low.rfind("\n", 0, at) + 1, low.find("\n", at)
        end = len(low) if end < 0 else end
        yield text[start:end]
        at = low.find(sign, end)
