"""Names under which secrets are kept, in the languages that people write: what people choose may be weak, what a machine makes is not."""

from __future__ import annotations

import base64

import pytest

from smart_context import redact

CHOSEN = """
    password passwort passwd passphrase passcode passord pass motdepasse mot-de-passe pwd pw psw mdp kennwort clave contrasena contrasenya
    contraseña senha parola parole parol parolă wachtwoord losenord lösenord adgangskode salasana jelszo jelszó haslo hasło heslo geslo
    lozinka sifre şifre sshpass dbpass userpass smtppass rootpass adminpass ftppass mypass sudopass userpw dbpw bindpw rootpw ldappw
    adminpw ftppw пароль κωδικός κωδικος סיסמה סיסמא पासवर्ड รหัสผ่าน 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호
""".split()  # noqa: SIM905
CHOSEN += ["kata sandi", "kata laluan", "mot de passe", "clave de acceso", "كلمة المرور", "كلمة السر", "رمز عبور", "mật khẩu"]  # fmt: skip
MADE = """
    api_key access_key secret token credential credentials jeton session_id jsessionid phpsessid connect.sid x-auth key client_id
    api-schlüssel apischlüssel zugangsschlüssel zugriffsschlüssel password_salt 令牌 密钥 密鑰 apiキー トークン 秘密鍵 api키 토큰 токен _auth
""".split()  # noqa: SIM905
MADE += ["clé api", "clé d'api", "clé secrète", "ключ api", "api ключ", "api-ключ", "api 키", "chave api", "chave de api", "chave da api"]  # fmt: skip
WEAK, STRONG = "a1b2", "q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFg"


@pytest.mark.parametrize("name", CHOSEN)
def test_a_word_for_a_password_hides_what_people_choose(name):
    for value in (WEAK, "hunter2", STRONG):
        assert redact.clean(f"{name}: {value}\n") == f"{name}: [redacted:secret]\n"


@pytest.mark.parametrize("name", MADE)
def test_a_word_for_a_token_hides_what_a_machine_makes_and_nothing_weak(name):
    assert redact.clean(f"{name}: {WEAK}\n") == f"{name}: {WEAK}\n"
    assert redact.clean(f"{name}: {STRONG}\n") == f"{name}: [redacted:secret]\n"


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("password_prod", True), ("password2", True), ("passwords", True), ("password_length", False), ("passwordless", False),
        ("key", False), ("api_keys", False), ("keyboard", False), ("public_key", False), ("trip", False), ("compass", False), ("upwd", True), ("hpw", False),
    ],
)  # fmt: skip
def test_a_name_may_have_an_ending_of_its_kind(name, is_one):
    assert (redact.clean(f"{name}: {WEAK}\n") != f"{name}: {WEAK}\n") is is_one


@pytest.mark.parametrize(
    ("pair", "is_one"), [(b"bob:a b", True), (b"bob:abc", True), (b"bob:a\x1fb", False), (b"bob abcd", False)]
)
def test_a_name_and_a_password_in_base64_are_a_secret(pair, is_one):
    padded = base64.b64encode(pair).decode()
    for value in (padded, padded.rstrip("=")):
        hidden = "[redacted:secret]" if is_one else value
        assert redact.clean(f"use basic {value} here") == f"use basic {hidden} here"
        assert redact.clean(f'{{"auth": "{value}"}}') == f'{{"auth": "{hidden}"}}'


@pytest.mark.parametrize("before", ["", "x ", "of ", "an account: "])
def test_an_account_is_hidden_from_its_country_on(before):
    for account in ("DE89370400440532013000", "DE 89370400440532013000", "DE89 3704 0044 0532 0130 00", "DE 89 3704 0044 0532 0130 00"):  # fmt: skip
        assert redact.clean(f"{before}{account}.") == f"{before}[redacted:iban]."


@pytest.mark.parametrize("columns", [2, 300])
def test_a_column_of_passwords_is_hidden_however_many_columns_there_are(columns):
    table = "\n".join(
        ";".join([first, *["x"] * (columns - 2), last]) for first, last in (("user", "password"), ("bob", "ab1c"))
    )
    assert redact.clean(table + "\n") == table.replace("ab1c", "[redacted:secret]") + "\n"


def test_a_name_is_a_name_with_its_marks_apart_from_its_letters():
    import unicodedata

    for name in ("mật khẩu", "contraseña", "lösenord", "jelszó", "κωδικός", "şifre", "parolă"):
        for form in ("NFC", "NFD"):
            text = unicodedata.normalize(form, f"{name}: hunter2xyz\n")
            assert redact.clean(text) == text.replace("hunter2xyz", "[redacted:secret]")
