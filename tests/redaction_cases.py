"""Redaction cases: (text, what must not show). The secrets are made up, and put together at run time so that no scanner
takes a literal here for a real one."""

from __future__ import annotations

import re

_A = "q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFgA1eU"  # 32 letters and digits
_B = "Zt5WbN8qLx2KvR7mHs4DyP9cJf6GaE3u"
_HEX = "9d2f7b40c6e18a35f02b7c9e4d61a8f3"
_HEX2 = _HEX + "0b58d7e2c41f96a3708be5d49c12f6ab"


def masked(marked: str) -> tuple[str, str]:
    """A text in which brackets mark what must be hidden: as it is, and as it is shown."""
    return marked.translate({ord("⟦"): None, ord("⟧"): None}), re.sub(
        "⟦.*?⟧", "[redacted:secret]", marked, flags=re.DOTALL
    )


def _t(*parts: str) -> str:
    return "".join(parts)


TOKENS: dict[str, str] = {
    "aws": _t("AK", "IA", "Q7RK2ZPX9VLM4TNB"),
    "aws session": _t("AS", "IA", "Q7RK2ZPX9VLM4TNB"),
    "github": _t("gh", "p_", _A, "9bQz"),
    "github oauth": _t("gh", "o_", _A, "9bQz"),
    "github server": _t("gh", "s_", _A, "9bQz"),
    "github refresh": _t("gh", "r_", _A, "9bQz"),
    "github fine-grained": _t("github", "_pat_", "11ABCDEFG0", _A[:12], "_", _A, _B[:27]),
    "gitlab": _t("gl", "pat-", _A[:20]),
    "gitlab runner": _t("gl", "rt-", _A[:20]),
    "slack bot": _t("xo", "xb-", "731594206564-8343594206574-", _A[:24]),
    "slack user": _t("xo", "xp-", "731594206564-8343594206574-", _A[:24]),
    "slack app": _t("xa", "pp-1-A0", _A[:9].upper(), "-834359420-", _HEX),
    "openai": _t("sk", "-", _A, _B[:16]),
    "openai project": _t("sk", "-proj-", _A, "_", _B),
    "anthropic": _t("sk", "-ant-api03-", _A, _B, "-", _A[:20], "AA"),
    "openrouter": _t("sk", "-or-v1-", _HEX2),
    "google key": _t("AI", "za", "Sy", _A, "x"),
    "google oauth": _t("ya", "29.", "a0Af", _A, _B),
    "google client": _t("GOC", "SPX-", _A[:28]),
    "stripe": _t("sk", "_live_", _A[:24]),
    "stripe test": _t("sk", "_test_", _A[:24]),
    "stripe restricted": _t("rk", "_live_", _A[:24]),
    "stripe webhook": _t("wh", "sec_", _A),
    "twilio": _t("S", "K", _HEX),
    "sendgrid": _t("S", "G.", _A[:22], ".", _B, "abc123DEF45"),
    "mailgun": _t("ke", "y-", _HEX),
    "mailchimp": _t(_HEX, "-us14"),
    "brevo": _t("xke", "ysib-", _HEX2, "-", _A[:16]),
    "npm": _t("np", "m_", _A, "9bQz"),
    "pypi": _t("py", "pi-AgEIcHlwaS5vcmc", _A, _B, _A),
    "hugging face": _t("h", "f_", _A, "Qz"),
    "digitalocean": _t("do", "p_v1_", _HEX2),
    "heroku": _t("HR", "KU-", _A, _B[:20]),
    "shopify": _t("sh", "pat_", _HEX),
    "square": _t("sq", "0atp-", _A[:22]),
    "databricks": _t("da", "pi", _HEX),
    "vault": _t("hv", "s.", _A, _B[:20]),
    "terraform": _t(_A[:14], ".atl", "asv1.", _A, _B),
    "new relic": _t("NR", "AK-", _A[:27].upper()),
    "grafana": _t("gl", "sa_", _A, "_4d61a8f3"),
    "sentry": _t("snt", "rys_", _A, _B),
    "doppler": _t("dp.", "pt.", _A, "9bQzXw4T7rLm"),
    "postman": _t("PM", "AK-", _HEX[:24], "-", _HEX, "a1"),
    "linear": _t("lin", "_api_", _A, "9bQzXw4T"),
    "notion": _t("nt", "n_", _A, "9bQzXw4T7rL"),
    "telegram": _t("7315942065", ":A", "A", _A, "x"),
    "discord bot": _t("M", _A[:23], ".", "Gx7Qa2", ".", _B, "abc4"),
    "docker": _t("dck", "r_pat_", _A[:27]),
    "groq": _t("gs", "k_", _A, _B[:20]),
    "tailscale": _t("tsk", "ey-auth-", _A[:11], "-", _B),
    "airtable": _t("pa", "t", _A[:14], ".", _HEX2),
    "atlassian": _t("ATA", "TT3", _A, _B, "=4D61A8F3"),
    "azure ad": _t("q7R", "8Q", "~", _A, "xY"),
    "jwt": _t("ey", "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", ".eyJzdWIiOiI0MiIsIm5hbWUiOiJYIn0", ".", _A, "_", _B[:10]),
    "age": _t("AGE-", "SECRET-KEY-1", _A.upper(), _B.upper()[:26]),
    "bcrypt": _t("$2", "b$12$", _A, _B[:21]),
}  # fmt: skip

