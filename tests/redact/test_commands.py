"""Passwords in the arguments of commands and in settings of one line; what stands beside them stays."""

from __future__ import annotations

import pytest

from redaction_cases import masked
from smart_context import redact
from smart_context.redact import commands, words

HIDDEN = [
    "curl -u jane:⟦hunter2x⟧ https://a.example", "curl -su jane:⟦hunter2x⟧ https://a.example", "curl --user 'jane:⟦a walrus 2⟧' https://a.example", "curl -X POST \\\n  -u jane:⟦hunter2x⟧ \\\n  https://a.example",
    "mysqldump -uroot -p'⟦a walrus 2⟧' app", "mysql -u root -p⟦hunter2x⟧ app", "docker login -u jane -p ⟦hunter2x⟧", "az login --service-principal -u 4a4b -p ⟦hunter2x~⟧",
    "openssl enc -aes-256-cbc -in a -out b -k ⟦hunter2x⟧", "openssl enc -d -aes-256-cbc -K ⟦603deb1015ca71be2b73aef0857d7781⟧ -iv 00",
    "zip -r -P ⟦hunter2x⟧ a.zip docs", "unzip -P ⟦hunter2x⟧ a.zip", "/usr/bin/7z a -p⟦hunter2x⟧ -mhe=on a.7z docs", "rar a -hp⟦hunter2x⟧ a.rar docs",
    "snmpwalk -v2c -c ⟦hunter2x⟧ 10.0.0.1 system", "snmpget -v3 -u jane -l authPriv -a SHA -A ⟦hunter2x⟧ -x AES -X ⟦walrus3y⟧ 10.0.0.1", "snmp-server community ⟦hunter2x⟧ RO\nsnmp-server community ⟦walrus!y⟧ RW 10",
    "rocommunity ⟦hunter2x⟧ 10.0.0.0/8", "com2sec readonly default ⟦hunter2x⟧", "createUser jane SHA ⟦hunter2x⟧ AES ⟦walrus3y⟧", "set snmp community ⟦hunter2x⟧ authorization read-only",
    "sqlcmd -S host -U sa -P ⟦hunter2x!⟧ -Q 'select 1'", "bcp a.b.c out f -S host -U sa -P ⟦hunter2x⟧ -c", "ipmitool -I lanplus -H h -U jane -P ⟦hunter2x⟧ power status", "mosquitto_pub -h h -p 1883 -u jane -P ⟦hunter2x⟧ -t a",
    "evil-winrm -i 10.0.0.1 -u jane -p ⟦hunter2x⟧", "cqlsh -u jane -p ⟦hunter2x⟧ host", "xfreerdp /u:jane /p:⟦hunter2x⟧ /v:host", "plink -ssh jane@host -pw ⟦hunter2x⟧", "x11vnc -passwd ⟦hunter2x⟧", "lftp -u jane,⟦hunter2x⟧ ftp.a.example",
    "keytool -genkey -keypass ⟦hunter2x⟧ -storepass ⟦walrus3y⟧", "schtasks /create /tn x /ru jane /rp ⟦hunter2x⟧", "gh secret set DB -b ⟦hunter2x⟧", "az keyvault secret set --vault-name v --name db --value ⟦hunter2x⟧",
    "aws ssm put-parameter --name /db --value ⟦hunter2x⟧ --type SecureString", "aws ssm put-parameter --type SecureString \\\n  --value ⟦hunter2x⟧", "nmcli dev wifi connect Home password ⟦hunter2x⟧", "wpa_passphrase Home ⟦hunter2x⟧",
    "reg add HKLM\\X /v DefaultPassword /t REG_SZ /d ⟦hunter2x⟧ /f", "redis-cli -h h -a ⟦hunter2x⟧ ping", "ldapdelete -D cn=a -w ⟦hunter2x⟧ x", "htpasswd -bc .htpasswd jane ⟦hunter2x⟧", "rabbitmqctl add_user jane ⟦hunter2x⟧",
    "stats auth jane:⟦hunter2x⟧", "user jane insecure-password ⟦hunter2x⟧", "net use Z: \\\\host\\share ⟦hunter2x⟧ /user:jane", "net use \\\\host\\share /user:a\\jane ⟦hunter2x⟧", "net user jane ⟦hunter2x⟧ /add",
    "sqlplus -s scott/⟦hunter2x⟧ @x.sql", "machine a.example\n  login jane\n  account x\n  password ⟦hunter2x⟧", "tacacs-server host 10.0.0.1 key ⟦hunter2x⟧", "radius-server key 7 ⟦0822455D0A16⟧", "crypto isakmp key ⟦hunter2x⟧ address 10.0.0.2",
    "ip ospf message-digest-key 1 md5 ⟦hunter2x⟧", "key-string ⟦hunter2x⟧", 'set pre-shared-key ascii-text "⟦hunter2x⟧"', "wpa-psk ascii 0 ⟦hunter2xy⟧", "set password ENC ⟦AK1abcdEFG123xyz==⟧", '10.0.0.1 10.0.0.2 : PSK "⟦hunter2 walrus⟧"',
    'jane : EAP "⟦hunter2x⟧"', "334 VXNlcm5hbWU6\namFuZQ==\n334 UGFzc3dvcmQ6\n⟦aHVudGVyMng=⟧",
    "http -a jane:⟦hunter2x⟧ a.example", "https --auth=jane:⟦hunter2x⟧ POST a.example", "xh -v -a jane:⟦hunter2x⟧ a.example", "gpg --batch --yes --passphrase ⟦walrus⟧ -d a.gpg > a", "echo x | gpg2 --passphrase '⟦a walrus⟧' -c", "curl --pass ⟦hunter2x⟧ --cert a.pem https://a.example",
    "CONNECT scott/⟦tiger⟧@orcl", "conn system/⟦hunter2x⟧@//db:1521/XE as sysdba", "db2 connect to x user jane using ⟦hunter2x⟧", "a001 LOGIN jane ⟦hunter2x⟧", 'C: a2 LOGIN "jane" "⟦a walrus⟧"', "S: +OK ready\nC: PASS ⟦hunter2x⟧",
    "user jane on >⟦hunter2x⟧ ~* +@all", "ACL SETUSER jane on >⟦walrus⟧ ~* +@all", "10.0.0.1:6379> AUTH jane ⟦hunter2x⟧", 'expect "*?assword:*"\nsend -- "⟦walrus⟧\\r"', "child.expect('Password:')\nchild.sendline('⟦walrus⟧')",
    "openssl pkcs12 -export -passout pass:⟦walrus⟧ -in a", "openssl passwd -6 -salt xy ⟦hunter2x⟧", "mkpasswd -m sha-512 ⟦hunter2x⟧", "zip -er --password ⟦walrus⟧ a.zip b", "smbclient //h/s ⟦hunter2x⟧ -U jane", "//h/s /mnt cifs uid=1,user=jane%⟦hunter2x⟧ 0 0",
    'net use Z: "\\\\h\\my share" ⟦hunter2x⟧ /user:jane', "net use Z: \\\\h\\s /u:jane ⟦hunter2x⟧", "net user jane ⟦hunter2x⟧", "docker login --username jane --password ⟦walrus⟧ r.example", "helm registry login -u jane -p ⟦walrus⟧ r.example", "skopeo copy --src-creds jane:⟦walrus⟧ docker://a dir:b",
    "mysqladmin -u root password ⟦walrus⟧", "svn co --username jane --password ⟦walrus⟧ https://a.example", "twine upload -u jane -p ⟦walrus⟧ dist/*", "ConvertTo-SecureString -AsPlainText '⟦hunter2x⟧' -Force", "dsadd user cn=x -pwd ⟦hunter2x⟧", "certutil -importPFX -p ⟦hunter2x⟧ a.pfx", "signtool sign /f a.pfx /p ⟦hunter2x⟧ a.exe",
    "useradd -m -p ⟦hunter2x⟧ jane", "chpasswd <<EOF\nroot:⟦walrus⟧\njane:⟦hunter2x⟧\nEOF", "chpasswd:\n  list: |\n    root:⟦walrus⟧\n    jane:⟦hunter2x⟧", 'sudo -S <<< "⟦hunter2x⟧" ls', 'passwd jane <<< "⟦hunter2x⟧"', 'echo "⟦hunter2x⟧" | su - jane', "printf '⟦hunter2x\\n⟧' | sudo -S ls",
    "nmcli con modify x wifi-sec.psk ⟦hunter2xyz⟧", "iwconfig wlan0 key s:⟦hunter2x⟧", "ssh-keygen -t ed25519 -N '⟦a walrus⟧' -f k", "qpdf --encrypt ⟦hunter2x⟧ ⟦walrus3y⟧ 256 -- a b", "pdftk a.pdf output b.pdf owner_pw ⟦hunter2x⟧ user_pw ⟦walrus3y⟧", "pdftotext -upw ⟦hunter2x⟧ a.pdf",
    "etcdctl --user jane:⟦walrus⟧ get x", "tsql -S h -U sa -P ⟦hunter2x⟧", "htpasswd -nb jane ⟦hunter2x⟧", "caddy hash-password --plaintext ⟦hunter2x⟧", "secretsdump.py dom/jane:⟦hunter2x⟧@10.0.0.1", "nxc smb h -u jane -p ⟦hunter2x⟧", "samba-tool user create jane ⟦hunter2x⟧", "slappasswd -s ⟦hunter2x⟧", "rootpw ⟦walrus⟧", "rootpw --plaintext ⟦walrus⟧",
    "security unlock-keychain -p ⟦hunter2x⟧ login.keychain", "security add-generic-password -a jane -s x -w ⟦hunter2x⟧", "dscl . -passwd /Users/jane ⟦hunter2x⟧", "ipa-server-install -p ⟦hunter2x⟧ -a ⟦walrus3y⟧", "bw unlock ⟦hunter2x⟧", "dotnet user-secrets set Db:Password ⟦hunter2x⟧", "poetry config http-basic.foo jane ⟦hunter2x⟧", "npm config set //r/:_password ⟦hunter2x⟧", "swaks -au jane -ap ⟦hunter2x⟧",
    "d-i passwd/root-password password ⟦walrus⟧", "[smtp.a.example]:587 jane:⟦hunter2x⟧", "CREATE USER jane WITH PASSWORD '⟦walrus⟧'", 'poll h proto imap user "jane" password "⟦walrus⟧"',
    "username jane privilege 15 secret ⟦hunter2x⟧", "enable secret 0 ⟦hunter2x⟧", "aaa-server x host y\n key ⟦hunter2x⟧", "standby 1 authentication ⟦hunter2x⟧", 'authentication-key "⟦hunter2x⟧"', "snmp-server user jane grp v3 auth sha ⟦hunter2x⟧ priv aes 128 ⟦walrus3y⟧", "snmp-server host 10.0.0.1 version 2c ⟦hunter2x⟧", "SNMP community: ⟦hunter2x⟧", "trap2sink 10.0.0.1 ⟦hunter2x⟧",
    'smtp.login("jane", "⟦hunter2x⟧")', "requests.get(url, auth=('jane', '⟦hunter2x⟧'))", 'new NetworkCredential("jane", "⟦hunter2x⟧")', 'mysqli_connect("h", "jane", "⟦hunter2x⟧")', 'DriverManager.getConnection(url, "jane", "⟦hunter2x⟧")',
    "PGPASSWORD=⟦walrus⟧ psql -h h", "mvn -Dpassword=⟦walrus⟧ deploy",
    "echo ⟦hunter2x⟧ | sudo -S apt update", "echo 'jane:⟦hunter2x⟧' | chpasswd", "echo ⟦hunter2x⟧ | passwd --stdin jane", 'echo "⟦hunter2x⟧" | docker login -u jane --password-stdin', "echo -n ⟦hunter2x⟧ | cryptsetup luksOpen /dev/sda1 x -",
]  # fmt: skip


