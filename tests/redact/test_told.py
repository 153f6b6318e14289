"""Passwords that other words tell than their label: a change, a question, the field before, the user above; what stands there and is none stays."""

from __future__ import annotations

import pytest

from redaction_cases import masked
from smart_context import redact

HIDDEN = [
    "I changed the root password to ⟦Zx81kitten⟧ yesterday.", "set the admin password to ⟦Zx81kitten⟧", "Your password has been reset to ⟦Zx81kitten⟧.", "Ihr Kennwort fuer den Server ist ⟦Zx81kitten⟧",
    "Use ⟦Zx81kitten⟧ as the password.", '"⟦Zx81kitten⟧" is the new wifi password', "Nimm ⟦Zx81kitten⟧ als das Passwort", "Jane: what's the password?\nBob: ⟦Zx81kitten⟧", "> What is the wifi password?\n\n⟦Zx81kitten⟧", "Passwort?\n⟦Zx81kitten⟧",
    "> > Password:\n> >\n> > ⟦Zx81kitten⟧\n> >\n> thanks",
    '{"value": "⟦Zx81kitten⟧", "name": "DB_PASSWORD"}', "env:\n  - value: '⟦Zx81kitten⟧'\n    name: POSTGRES_PASSWORD", '{"ParameterKey": "DBPassword", "ParameterValue": "⟦Zx81kitten⟧"}', "ParameterKey=DBPassword,ParameterValue=⟦Zx81kitten⟧",
    "DBPassword:\n    NoEcho: true\n    Type: String\n    Default: ⟦Zx81kitten⟧",
    "password: ENV.fetch('DB_PASSWORD', '⟦Zx81kitten!⟧')", "password: ENV.fetch('DB_PASSWORD') { '⟦Zx81kitten!⟧' }", "password => Sensitive('⟦Zx81kitten⟧'),", 'password = SecretStr("⟦Zx81kitten⟧")', '["password"]=>\n  string(10) "⟦Zx81kitten⟧"', 's:8:"password";s:10:"⟦Zx81kitten⟧";',
    "line vty 0 4\n password ⟦Zx81kitten⟧\n login", "enable password ⟦Zx81kitten⟧", "neighbor 10.0.0.2 password ⟦Zx81kitten⟧", "ppp chap password 0 ⟦Zx81kitten⟧", "account x\nuser jane\npassword ⟦Zx81kitten⟧",
    "remotepass = ⟦Zx81kitten⟧", "storepass: ⟦Zx81kitten⟧", 'psk="⟦Zx81 kitten walrus⟧"', "WLAN-Schlüssel: ⟦Zx81kitten⟧", "Network key: ⟦Zx81kitten⟧", "<keyMaterial>⟦Zx81kitten⟧</keyMaterial>", "    Key Content            : ⟦Zx81kitten⟧",
    "Login: jane / ⟦Zx81kitten⟧", "Logins: jane:⟦Zx81kitten⟧", "Zugangsdaten: jane, ⟦Zx81kitten⟧", "Username/Password: jane / ⟦Zx81kitten⟧", "**WiFi:** Guest / ⟦Zx81kitten⟧", "db.example:5432:app:jane:⟦Zx81kitten⟧", "*:*:*:jane:⟦Zx81\\:kitten⟧",
    "USER jane\nPASS ⟦Zx81kitten⟧", "C: USER jane\nS: +OK\nC: PASS ⟦Zx81kitten⟧", "> The password is:\n>\n> ⟦Zx81kitten⟧\n> thanks",
    "    user      password\n0   jane   ⟦hunter2x⟧\n1   bob    ⟦Zx81kitten⟧", "user password role\njane ⟦hunter2x⟧ admin\nbob ⟦Zx81kitten⟧ clerk", "User      Initial Password    Last Login\n--------  ------------------  ----------\njane      ⟦hunter2x⟧            May 2\n",
    "login_username,login_password,login_totp\njane,⟦walrus⟧,⟦JBSWY3DPEHPK3PXP⟧", "host,plain password\nweb1,⟦walrus⟧",
    "⟦-----BEGIN OpenVPN Static key V1-----\n6acef03f62675b4b1bbd03e53b187727\n423cea742242106cb2916a8a4c829756\n-----END OpenVPN Static key V1-----⟧",
    "BitLocker recovery key\n\n⟦123456-234567-345678-456789-567890-678901-789012-890123⟧", "Seed phrase: ⟦abandon ability able about above absent absorb abstract absurd abuse access accident⟧", "Recovery phrase (12 words): ⟦abandon, ability, able, about, above, absent, absorb, abstract, absurd, abuse, access, accident⟧", "mnemonic:\n⟦abandon ability able about above absent absorb abstract absurd abuse access accident⟧",
    "Recovery codes:\n⟦1a2b3-c4d5e\nf6a7b-8c9d0⟧", "GitHub backup codes\n\n⟦3f9c2-7a1bd⟧",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_what_other_words_tell_is_hidden_alone(text):
    plain, shown = masked(text)
    assert redact.clean(plain) == shown
    assert redact.clean(f"jane\n{plain}\nand more\n") == f"jane\n{shown}\nand more\n"


@pytest.mark.parametrize(
    "text",
    [
        "the password changed to sha256", "set the password to version2", "Change the password to get access2", "passwords are set to expire2day", "Use sha256 as the password hash", "utf8mb4 is the default password encoding", "user1234 is my password manager?",
        'msgstr "Passwort vergessen?"\n\n#: flask_security/core.py:597', "Forgot your password?\nversion2.1\n", "Lost password?\n2024-05-01\n", 'passwd = os.path.join(root, "etc/group")', '{"value": "eu-west-1", "name": "region"}', '{"value": "${DB_PASSWORD}", "name": "password"}',
        "keyMaterial += derived", "Password abcd1234", "a password\nsha256 hashes", "ENV.fetch('DB_PASSWORD', nil)", "password => Sensitive($password2)", "the Apache directive ProxyPass /app2 http://host2/", "KeePass: version2", "trespass: 4711",
        "Login: jane / see version2", "Login: https://host2/jane2x", "login: jane/docs/readme2.txt", "wifi: 2.4 GHz / 802.11ac", "root:*:14871:0:99999:7:::", "nobody:*:-2:-2:Nobody:/var/empty2:/bin/false", "user password role\nwho enters sha256 here\n", "your password now\nthe sha512 here\n",
        "PASS test2parser", "a new user password\nmay be set2now by\n", "a mnemonic is a word that helps you to keep twelve others in mind when asked", "its label and its mnemonic. For more advanced label settings, you can fetch the child widget from\nthere", "the mnemonic\nthat someone can learn most easily when these words come along again", "recovery 123456-234567", "type the user password again\nand the x2y3z4 token follows it\n",
        "network keys: see 4.2", "Key content type2", "backup code2: see above", "recovery code is in recovery2.c",
    ],
)  # fmt: skip
def test_what_is_no_password_there_stays(text):
    assert redact.clean(f"{text}\n") == f"{text}\n"