_BODY = "\n".join((_t("MII", "EowIBAAKCAQEA"), _A + _B, _B + _A, _A + "/+" + _B[:30], _B[:21] + "=="))
PEM = _t("-----BEG", "IN RSA PRIVATE KEY-----\n", _BODY, "\n-----E", "ND RSA PRIVATE KEY-----")
PASSWORD = "Tr0ub4dor&3"

# What a word, a syntax or a place says: {} is the secret.
ASSIGNMENTS: tuple[str, ...] = (
    "password: {}", "password={}", "PASSWORD = '{}'", '"password": "{}"', "'password' => '{}',", 'password := "{}"',
    "DB_PASSWORD={}", "export PGPASSWORD='{}'", "spring.datasource.password={}", "dbPassword: {}", "db.pwd = {}",
    "<password>{}</password>", '<add key="AdminPassword" value="{}" />', '<property name="password" value="{}"/>',
    '{{"name": "DB_PASSWORD", "value": "{}"}}', "- name: DB_PASSWORD\n  value: {}", "password: |\n  {}", "password:\n    {}",
    "Server=db;User Id=sa;Password={};Encrypt=true", "jdbc:x://h/db?user=u&password={}&ssl=1", 'client.setPassword("{}")',
    'password: str = "{}"', "PASSWORD\t{}", "| Password | {} |", "user\tpassword\nanna\t{}", "| user | password |\n|---|---|\n| anna | {} |",
    "user;password\nanna;{}", "The password is {}.", "My password is: {}", "password for the router: {}", "Password (WiFi): {}",
    "**Password**: {}", "## Login\nPassword: {}\n", "--password {}", "--db-password={}", "curl -u anna:{} https://example.org",
    "mysql -u root -p{} db", "sshpass -p {} ssh host", "CREATE USER a IDENTIFIED BY '{}';", "machine h login l password {}",
    "Passwort: {}", "Kennwort = {}", "Das Passwort lautet {}", "contraseña: {}", "mot de passe : {}", "Mot de passe\u00a0: {}", "senha: {}",
    "wachtwoord: {}", "hasło: {}", "heslo: {}", "пароль: {}", "密码：{}", "密码是{}", "パスワード: {}", "비밀번호: {}", "كلمة المرور: {}", "şifre: {}",
    "https://anna:{}@example.org/x", "redis://:{}@cache:6379/0", "amqps://u:{}@mq.example.org", "mongodb+srv://u:{}@c0.example.org/db",
    "smtp://u:{}@mail.example.org:587", "pass: {}", "pwd={}", "passphrase: {}",
)  # fmt: skip
TOKEN_ASSIGNMENTS: tuple[str, ...] = (
    "api_key = {}", "apiKey: '{}'", "API-KEY: {}", "X-Api-Key: {}", "x-auth-token: {}", "client_secret={}", "secret: {}",
    "access_token={}&expires=3600", "refresh_token: {}", "Authorization: Bearer {}", "authorization: bearer {}", "Authorization: Token {}",
    "Bearer {}", "aws_secret_access_key = {}", "AccountKey={};EndpointSuffix=core", "SharedAccessKey={}", "Set-Cookie: session={}; Path=/",
    "<apiKey>{}</apiKey>", "encryption key: {}", "signing_key={}", '"private_key_id": "{}"', "token\t{}", "the token is {}",
    "API-Schlüssel: {}", "clé API : {}", "令牌：{}", "ENV API_TOKEN {}", "JSESSIONID={}", "api key\n{}".replace("\n", ": "),
    "?sv=2022&sig={}&se=2030", "const token = `{}`;", "secret_key_base: {}".replace("_base", ""),
)  # fmt: skip