@pytest.mark.parametrize("line", HIDDEN)
def test_of_a_command_only_the_password_is_hidden(line):
    text, shown = masked(line)
    for before, after in (("", "\n"), ("# jane\n", "\nand more\n"), ("  $ ", "\r\n")):
        assert redact.clean(before + text + after) == before + shown + after


@pytest.mark.parametrize(
    "line",
    [
        "unzip -p a.zip docs/readme2.txt", "zip -r -p a.zip docs2", "7z x -p a.7z", "openssl s_client -connect a.example:443 -key key2.pem", 'zip -P "$PASS" a.zip', "curl -u jane https://a.example:8443", "curl -o out2:x https://a.example",
        "mosquitto_sub -p 1883", "snmpwalk -v2c -c <community> host2", "snmp-server community public RO", "net use Z: \\\\host\\share2 * /user:jane", "net user jane2 * /add", "curl -X GET https://a.example | zip -P", "echo hunter2x | grep sudo -S",
        "echo hunter2x | tee a2", "gh secret set DB < file2", "aws ssm put-parameter --name /a --value eu-west-1 --type String", 'those identified by "squash2" commands', "redis-cli -h host2 ping", "plink -P 2222 host2", "wpa_passphrase Home",
        "uname -a jane:hunter2x", "rsync -a host2:docs3 .", "http -a $USER:$PASS a.example", "gpg --passphrase-fd 0", "connect user/password@host", "connect docs2/readme2", "EXEC SQL CONNECT TO :db USER :user USING :passwd2;", "the login page2 hunter2x", "1. login as jane2x", "+OK\nPASS",
        "switch on >>> hunter2x", 'send "hello2you\\r"', "sendline('hello2you')", "mkpasswd (see crypt(3))", "mkpasswd |crypt(3)", "openssl passwd -6", "cat <<< hunter2x", "chpasswd: the file2", "password 'x' of them", "at port :587 jane", "login(user2, password2)", "login('jane', 'password')",
        "snmp community strings2 are", "standby 1 authentication", "qpdf --encrypt user owner key-length", "ssh-keygen -t rsa -N ''", "PASSWORD=required psql", "echo password=walrus is", "a net user called2x here",
        "gzip -P walrus3y", "rocommunity COMMUNITY [SOURCE]", '.IP "com2sec NAME SOURCE COMMUNITY"', "zip -P PASS a2.zip", "docker login -u jane --password-stdin", "keytool -list -keystore a2.jks -storepass:env PASS", "cqlsh host2 -p", "sqlplus / as sysdba", "the snmp community strings2 of a host",
    ],
)  # fmt: skip
def test_an_argument_that_is_no_password_stays(line):
    assert redact.clean(f"{line}\n") == f"{line}\n"


def test_each_sign_of_a_command_is_one_that_is_looked_for():
    begins = {word for rows in (commands._OPTIONS, commands._LINES) for words_of, *_ in rows for word in words_of}
    assert begins == set(words.COMMANDS)
