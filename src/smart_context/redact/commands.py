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


_LOGINS = (
    "docker login", "podman login", "az login", "buildah login", "nerdctl login", "skopeo login", "oras login", "registry login", "crane auth login", "oc login", "cf login",
)  # fmt: skip
# The words that commands begin with, the rest of their names, the options that a value follows, and the value.
_OPTIONS = (
    (("curl",), "", r"-[a-zA-Z]{0,6}[uU][ =]?|--(?:proxy-)?user[ =]", _pair(":")),
    (("curl",), "", r"--(?:proxy-)?pass[ =]", _VALUE),
    (("etcdctl",), "", r"--user[ =]", _pair(":")),
    (("skopeo",), "", r"--(?:src-|dest-)?creds[ =]", _pair(":")),
    (("jenkins-cli",), r"(?:\.jar)?", r"-auth[ ]", _pair(":")),
    (("mysql", "mariadb"), r"[\w.\-]{0,12}", r"-p", _VALUE),
    (("mysqladmin",), "", r"password[ ]", _VALUE),
    (_LOGINS, "", r"-p[ =]?|--password[ =]", _VALUE),
    (("svn", "twine", "nuget add", "nuget update"), "", r"-p[ ]|--password[ =]", _VALUE),
    (("mongo",), r"(?:sh|dump|restore|export|import)?", r"-p[ ]", _VALUE),
    (("ldapadd", "ldapmodify", "ldapsearch", "ldapwhoami", "ldapdelete", "ldapcompare", "ldapmodrdn", "ldappasswd"), "", r"-w[ ]?", _VALUE),
    (("ldappasswd",), "", r"-[as][ ]?", _VALUE),
    (("sshpass",), "", r"-p[ ]?", _VALUE),
    (("smbclient", "rpcclient", "smbget", "smbmap"), "", r"-[uU][ =]?|--user(?:name)?[ =]", _pair("%")),
    (("redis-cli",), "", r"-a[ ]|--pass[ ]", _VALUE),
    (("openssl",), "", r"-[kK][ ]|-(?:pass(?:in|out)?|k)[ ]pass:", _VALUE),
    (("zip", "unzip"), "", r"-P[ ]?|--password[ =]", _VALUE),
    (("gpg",), r"[\w.\-]{0,20}", r"--passphrase[ =]|-P[ ]", _VALUE),
    (("ssh-keygen",), "", r"-[NP][ ]", _VALUE),
    (("pdftk",), "", r"(?:input|owner|user)_pw[ ]", _VALUE),
    (("useradd", "usermod"), "", r"-p[ ]|--password[ =]", _VALUE),
    (("dsadd", "dsmod"), "", r"-pwd[ ]", _VALUE),
    (("certutil",), "", r"-p[ ]", _VALUE),
    (("pk12util",), "", r"-[WK][ ]", _VALUE),
    (("signtool",), "", r"/p[ ]", _VALUE),
    (("generic-password", "internet-password"), "", r"-w[ ]", _VALUE),
    (("unlock-keychain", "create-keychain"), "", r"-p[ ]", _VALUE),
    (("security import",), "", r"-P[ ]", _VALUE),
    (("ipa-server-install", "ipa-replica-install", "ipa-client-install"), "", r"-[paw][ ]", _VALUE),
    (("slappasswd",), "", r"-s[ ]", _VALUE),
    (("caddy",), " hash-password", r"--plaintext[ ]", _VALUE),
    (("swaks",), "", r"-ap[ ]", _VALUE),
    (("sendemail",), "", r"-xp[ ]", _VALUE),
    (("doctl",), "", r"-t[ ]", _VALUE),
    (("npm config",), " set", r"[^\s]{0,100}:_(?:password|auth(?:token)?)[ =]", _VALUE),
    (("7z", "7za", "7zz"), "", r"-p", _VALUE),
    (("rar a", "rar x", "rar e", "unrar x", "unrar e"), "", r"-h?p", _VALUE),
    (("snmp",), r"(?:bulk)?(?:bulkget|df|get|getnext|inform|netstat|set|status|table|test|trap|walk)", r"-[cAX][ ]?", _VALUE),
    (("sqlcmd", "osql", "isql", "tsql", "bcp", "ipmitool"), "", r"-P[ ]?", _VALUE),
    (("mosquitto_",), r"(?:pub|sub|rr)", r"-P[ ]", _VALUE),
    (("racadm", "psexec", "winrm", "rdesktop", "ncftp", "cqlsh", "cypher-shell", "rabbitmqadmin", "crackmapexec", "netexec", "nxc", "hydra"), r"[\w.]{0,12}", r"-p[ ]", _VALUE),
    (("freerdp",), r"[\w.\-]{0,12}", r"/p:", _VALUE),
    (("plink", "pscp", "psftp", "putty"), r"(?:\.exe)?", r"-pw[ ]", _VALUE),
    (("x11vnc", "vncviewer"), "", r"-passwd[ ]", _VALUE),
    (("keytool", "jarsigner", "apksigner"), "", r"-\w{0,10}(?:store|key)pass[ ]", _VALUE),
    (("schtasks",), r"(?:\.exe)?", r"(?i:/r?p)[ ]", _VALUE),
    (("lftp",), "", r"-u[ ]?", _pair(",")),
    (("gh secret",), " set", r"-b[ ]?|--body[ =]", _VALUE),
    (("keyvault secret",), " set", r"--value[ =]", _VALUE),
    (("nmcli",), "", r"password[ ]|(?:802-11-wireless-security|wifi-sec)\.(?:psk|wep-key[0-3]?|leap-password)[ ]", _VALUE),
    (("iwconfig",), "", r"key[ ]s:", _VALUE),
    (("wpa_cli",), "", r"psk[ ]", _VALUE),
    (("reg add",), r"(?=[^\n]{0,300}/v[ ]\"?\w*pass)", r"(?i:/d)[ ]", _VALUE),
    (("put-parameter",), r"(?=(?:[^\n]|(?<=\\)\n){0,400}securestring)", r"--value[ =]", _VALUE),
)  # fmt: skip
_LOGIN = (
    r"(?<![\w\-.:])(?:log[io]ns?|zugangsdaten|anmeldedaten|credentials|wi-?fi|wlan)(?:[ ](?:details|data|info|daten|network))?[*_]{0,3}[ ]?[:=][*_]{0,3}[ ]{0,3}"
    r"[\"'`]?[^\s/:,|\"'`]{2,60}[\"'`]?(?:[ ]?[/|][ ]?|:[ ]?|,[ ])[\"'`]?(?P<told>[^\s\"'`]{6,64}+)[\"'`.,]?[ \t]*(?:\r?\n|$)"
)
_STRING = r"(?:\"[^\"\n]{0,100}\"|'[^'\n]{0,100}')"
_TOLD = r"(?P<told>[^\s\"'`|][^\s\"'`]{5,63}+)"
_REDIS_WORDS = ("redis-cli", "requirepass", "masterauth", ":6379>")
_REDIS = r"(?:redis-cli|requirepass|masterauth|(?<=:6379>[ ])auth(?:[ ][^\s]{1,60}(?=[ ][^\s]))?|auth)[ ](?:-a[ ])?[\"']?(?P<value>(?=[^\s\"']{0,40}\d)[^\s\"']{8,200}+)"
# A word of a seed phrase; those of sentences are not in its list.
_SEED = r"(?!(?:the|and|for|with|from|are|was|has|not|but|its|our|which|than|may|your|these|those|most|many|been|were|does)\b)[a-z]{3,8}+"
# The words that a line or a statement begins with, and all of it up to its value; in lower case.
_LINES = (
    (("wifi:",), r"\bwifi:(?:[^\n]{0,100};)?p:(?P<value>[^;\n]{8,63}+);"),
    (("identified",), r"\bidentified[ ]{1,4}(?:with[ ][\w\"']{1,60}[ ])?by[ ]{1,4}(?:password[ ])?(?:'(?P<single>[^'\n]{2,200}+)'|\"(?P<value>[^\"\s/]{3,200}+)\")"),
    (("convertto-securestring",), r"convertto-securestring[ ]{1,4}(?:-(?:string|asplaintext|force)[ ]{1,4}){0,3}(?:\"(?P<double>[^\"\n]{2,200}+)|'(?P<single>[^'\n]{2,200}+)|(?P<value>[^\s\"'$(\-][^\s\"']{1,200}+))"),
    (("jdbc:oracle:",), r"jdbc:oracle:[a-z0-9]{1,10}:[^\s/@\"']{1,100}+/(?P<value>[^\s@\"']{1,200}+)@"),
    (("sqlplus", "sqlldr", "expdp", "impdp"), r"(?:sqlplus|sqlldr|expdp|impdp)[ ](?:-[a-z]{1,8}[ ]){0,3}[\"']?[^\s/@\"'(<$]{1,100}+/(?P<value>[^\s@\"'/]{2,200}+)(?=[@\"']|[ ]{1,2}@|[ ]*(?:\r?\n|$))"),
    (("connect", "conn "), r"conn(?:ect)?[ ]{1,4}[\"']?[^\s/@\"'(<$:]{1,60}+/(?P<value>[^\s@\"'/]{2,60}+)@(?=[\w(/\"])"),
    (("connect to",), r"connect[ ]to[ ][^\s]{1,60}[ ]user[ ][^\s]{1,60}[ ]using[ ][\"']?(?P<value>[^\s\"'<$:][^\s\"'<$]{2,200}+)"),
    (("machine",), r"\bmachine[ ][^\s]{1,200}\s{1,4}login[ ][^\s]{1,200}\s{1,4}(?:account[ ][^\s]{1,200}\s{1,4})?password[ ](?P<value>[^\s]{2,200}+)"),
    (("snmp-server",), r"snmp-server[ ]community[ ](?:[0-9][ ])?\"?(?P<value>[^\s\"]{3,200}+)"),
    (("snmp-server host",), rf"snmp-server[ ]host[ ][^\s]{{1,60}}[ ](?:(?:traps|informs)[ ])?(?:version[ ](?:1|2c|3[ ](?:no)?auth|3[ ]priv)[ ])?{_TOLD}"),
    (("snmp-server user",), rf"snmp-server[ ]user[ ][^\n]{{1,100}}?[ ]auth[ ](?:md5|sha)[ ]{_TOLD}"),
    (("snmp-server user",), rf"snmp-server[ ]user[ ][^\n]{{1,160}}?[ ]priv[ ](?:3?des|aes)[ ](?:(?:128|192|256)[ ])?{_TOLD}"),
    (("snmp",), rf"snmp(?:v[123]c?)?[ _\-](?:(?:v[123]c?|ro|rw|read|write|read-only|read-write)[ _\-])?community(?:[ _\-]?(?:string|name))?[\"'*]{{0,3}}(?:[ ]?[:=][ ]?|[ ]is[ ])[\"'`*]{{0,3}}{_TOLD}"),
    (("community string",), rf"community[ ]string[\"'*]{{0,3}}(?:[ ]?[:=][ ]?|[ ]is[ ])[\"'`*]{{0,3}}{_TOLD}"),
    (("trapsink", "trap2sink", "informsink"), rf"(?:trap2?|inform)sink[ \t]{{1,20}}[^\s]{{1,60}}[ \t]{{1,20}}{_TOLD}"),
    (("trapcommunity",), r"trapcommunity[ \t]{1,20}\"?(?P<value>[^\s\"]{3,200}+)"),
    (("option community",), r"option[ ]community[ ][\"'](?P<value>[^\s\"']{3,200}+)[\"']"),
    (("authentication-password", "privacy-password"), rf"(?:authentication|privacy)-password[ ]\"?{_TOLD}"),
    (("authentication-key",), rf"authentication-key[ ](?:[0-9]{{1,5}}[ ]md5[ ](?:[0-9][ ])?)?\"?{_TOLD}"),
    (("plain-text-password-value",), r"plain-text-password-value[ ]\"?(?P<value>[^\s\"]{3,200}+)"),
    (("username ",), rf"username[ ][^\s]{{1,60}}[ ](?:privilege[ ][0-9]{{1,2}}[ ])?(?:secret|password)[ ](?:[0-9][ ])?{_TOLD}"),
    (("aaa-server",), rf"aaa-server[ ][^\n]{{1,100}}\n(?:[ \t]{{1,8}}[^\n]{{1,60}}\n)?[ \t]{{1,8}}key[ ]{_TOLD}"),
    (("standby ", "vrrp "), rf"(?:standby|vrrp)[ ][0-9]{{1,4}}[ ]authentication[ ](?:text[ ]|md5[ ]key-string[ ](?:[0-9][ ])?)?{_TOLD}"),
    (("snmp community",), rf"snmp[ ]community[ ]\"?{_TOLD}\"?[ \t]*(?:\r?\n|$)"),
    (("enable secret",), rf"enable[ ]secret[ ](?:[0-9][ ])?{_TOLD}"),
    (("cifs",), r"cifs[ \t][^\n]{0,200}?\buser(?:name)?=[^\s,%]{1,60}%(?P<value>[^\s,]{2,100}+)"),
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
    (("htpasswd",), r"htpasswd[ ](?:-[a-z]{1,6}[ ]){0,3}-[a-z]{0,4}(?:n[a-z]{0,3}b|b[a-z]{0,3}n)[a-z]{0,4}[ ](?:-[a-z]{1,6}[ ]){0,3}[^\s-][^\s]{0,60}[ ][\"']?(?P<value>[^\s\"'<$]{2,200}+)"),
    (("openssl passwd", "mkpasswd"), rf"(?:openssl[ ]passwd|mkpasswd)[ ](?:(?:-salt|-m|-s|--method|--salt)[ =][^\s]{{1,40}}[ ]|-[\w=\-]{{1,20}}[ ]){{0,4}}[\"']?{_TOLD}"),
    (("bw login", "bw unlock"), rf"bw[ ](?:login[ ][^\s]{{1,100}}|unlock)[ ][\"']?{_TOLD}"),
    (("dscl",), r"dscl[ ][^\s]{1,60}[ ]-passwd[ ][^\s]{1,100}[ ][\"']?(?P<value>[^\s\"'<$]{2,200}+)"),
    (("samba-tool user",), rf"samba-tool[ ]user[ ](?:create|add)[ ][^\s]{{1,60}}[ ][\"']?{_TOLD}"),
    (("secret-set-value",), rf"secret-set-value[ ][^\s]{{1,60}}[ ][\"']?{_TOLD}"),
    (("user-secrets",), r"user-secrets[ ]set[ ][\"']?[^\s\"']{1,100}[\"']?[ ][\"']?(?P<value>[^\s\"'<$]{3,200}+)"),
    (("poetry",), r"poetry[ ]config[ ](?:http-basic\.[^\s]{1,60}[ ][^\s]{1,60}|pypi-token\.[^\s]{1,60})[ ][\"']?(?P<value>[^\s\"'<$]{3,200}+)"),
    (("smbclient",), rf"smbclient[ ][\"']?//[^\s\"']{{1,100}}[\"']?[ ][\"']?{_TOLD}"),
    (("-upw ", "-opw "), r"-[uo]pw[ ][\"']?(?P<value>[^\s\"'<$\[\]]{2,200}+)"),
    (("--encrypt ",), r"--encrypt[ ][\"']?(?P<value>[^\s\"'<$]{2,200}+)[\"']?[ ][^\s]{2,200}[ ](?:40|128|256)\b"),
    (("--encrypt ",), r"--encrypt[ ][^\s]{2,200}[ ][\"']?(?P<value>[^\s\"'<$]{2,200}+)[\"']?[ ](?:40|128|256)\b"),
    (("impacket-", "secretsdump", "wmiexec", "smbexec", "psexec.py"), r"(?:impacket-\w{1,20}|secretsdump|wmiexec|smbexec|psexec)(?:\.py)?[ ](?:-[^\s]{1,20}[ ]){0,4}[\"']?(?:[\w.\-]{1,60}/)?[\w.$\-]{1,60}:(?P<value>[^\s@\"']{2,100}+)@"),
    (("rootpw",), r"\brootpw[ \t]{1,20}(?:--plaintext[ ])?(?P<value>[^\s{<$\-][^\s]{2,200}+)[ \t]*(?:\r?\n|$)"),
    (("_password password", "-password password"), r"[_\-]password[ \t]password[ \t](?P<value>[^\s]{3,200}+)[ \t]*(?:\r?\n|$)"),
    (("setuser", " on >", " on #"), r"(?:setuser[ ][^\s]{1,60}(?:[ ][~&+@a-z*\-][^\s]{0,60}){0,8}|(?<=[\w\-])[ ]on)[ ][>#](?P<value>[^\s]{2,200}+)"),
    ((":587", ":465"), r":(?:587|465)[ \t]{1,20}[^\s:]{1,100}:(?P<value>[^\s]{3,200}+)[ \t]*(?:\r?\n|$)"),
    *((("chpasswd",), rf"chpasswd(?::|[ ]<<-?[ ]?[\"']?\w{{1,20}}[\"']?)[ \t]*\r?\n(?:[ \t\-]{{0,20}}(?:expire|list|users):[^\n]{{0,20}}\n){{0,3}}(?:[ \t\-]{{0,20}}[a-z_][\w.\-]{{0,31}}:[^\s]{{2,200}}\r?\n){{{n}}}[ \t\-]{{0,20}}[a-z_][\w.\-]{{0,31}}:(?P<value>[^\s]{{2,200}}+)") for n in range(5)),
    # What a session of a mail client shows, and what `expect` types.
    (("login",), r"(?:(?<=[0-9][ ])|(?<=\n\.[ ]))login[ ](?:\"[^\"\n]{1,60}\"|[^\s\"]{1,60})[ ](?:\"(?P<double>[^\"\n]{2,100}+)\"|(?P<value>[^\s\"]{2,100}+))[ \t]*(?:\r?\n|$)"),
    (("+ok",), r"\+ok[^\n]{0,100}\n(?:c:[ ]|>[ ]|-->[ ])?pass[ ](?P<value>[^\s]{3,100}+)[ \t]*(?:\r?\n|$)"),
    (('send "', "send '", 'send -- "', "send -- '"), r"send[ ](?:--[ ])?[\"'](?P<double>[^\"'\n$\\]{3,100}+)\\[rn]"),
    (("sendline(", "send_line("), r"send_?line\([brf]?[\"'](?P<double>[^\"'\n$]{3,100}+)[\"']"),
    # A user and a password as the arguments of a call.
    (("login(", "basicauth(", "credential(", "credentials(", "auth=(", ".auth(", "authenticate("), rf"(?:login|basicauth|credentials?|auth=|\.auth|authenticate)\([ ]?{_STRING},[ ]{{0,4}}[\"']{_TOLD}[\"']"),
    (("mysql_connect(", "mysqli(", "mysqli_connect(", "pymysql.connect(", "mysqldb.connect("), rf"(?:mysql_connect|mysqli|mysqli_connect|(?:pymysql|mysqldb)\.connect)\([ ]?{_STRING},[ ]{{0,4}}{_STRING},[ ]{{0,4}}[\"']{_TOLD}[\"']"),
    (("pdo(", "getconnection("), rf"(?:pdo|getconnection)\([^,()\n]{{1,200}},[ ]{{0,4}}{_STRING},[ ]{{0,4}}[\"']{_TOLD}[\"']"),
    ((" -a ", "--auth"), r"(?:[ ]-a[ ]|--auth[ =])[\"']?[^\s\"':/]{1,60}:(?P<value>[^\s\"']{2,100}+)"),
    (("password '", "password n'"), r"password[ ]n?'(?P<single>[^'\n]{3,200}+)'"),
    (('password "',), r"password[ ]\"(?P<double>[^\"\n]{3,200}+)\""),
    (("<<<",), r"<<<[ ]?[\"']?(?:[\w.\-]{1,40}:)?(?P<value>[^\s\"'<$]{2,200}+)"),
    (("rabbitmqctl",), r"rabbitmqctl[ ](?:add_user|change_password)[ ][^\s]{1,60}[ ][\"']?(?P<value>[^\s\"'<$]{2,200}+)"),
    (("stats auth",), r"stats[ ]auth[ ][^\s:]{1,60}:(?P<value>[^\s]{2,200}+)"),
    (("insecure-password",), r"insecure-password[ ](?P<value>[^\s]{2,200}+)"),
    (("net use",), r"\bnet[ ]use[ ](?:[a-z*]:?[ ])?(?:\\\\[^\s]{1,200}|\"\\\\[^\"\n]{1,200}\")(?:[ ]/u(?:ser)?:[^\s]{1,100})?[ ](?P<value>[^\s/*<%$][^\s]{1,200}+)"),
    (("net user",), r"\bnet[ ]user[ ][^\s/]{1,60}[ ](?P<value>[^\s/*<%$][^\s]{1,200}+)[ ]/(?:add|domain)"),
    (("net user",), rf"\bnet[ ]user[ ][^\s/]{{1,60}}[ ]{_TOLD}[ \t]*(?:\r?\n|$)"),
    (("psk", "xauth", ": eap"), r"(?:(?<=:[ ])(?:psk|xauth)|:[ ]eap)[ ]\"(?P<value>[^\"\n]{3,200}+)\""),
    (("ugfzc3dvcmq6",), r"ugfzc3dvcmq6[ ]?\r?\n(?:c: |> |--> )?(?P<value>[a-z0-9+/]{4,200}={0,2})(?=\s|$)"),
    ((":5432:", ":5433:", ":6432:", ":*:"), r":(?:[0-9]{4}|\*):[^\s:]{1,60}:[^\s:]{1,60}:(?P<value>(?:[^\s:\\]|\\.){3,200}+)[ \t]*(?:\r?\n|$)"),
    (("recovery key",), r"recovery[ ]key[^0-9]{0,200}?(?P<value>\b[0-9]{6}(?:-[0-9]{6}){7}\b)"),
    (("seed phrase", "recovery phrase", "mnemonic"), rf"(?:(?:seed|recovery)[ ]phrase|mnemonic)(?:[^\n:=]{{0,20}}[:=])?[ \t]*(?:\r?\n[ \t]*){{0,2}}[\"']?\b(?P<value>{_SEED}(?:[ ,]{{1,2}}+{_SEED}){{11}}+(?:(?:[ ,]{{1,2}}+{_SEED}){{3}}+){{0,4}}+)[\"']?[ \t.]*(?:\r?\n|$)"),
    # A user and a password after one label.
    (("login", "logon", "logins", "zugangsdaten", "anmeldedaten", "credentials", "wifi", "wi-fi", "wlan"), _LOGIN),
    # What asks for a password where another command writes it.
    (("echo", "printf '", 'printf "'), r"(?:echo|printf)[ ](?:-[a-z]{1,3}[ ])?[\"']?(?:[^\s:\"'|]{1,60}:)?(?P<value>[^\s\"'|$<>`]{3,200}+)[\"']?[ ]{0,2}\|[ ]{0,2}(?:sudo[ ](?:-[a-z]{1,4}[ ]){0,3}?-s\b|(?:sudo[ ])?(?:chpasswd|smbpasswd|kinit|cryptsetup|su[ ]-|passwd[ ][^\n|]{1,60})|[^\n|]{1,200}[ ](?:--password|--passphrase|-w|--secret)-stdin)"),
    # Of these, "auth" is a command only where another one is spoken of.
    (_REDIS_WORDS, _REDIS),
)  # fmt: skip
_SQL = later.pattern(r"\b(?:user|role|account|alter|create|grant|connect|password)\b")
_CREATES = later.pattern(r"\b(?:create|alter)\s{1,4}(?:user|role|login|database)\b[^;]*$")
_HTTP = later.pattern(r"(?:^|[^\w.\-])(?:https?|xh)(?:[ ][^\n]*)?$")
_ASKS = later.pattern(r"assword|passwort|passphrase|kennwort|mot de passe|contrase")
_READS = later.pattern(
    r"\b(?:sudo[ ][^\n]{0,20}-s|passwd|su|kinit|vncpasswd|smbpasswd|chpasswd|cryptsetup)\b[^\n]*$|-stdin[ ]$"
)
_USERS = later.pattern(r"\buser(?:name)?[ ]\"?[^\s\"]{1,60}\"?[ ](?:there[ ])?(?:with[ ])?$")
_ACL = later.pattern(r"\buser[ ][^\s]{1,60}$")
_BEFORE = 200  # characters before a word in which a statement or a command tells of what it is
# What must stand before a word so that it is one of a statement or a command.
_NEEDS = {
    " on >": _ACL, " on #": _ACL, "identified": _SQL, " -a ": _HTTP, "--auth": _HTTP, "password '": _CREATES, "password n'": _CREATES, 'password "': _USERS, "<<<": _READS,
    **dict.fromkeys(('send "', "send '", 'send -- "', "send -- '", "sendline(", "send_line("), _ASKS),
}  # fmt: skip


def find(text: str, low: str, seen: stems.Seen) -> Iterator[tuple[int, int]]:
    """Yield where passwords stand. seen: the signs that the text holds."""
    for word in words.OF_COMMANDS.intersection(seen):
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
    needed = _NEEDS.get(word)
    for match in stems.matches(pattern, word, low, seen[word]):
        if needed and not needed.search(low, max(0, match.start() - _BEFORE), match.start()):
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