EMAILS: tuple[tuple[str, str], ...] = tuple(
    (text.format(address), address)
    for text, address in (
        ("Write to {} soon", "nora.field@example.org"), ("{}", "a@b.co"), ("<{}>", "x_y-z@sub.example.museum"), ("mailto:{}?subject=x", "nora@example.org"),
        ("({})", "nora+lists@example.com"), ("{}, {}".replace(", {}", ", and"), "nora%tag@example.net"), ("Mail: {}.", "o'neill@example.ie"),
        ("Grüße, {}", "jörg@köln.example"), ("联系{}谢谢", "wang@example.cn"), ("用户@例子.公司 {}".replace(" {}", ""), "用户@例子.公司"),
        ("почта {}", "иван@пример.рф"), ('"{}', 'nora field"@example.org'), ("{}", "nora@[192.168.1.9]"), ("{}", "nora (at) example (dot) org"),
        ("{}", "nora [at] example.org"), ("{}", "nora(at)example.org"), ("{}", "nora at example dot org"), ("{}", "nora at mail dot example.org"), ("{}", "nora {at} example {dot} org"),
        ("{}", "nora&#64;example.org"), ("{}", "nora%40example.org"), ("{}", "nora＠example．org"), ("{}", "NORA@EXAMPLE.ORG"),
        ("{}", "nora@exam-\nple.org"), ("{}", "nora@\nexample.org"), ("{}", "nora@example.\norg"), ("{}", "no\u00adra@exam\u200bple.org"),
        ("{}", "nora.\nfield@example.org"), ("{}", "nora\n@example.org"), ("ID\t{}\tx", "nora@example.org"), ("# {}\n", "nora@example.org"),
        ("{}", "nora @ example.org"), ("user={}&x=1", "nora@example.org"), ("'{}'", "nora@example.org"), ("{}", "nora@xn--bcher-kva.example"),
    )
)  # fmt: skip

