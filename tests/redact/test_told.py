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
        "network keys: see 4.2", "Key content type2", "backup code2: see above", "recovery code is in recovery2.c",
    ],
)  # fmt: skip
def test_what_is_no_password_there_stays(text):
    assert redact.clean(f"{text}\n") == f"{text}\n"
