"""Find passwords in the arguments of commands and in settings of one line: `curl -u user:x`, `zip -P x`, `echo x | sudo -S`, `snmp-server community x`.

In: folded text, the same in lower case, and the signs that it holds.
Always: an option is one of its own command only, in the case that it has there; what stands for a value (`$PASS`, `<password>`) is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from smart_context import later
from smart_context.redact import stems, values, words

_LONGEST = 600  # characters of a command
_ENDS = later.pattern(r"(?<!\\)\r?\n|[ ](?:\|{1,2}|&&)[ ]|;[ ]")
_BARE = r"[^\s\"'$<>|;&(){}`%*\-][^\s\"'`]{1,200}+"
_VALUE = rf"(?:'(?P<single>[^'\n]{{2,200}}+)'|\"(?P<double>[^\"\n]{{2,200}}+)\"|(?P<bare>{_BARE}))"


def _pair(sign: str) -> str:
    """A value after a user and a sign, in quotes as a whole or not at all."""
    return (
        rf"(?:'[^'\n{sign}]{{1,100}}{sign}(?P<single>[^'\n]{{1,200}}+)'|\"[^\"\n{sign}]{{1,100}}{sign}(?P<double>[^\"\n]{{1,200}}+)\""
        rf"|[^\s\"'{sign}]{{1,100}}{sign}(?P<bare>[^\s\"']{{1,200}}+))"
    )


# The words that commands begin with, the rest of their names, the options that a value follows, and the value.
_OPTIONS = (
    (("curl",), "", r"-[a-zA-Z]{0,6}[uU][ =]?|--(?:proxy-)?user[ =]", _pair(":")),
    (("mysql", "mariadb"), r"[\w.\-]{0,12}", r"-p", _VALUE),
    (("docker login", "podman login", "az login"), "", r"-p[ ]?", _VALUE),
    (("mongo",), r"(?:sh|dump|restore|export|import)?", r"-p[ ]", _VALUE),
    (("ldapadd", "ldapmodify", "ldapsearch", "ldapwhoami", "ldapdelete", "ldapcompare", "ldapmodrdn", "ldappasswd"), "", r"-w[ ]?", _VALUE),
    (("ldappasswd",), "", r"-[as][ ]?", _VALUE),
    (("sshpass",), "", r"-p[ ]?", _VALUE),
    (("smbclient", "rpcclient", "smbget", "smbmap"), "", r"-[uU][ =]?|--user(?:name)?[ =]", _pair("%")),
    (("redis-cli",), "", r"-a[ ]|--pass[ ]", _VALUE),
    (("openssl",), "", r"-[kK][ ]", _VALUE),
    (("zip", "unzip"), "", r"-P[ ]?", _VALUE),
    (("7z", "7za", "7zz"), "", r"-p", _VALUE),
    (("rar a", "rar x", "rar e", "unrar x", "unrar e"), "", r"-h?p", _VALUE),
    (("snmp",), r"(?:bulk)?(?:bulkget|df|get|getnext|inform|netstat|set|status|table|test|trap|walk)", r"-[cAX][ ]?", _VALUE),
    (("sqlcmd", "osql", "bcp", "ipmitool"), "", r"-P[ ]?", _VALUE),
    (("mosquitto_",), r"(?:pub|sub|rr)", r"-P[ ]", _VALUE),
    (("racadm", "psexec", "winrm", "rdesktop", "ncftp", "cqlsh", "cypher-shell", "rabbitmqadmin", "crackmapexec", "netexec"), r"[\w.]{0,12}", r"-p[ ]", _VALUE),
    (("freerdp",), r"[\w.\-]{0,12}", r"/p:", _VALUE),
    (("plink", "pscp", "psftp", "putty"), r"(?:\.exe)?", r"-pw[ ]", _VALUE),
    (("x11vnc", "vncviewer"), "", r"-passwd[ ]", _VALUE),
    (("keytool", "jarsigner", "apksigner"), "", r"-\w{0,10}(?:store|key)pass[ ]", _VALUE),
    (("schtasks",), r"(?:\.exe)?", r"(?i:/r?p)[ ]", _VALUE),
    (("lftp",), "", r"-u[ ]?", _pair(",")),
    (("gh secret",), " set", r"-b[ ]?|--body[ =]", _VALUE),
    (("keyvault secret",), " set", r"--value[ =]", _VALUE),
    (("nmcli",), "", r"password[ ]", _VALUE),
    (("reg add",), r"(?=[^\n]{0,300}/v[ ]\"?\w*pass)", r"(?i:/d)[ ]", _VALUE),
    (("put-parameter",), r"(?=(?:[^\n]|(?<=\\)\n){0,400}securestring)", r"--value[ =]", _VALUE),
)  # fmt: skip
_LOGIN = (
    r"(?<![\w\-.:])(?:log[io]ns?|zugangsdaten|anmeldedaten|credentials|wi-?fi|wlan)(?:[ ](?:details|data|info|daten|network))?[*_]{0,3}[ ]?[:=][*_]{0,3}[ ]{0,3}"
    r"[\"'`]?[^\s/:,|\"'`]{2,60}[\"'`]?(?:[ ]?[/|][ ]?|:[ ]?|,[ ])[\"'`]?(?P<told>[^\s\"'`]{6,64}+)[\"'`.,]?[ \t]*(?:\r?\n|$)"
)
_REDIS_WORDS = ("redis-cli", "requirepass", "masterauth")
_REDIS = r"(?:redis-cli|requirepass|masterauth|auth)[ ](?:-a[ ])?[\"']?(?P<value>(?=[^\s\"']{0,40}\d)[^\s\"']{8,200}+)"
# A word of a seed phrase; those of sentences are not in its list.
_SEED = r"(?!(?:the|and|for|with|from|are|was|has|not|but|its|our|which|than|may|your|these|those|most|many|been|were|does)\b)[a-z]{3,8}+"
# The words that a line or a statement begins with, and all of it up to its value; in lower case.
_LINES = (
    (("wifi:",), r"\bwifi:(?:[^\n]{0,100};)?p:(?P<value>[^;\n]{8,63}+);"),
    (("identified",), r"\bidentified[ ]{1,4}(?:with[ ][\w\"']{1,60}[ ])?by[ ]{1,4}(?:password[ ])?(?:'(?P<single>[^'\n]{2,200}+)'|\"(?P<value>[^\"\s/]{3,200}+)\")"),
    (("convertto-securestring",), r"convertto-securestring[ ]{1,4}(?:-string[ ]{1,4})?(?:\"(?P<double>[^\"\n]{2,200}+)|'(?P<single>[^'\n]{2,200}+)|(?P<value>[^\s\"'$(\-][^\s\"']{1,200}+))"),
    (("jdbc:oracle:",), r"jdbc:oracle:[a-z0-9]{1,10}:[^\s/@\"']{1,100}+/(?P<value>[^\s@\"']{1,200}+)@"),
    (("sqlplus", "sqlldr", "expdp", "impdp"), r"(?:sqlplus|sqlldr|expdp|impdp)[ ](?:-[a-z]{1,8}[ ]){0,3}[\"']?[^\s/@\"'(<$]{1,100}+/(?P<value>[^\s@\"'/]{2,200}+)(?=[@\"']|[ ]{1,2}@|[ ]*(?:\r?\n|$))"),
    (("machine",), r"\bmachine[ ][^\s]{1,200}\s{1,4}login[ ][^\s]{1,200}\s{1,4}(?:account[ ][^\s]{1,200}\s{1,4})?password[ ](?P<value>[^\s]{2,200}+)"),
    (("snmp-server",), r"snmp-server[ ]community[ ](?:[0-9][ ])?\"?(?P<value>[^\s\"]{3,200}+)"),
    (("snmp community",), r"snmp[ ]community[ ]\"?(?P<value>(?![a-z]{1,12}[ ]*\n)[^\s\"]{3,200}+)(?=\"?[ ](?:auth|clients|ro|rw|view|\{))"),
    (("rocommunity", "rwcommunity"), r"\br[ow]community6?[ \t]{1,20}\"?(?P<value>[^\s\"]{3,200}+)"),
    (("com2sec",), r"\bcom2sec6?[ \t]{1,20}[^\s]{1,60}[ \t]{1,20}[^\s]{1,60}[ \t]{1,20}(?P<value>[^\s\"]{3,200}+)"),
    (("createuser",), r"\bcreateuser[ ][^\s-][^\s]{0,60}[ ](?:md5|sha(?:-\d{3})?)[ ]\"?(?P<value>[^\s\"]{8,200}+)"),
    (("createuser",), r"\bcreateuser[ ][^\s-][^\s]{0,60}[ ](?:md5|sha(?:-\d{3})?)[ ][^\s]{8,200}[ ](?:des|aes(?:-\d{3})?)[ ]\"?(?P<value>[^\s\"]{8,200}+)"),
    (("tacacs-server", "radius-server"), r"(?:tacacs|radius)-server[ ](?:host[ ][^\s]{1,60}[ ](?:[a-z\-]{4,12}[ ][0-9]{1,5}[ ]){0,4})?key[ ](?:[0-9][ ])?(?P<value>[^\s]{3,200}+)"),
    (("isakmp key",), r"isakmp[ ]key[ ](?:[0-9][ ])?(?P<value>[^\s]{3,200}+)[ ](?:address|hostname)"),
    (("message-digest-key",), r"message-digest-key[ ][0-9]{1,3}[ ]md5[ ](?:[0-9][ ])?(?P<value>[^\s]{3,200}+)"),
    (("key-string",), r"\bkey-string[ ](?:[0-9][ ])?(?P<value>[^\s]{3,200}+)[ \t]*(?:\r?\n|$)"),
    (("pre-shared-key",), r"pre-shared-key[ ](?:ascii-text|hexadecimal|local|remote)[ ](?:[0-9][ ])?\"?(?P<value>[^\s\"]{3,200}+)"),
    (("wpa-psk",), r"wpa-psk[ ](?:ascii|hex)[ ](?:[0-9][ ])?(?P<value>[^\s]{8,64}+)"),
    (("password enc",), r"\bpassword[ ]enc[ ](?P<value>[^\s]{8,400}+)"),
    (("wpa_passphrase",), r"wpa_passphrase[ ]{1,2}[^\s=-][^\s]{0,60}[ ]{1,2}[\"']?(?P<value>[^\s\"'<$]{8,63}+)"),
    (("htpasswd",), r"htpasswd[ ](?:-[a-z]{1,6}[ ]){0,3}(?:-[a-z]{0,4}b[a-z]{0,4}[ ])(?:-[a-z]{1,6}[ ]){0,3}[^\s]{1,200}[ ][^\s]{1,60}[ ][\"']?(?P<value>[^\s\"'<$]{2,200}+)"),
    (("rabbitmqctl",), r"rabbitmqctl[ ](?:add_user|change_password)[ ][^\s]{1,60}[ ][\"']?(?P<value>[^\s\"'<$]{2,200}+)"),
    (("stats auth",), r"stats[ ]auth[ ][^\s:]{1,60}:(?P<value>[^\s]{2,200}+)"),
    (("insecure-password",), r"insecure-password[ ](?P<value>[^\s]{2,200}+)"),
    (("net use",), r"\bnet[ ]use[ ](?:[a-z*]:?[ ])?\\\\[^\s]{1,200}(?:[ ]/user:[^\s]{1,100})?[ ](?P<value>[^\s/*<%$][^\s]{1,200}+)"),
    (("net user",), r"\bnet[ ]user[ ][^\s/]{1,60}[ ](?P<value>[^\s/*<%$][^\s]{1,200}+)[ ]/(?:add|domain)"),
    (("psk", "xauth", ": eap"), r"(?:(?<=:[ ])(?:psk|xauth)|:[ ]eap)[ ]\"(?P<value>[^\"\n]{3,200}+)\""),
    (("ugfzc3dvcmq6",), r"ugfzc3dvcmq6[ ]?\r?\n(?:c: |> |--> )?(?P<value>[a-z0-9+/]{4,200}={0,2})(?=\s|$)"),
    ((":5432:", ":5433:", ":6432:", ":*:"), r":(?:[0-9]{4}|\*):[^\s:]{1,60}:[^\s:]{1,60}:(?P<value>(?:[^\s:\\]|\\.){3,200}+)[ \t]*(?:\r?\n|$)"),
    (("recovery key",), r"recovery[ ]key[^0-9]{0,200}?(?P<value>\b[0-9]{6}(?:-[0-9]{6}){7}\b)"),
    (("seed phrase", "recovery phrase", "mnemonic"), rf"(?:(?:seed|recovery)[ ]phrase|mnemonic)(?:[^\n:=]{{0,20}}[:=])?[ \t]*(?:\r?\n[ \t]*){{0,2}}[\"']?\b(?P<value>{_SEED}(?:[ ,]{{1,2}}+{_SEED}){{11}}+(?:(?:[ ,]{{1,2}}+{_SEED}){{3}}+){{0,4}}+)[\"']?[ \t.]*(?:\r?\n|$)"),
    # A user and a password after one label.
    (("login", "logon", "logins", "zugangsdaten", "anmeldedaten", "credentials", "wifi", "wi-fi", "wlan"), _LOGIN),
    # What asks for a password where another command writes it.
    (("echo",), r"echo[ ](?:-[a-z]{1,3}[ ])?[\"']?(?:[^\s:\"'|]{1,60}:)?(?P<value>[^\s\"'|$<>`]{3,200}+)[\"']?[ ]{0,2}\|[ ]{0,2}(?:sudo[ ](?:-[a-z]{1,4}[ ]){0,3}?-s\b|(?:sudo[ ])?(?:chpasswd|smbpasswd|kinit|cryptsetup|passwd[ ](?:[^\n|]{0,60}[ ])?--stdin)|[^\n|]{1,200}[ ](?:--password|--passphrase|-w|--secret)-stdin)"),
    # Of these, "auth" is a command only where another one is spoken of.
    (_REDIS_WORDS, _REDIS),
)  # fmt: skip
_SQL = later.pattern(r"\b(?:user|role|account|alter|create|grant|connect|password)\b")
_BESIDE = 200  # characters before `IDENTIFIED` in which a statement tells of whom


def find(text: str, low: str, seen: stems.Seen) -> Iterator[tuple[int, int]]:
    """Yield where passwords stand. seen: the signs that the text holds."""
    for word in filter(seen.__contains__, words.COMMANDS):
        for head, option in _options(word):
            done = 0
            for match in stems.matches(head, word, low, seen[word]):
                start = match.start()
                if start >= done and not (start and low[start - 1].isalpha() and word != "freerdp"):
                    done = _end(text, match.end())
                    yield from _in_command(text, match.end() - 1, done, option)
        for pattern in _lines(word):
            yield from _in_line(text, low, pattern, word, seen)
    if "auth" in seen and not seen.keys().isdisjoint(_REDIS_WORDS):
        yield from _in_line(text, low, _REDIS, "auth", seen)


@cache
def _options(word: str) -> list[tuple[str, re.Pattern[str]]]:
    """How commands begin that begin with a word, and their options."""
    return [
        (rf"{re.escape(word)}{name}(?:\.exe)?[ ]", re.compile(rf"(?<=\s)(?:{options}){value}"))
        for begins, name, options, value in _OPTIONS
        if word in begins
    ]


@cache
def _lines(word: str) -> list[str]:
    return [pattern for begins, pattern in _LINES if word in begins]


def _end(text: str, start: int) -> int:
    """Where a command ends."""
    most = min(len(text), start + _LONGEST)
    end = _ENDS.search(text, start, most)
    return end.start() if end else most


def _in_command(text: str, start: int, end: int, option: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The values of options of a command."""
    for match in option.finditer(text, start, end):
        part = match.lastgroup or "bare"
        first, last = match.span(part)
        if part == "bare":  # of what is written about a command, not of it
            last = first + len(text[first:last].rstrip(".,;)]`"))
        if first < last and not _stands_for_one(text[first:last]):
            yield first, last


def _in_line(text: str, low: str, pattern: str, word: str, seen: stems.Seen) -> Iterator[tuple[int, int]]:
    for match in stems.matches(pattern, word, low, seen[word]):
        if word == "identified" and not _SQL.search(low, max(0, match.start() - _BESIDE), match.start()):
            continue  # "those identified by": no statement
        part = match.lastgroup or "value"
        if part == "told":
            if values.is_told(text[match.start(part) : match.end(part)].rstrip(".,")):
                yield match.start(part), match.start(part) + len(text[match.start(part) : match.end(part)].rstrip(".,"))
        elif not _stands_for_one(text[match.start(part) : match.end(part)]):
            yield match.span(part)


def _stands_for_one(value: str) -> bool:
    """Tell whether a value is a stand-in, or a name in capitals as manuals have them."""
    return values.is_placeholder(value) or (value.isalpha() and value.isupper())