PHONES: tuple[tuple[str, str], ...] = tuple(
    (text.format(number), number)
    for text, number in (
        ("{}", "+1 212 555 0187"), ("{}", "+1-212-555-0187"), ("{}", "+1 (212) 555-0187"), ("{}", "+12125550187"), ("{}", "+1.212.555.0187"),
        ("{}", "(212) 555-0187"), ("{}", "212-555-0187"), ("{}", "212.555.0187"), ("{}", "1-212-555-0187"), ("{}", "(212)555-0187"),
        ("{}", "+44 (0)20 7946 0018"), ("{}", "0044 20 7946 0018"), ("{}", "+49 30 901820"), ("{}", "+49-151-23456789"), ("{}", "0049 30 901820"),
        ("Tel.: {}", "030 / 901820"), ("Telefon {}", "030-901820-15"), ("Fax: {}", "+49 30 9018-2200"), ("Handy: {}", "0151 23456789"),
        ("tél. {}", "01 42 68 53 00"), ("{}", "01 42 68 53 00"), ("{}", "+33 (0)1 42 68 53 00"), ("Teléfono: {}", "912 345 678"), ("{}", "+34 912 345 678"),
        ("{}", "+39 06 698 12345"), ("{}", "+31 20 794 5678"), ("{}", "+41 44 668 18 00"), ("{}", "+43 1 588580"), ("{}", "+46 8 123 456 78"),
        ("{}", "+91 98765 43210"), ("{}", "+86 138 0013 8000"), ("电话：{}", "010-65529988"), ("手机 {}", "13800138000"), ("電話 {}", "03-3213-1111"),
        ("{}", "+81 3-3213-1111"), ("{}", "+55 11 91234-5678"), ("{}", "+61 2 9374 4000"), ("{}", "+7 495 123-45-67"), ("тел. {}", "8 (495) 123-45-67"),
        ("phone number: {}", "2125550187"), ("cell {}", "(212) 555 0187"), ("Call me at {}", "2125550187"), ("mobile: {}", "07911 123456"),
        ("phone: {}", "555-0187"), ("tel:{}", "+1-212-555-0187"), ("T: {}", "030 901820"), ("{} (mobile)", "07911 123456"), ("Telephone number {}", "020 7946 0018"),
        ("{}", "+1 212\n555 0187"), ("{}", "(212)\n555-0187"), ("Tel. {}", "０３０ ９０１８２０"), ("{}", "+1 212\u00a0555\u20110187"), ("a\t{}\tb", "+44 20 7946 0018"),
        ("Phone: {}", "٠٣٠ ٩٠١٨٢٠"), ("{}", "+1 212 55\u200b5 0187"), ("WhatsApp {}", "+1 555 123 4567"), ("Tel:\t{}", "030 901820"), ("Hotline {}", "0800 1234567"),
    )
)  # fmt: skip

CARDS: tuple[tuple[str, str], ...] = tuple(
    (text.format(number), number)
    for text, number in (
        ("{}", "4111111111111111"), ("{}", "4111 1111 1111 1111"), ("{}", "4111-1111-1111-1111"), ("{}", "4111\u00a01111\u00a01111\u00a01111"),
        ("{}", "5105105105105100"), ("{}", "5555 5555 5555 4444"), ("{}", "2223003122003222"), ("{}", "3782 822463 10005"), ("{}", "371449635398431"),
        ("{}", "6011 0009 9013 9424"), ("{}", "3530111333300000"), ("{}", "30569309025904"), ("{}", "3056 930902 5904"), ("{}", "6200000000000005"),
        ("card no. {}", "4222222222222"), ("Maestro card {}", "6759649826438453"), ("{} 123", "4111 1111 1111 1111"), ("Karte: {}, 12/29", "4012 8888 8888 1881"),
        ("{}", "4111 1111\n1111 1111"), ("{}", "41111111\n11111111"), ("{}", "４１１１ １１１１ １１１１ １１１１"), ("a\t{}\tb", "4111 1111 1111 1111"), ("卡号{}", "4111111111111111"),
        ("{}", "4111.1111.1111.1111"), ("{}", "4111\u200b1111\u200b1111\u200b1111"),
    )
)  # fmt: skip

IBANS: tuple[tuple[str, str], ...] = tuple(
    (text.format(number), number)
    for text, number in (
        ("{}", "DE89370400440532013000"), ("{}", "DE89 3704 0044 0532 0130 00"), ("IBAN: {}.", "GB29 NWBK 6016 1331 9268 19"), ("{}", "de89 3704 0044 0532 0130 00"),
        ("{}", "FR14 2004 1010 0505 0001 3M02 606"), ("{}", "NL91ABNA0417164300"), ("{}", "CH93 0076 2011 6238 5295 7"), ("{}", "ES91 2100 0418 4502 0005 1332"),
        ("{}", "IT60 X054 2811 1010 0000 0123 456"), ("{}", "NO93 8601 1117 947"), ("{}", "PL61 1090 1014 0000 0712 1981 2874"), ("{}", "DE89-3704-0044-0532-0130-00"),
        ("{}", "DE89 3704 0044\n0532 0130 00"), ("a\t{}\tb", "DE89370400440532013000"), ("{}", "ＤＥ８９ ３７０４ ００４４ ０５３２ ０１３０ ００"),
    )
)  # fmt: skip

# Nothing in these may change.
HARMLESS: tuple[str, ...] = (
    "Due 2024-05-31, 31.05.2024, 05/31/2024 and 2024/05/31 10:15:00", "Backup 20240531101500 done", "1700000000 1700000000123 epoch",
    "550e8400-e29b-41d4-a716-446655440000", "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==", "v2.10.3-rc.1+build.42", "Python 3.11.7 (main)",
    "ISBN 0-306-40615-2 and 978-0-306-40615-7", "ISSN 2049-3630", "doi:10.1000/182 and arXiv:1706.03762", "48.8584° N, 2.2945° E", "-33.8688, 151.2093",
    "EUR 1.234,56; $12,345,678.90; ¥ 1234567", "1,234 5,678 9,012 3,456", "12 345 678 901 234", "2019 2020 2021 2022 2023", "1200 3400 5600 7800",
    "0.1234 0.5678 0.9012", "10.0.0.1 255.255.255.0 fe80::1 2001:db8::8a2e:370:7334", "MAC 00:1a:2b:3c:4d:5e", "Order 100-2345678-9012345", "PO 4500012345",
    "Invoice no. 2024-000123", "Flight LH 1234, gate B12", "§ 12 Abs. 3 Nr. 4 BGB", "10:30-12:45, 14.30-16.00 Uhr", "Chapter 1.2.3.4", "1-2-3-4-5-6-7-8-9",
    "pages 100-200, 300-400", "Tel Aviv 2024", "The token expires after 3600 seconds", "tokens: 4096", "max_tokens = 4096", "token_count: 128000",
    "Your password must be at least 12 characters long", "Password: at least 8 characters", "Password: 8-16 characters", "Password is required",
    "password: required", "password: string", "password: str", "password=${DB_PASSWORD}", "password: {{ vault_password }}", "password = <your password>",
    "password: ********", "password=xxxxxxxx", "PASSWORD=$PASSWORD", "password = os.environ['DB_PASSWORD']", "password = input()", "password = user.password",
    "password = get_password(user)", "token = request.headers.get('X')", "const token = await login();", "secret = None", "secret: true", "passwordless login",
    "api_key = YOUR_API_KEY", "api_key: <API_KEY>", "api_key='your-api-key-here'", "token: process.env.TOKEN", "self.token = token", "if password == other:",
    "Forgot password? Reset it.", "The secret to good bread is time.", "a secret agent", "He passed: 12 of 14", "compass: north4east", "bypass=true1",
    "bearer of good news", "basic training", "Basic authentication is described in RFC 7617", "Bearer tokens are described in RFC 6750", "primary key: id",
    "key: value", "foreign key (user_id)", "keyboard: qwerty123", "public_key = 'AAAAB3NzaC1yc2E'", "@media print", "@param name", "user@localhost", "lodash@4.17.21",
    "image@3x.png", "icon@2x.jpg", "git@github.com:org/repo.git", "meet at noon", "look at example.com", "a @ b", "3 @ 4.50", "@nora and @paul",
    "http://localhost:8080/x@y", "https://example.org/@scope/name", "http://example.org:8443/", "https://$USER:$PASS@example.org/",
    "postgres://user:${PASSWORD}@db/x", "sk-loading-indicator-container", "task-2024-planning", "desk-lamp-number-twelve-and-more-words", "hf_something",
    "npm_config_registry_setting_name_long", "eyJ is how JSON starts in base64", "SG. stands for Singapore.", "key-value-store", "AKIA is a prefix",
    "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "EAN 4006381333931", "UPC 036000291452", "4111 1111 1111 1112", "4000 5000 6000 7000 8000",
    "DE00 3704 0044 0532 0130 00", "AT12 is a road", "IP 192.168.0.1:8080", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "9780306406157", "Room 212, 555 Main St, 10018",
    "415 apples, 555 pears and 2671 plums", "call 2024 a good year", "phone 2024-05-31", "mobile 4G 2024", "Office 365", "Windows 10.0.19045.3930",
    "ASIN B08N5WRWNW", "ORCID 0000-0002-1825-0097", "VAT DE123456789", "SKU 00123-456", "GPS 52.520008 13.404954", "RFC 2119, 8174", "x = 123456789 * 987654321",
    "Ordnung 0123456789", "https://example.org/a/0123456789/b", "2024-W22-5", "1.000.000.000", "Q1 2024: 12,345 / Q2 2024: 23,456",
    "return None\n\n@pytest.mark.slow", "use @abc.abstractmethod", "a workspace of 4.34 4.49 5.25", "contacts 300-600 cells", "acidosis (pH 7.25-7.35)",
    "PF-04449913 640 mg", "407 391 workers", "spf=pass spfdomain=em3230.example.net", '"token",\n"uchar2",\n"uint4",',
    "user\tage\nanna\t42", "name\tsecretary\nanna\tPaul1234", "| Key | Value |\n|---|---|\n| a1 | b2c3d4 |",
    "ticket JIRA-1234567890", "NSN 5905-01-234-5678", "ZIP 94105-1234", "VIN 1HGCM82633A004352", "IMEI 490154203237518", "GTIN 00012345600012",
    "rgb(255, 99, 71) #ff5733", "May 4, 2024 at 12:34:56.789", "3.14159265358979 1e-10 0x7fffffffffff",
    'ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"', "session 12 of 14", "tokenization of text", "token ring network 802.5", "secret santa 2024",
    "password manager 1Password", "password: see vault", "API key rotation policy", "the key is under the mat", "passport: see page 3",
    "Passwords: 3 wrong attempts", "Enter your password:\nForgot password?", "Password\nUsername\nRemember me", "token: string\nuser: number",
    "password?: string;", "def login(user, password='')", "password = None", "if token: return", "tokens used: 1421", "secret_name: db-credentials",
    "secretKeyRef:\n  name: app", "key: 12345678", "password_reset_token_expiry = 3600", "The password was changed on 2024-01-05.",
    "Password policy: minimum 12 characters", "API token (optional)", "auth: none", "author: Smith2020", "authority 12345678", "pwd\n/home/user1",
    "cd $(pwd)/src2", "SELECT password FROM users WHERE id = 42", "password VARCHAR(255) NOT NULL", "secret ballot: 412 yes, 88 no",
    "Table 2\n1200\t3400\t5600\n4111\t2222\t3333", "2024-11-15T19:22:59+01:00", "UTC+01:00", "+1 for this idea", "C++ 20 2024", "a+b=12345678901",
    "Q4 +12.5 % 2024", "range 100-200-3000", "Section 212.555.3", "1.1.1.1, 8.8.8.8", "ratio 1:1000000", "0 1 2 3 4 5 6 7 8 9 10", "1st 2nd 3rd 4th",
    "p. 415, 555, 2671", "ISBN-13: 978-1-4028-9462-6", "ISBN 0471958697", "LCCN 2004114567", "OCLC 12345678", "PMID 31452104", "arXiv:2103.00020v1",
    "doi.org/10.1038/s41586-020-2649-2", "patent US 10,123,456 B2", "CAS 7732-18-5", "EC 1.1.1.1", "ATCC 25922", "$1,234,567,890.12",
    "12.345.678,90 €", "1 234 567,89", "SN: 4CE0460D0G", "order #112-3456789-1234567", "tracking 1Z999AA10123456784",
    "tracking 9400 1000 0000 0000 0000 00", "flight BA2490", "invoice INV-2024-00123", "user id 1000, gid 1000", "-rw-r--r-- 1 root root 4096",
    "pid 12345 tid 67890", "0123456789abcdef", "deadbeef cafebabe", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "git commit a1b2c3d", "v1.2.3+20240115",
    "node@18.17.0", "@angular/core@16.2.0", "user@host:~$ ls", "foo@bar", "twitter @example", "e-mail me", "at example.com", "10 @ $5.00",
    "DE 12345 Berlin", "FR 75001 Paris", "GB 2024", "IT60 lane", "NO 15", "phone book 1998", "call of duty 4", "cell 12 of the table", "tel quel",
    "mobile 2.0", "fax machine model 3000", "Dial 112 in emergencies", "hotline", "Tel-Aviv-Yafo 6423806 residents",
)  # fmt: skip
