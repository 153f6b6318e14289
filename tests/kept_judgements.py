"""What is hidden of many values in many places, as tables: nothing of them changes unnoticed.

`python tests/kept_judgements.py` writes `goldens/judgements.json` anew. Read the difference before you keep it: a sign that was a letter and is
a dot now is something that shows. A row is a place, a sign of it a value: `.` stays as it is; a letter is hidden as a whole, by its kind
(s: secret, p: phone, c: card, i: iban, e: email); `?` is hidden in part, or with something beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

from smart_context import redact

KEPT = Path(__file__).parent / "goldens" / "judgements.json"

NAMES = (
    "password",
    "passphrase",
    "token",
    "secret",
    "api_key",
    "key",
    "client_id",
    "auth_salt",
    "pw",
    "tokens",
    "session_id",
)
PLACES = (
    "{n}: {v}\n", "{n} = {v}\n", "{n}={v} and more\n", '{n} = "{v}"\n', "{n}: '{v}',\n", "{n} {v}\n", '{n} "{v}"\n', "{n} is {v}.\n",
    "the {n} was {v}, he said\n", "{n}\n{v}\n", "{n}:\n  {v}\n", "<{n}>{v}</{n}>\n", '<x name="{n}" value="{v}"/>\n', "| {n} | {v} |\n", "user\t{n}\nbob\t{v}\n",
    "user,{n}\nbob,{v}\n", "tool --{n} {v}\n", "tool --{n}={v}\n", '{{"{n}": "{v}"}}\n', '"{n}", "{v}"\n', "export {n}={v}\n", "?{n}={v}&x=1\n", "({n}: {v})\n", "ENV {n} {v}\n", "my{n} := {v};\n",
    "user | {n}\nbob |   {v} \n", "| user | {n} |\n|------|---|\n| bob |  {v}  |\n| eve | {v} |\n", 'user;{n}\nbob;"{v}"\n', "x\ty\t{n}\tz\n1\t2\t  {v}\t3\n", "name,{n},\n  bob,    {v} ,\n",
)  # fmt: skip
VALUES = (
    "ab", "abc", "abcd", "abcde", "ab1", "a1b2", "a1b2c", "a1b2c3", "abcdef1!", "ab1cd2ef", "hunter2", "Sommer2024", "123", "1234567", "12345678", "123456789012345", "1234567890123456",
    "remontelasir", "remontelasiremon", "remontelasiremontelas", "q7Rk2ZpX9vLm", "q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFg", "deadbeefdeadbeefdeadbeefdeadbeef", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "aGVsbG8gd29ybGQhIQ==",
    "cmVtb250ZWxhc2lyZW1vbnQ=", "your-password-here", "<password>", "${PASSWORD}", "{{ secret }}", "xxxxxxxx", "********", "changeme", "None", "true", "required", "https://a.example/x?y=1", "/etc/ssl/private/x.pem",
    "os.environ['X']", "get_token()", "my_api_key", "foo.bar", "2024-05-01", "1.2.3", "amber boat cliff", "amber boat", "Abc def 12", "A1 b2 c3 D4", "abcd efgh ijkl mnop", "p@ss;word", "p@ss(word)", "p@ss)", "-abc12", "+abc12",
    "550e8400-e29b-41d4-a716-446655440000", "sha256:0f1e2d3c4b5a6978", "ssh-rsa AAAAB3NzaC1yc2E", "!q2#W4 r5%T6^y7&U8*i9(O0)p-[=]{;}:,<.>/?|~1a", "v8.2.1-rc3", "Geheim!", "пароль123", "correct-horse-battery",
)  # fmt: skip

CONTEXTS = (
    "{v}", "a {v} b", "tel {v}", "Tel.: {v}.", "phone number is {v}\n", "call {v} now", "call me at {v}", "fax:\n{v}\n", "{v} (home)", "{v}, mobile", "x{v}", "{v}x", "x-{v}", "{v}-1", "{v} 1", "1 {v}", "({v})",
    "order {v}", "id: {v}", "1.{v}", "{v} EUR", "card {v}", "credit card no. {v}", "IBAN {v}", "account: {v};", "{v}\n{v}\n", "at 12:{v}", "http://x/{v}", "${v}", "v{v}", "{v}%", "+{v}", "0{v}", "电话{v}", "mail {v}!", "<{v}>", "mailto:{v}?x",
)  # fmt: skip
NUMBERS = (
    "030 1234567", "0301234567", "030/1234567", "(030) 1234567", "030-12 34 56 7", "0171 2345678", "+49 30 1234567", "+49 (0)30 1234567", "0049 30 1234567", "+493012345678", "212-555-0187", "(212) 555-0187", "2125550187",
    "212.555.0187", "1-212-555-0187", "+1 212 555 0187", "+44 20 7946 0958", "020 7946 0958", "01 42 68 53 00", "+33 1 42 68 53 00", "06 12 34 56 78", "912 345 678", "12345", "123456", "1234567", "12345678", "5551234",
    "2024-05-01", "01.05.2024", "2024-05-01 10", "12345-6789", "192.168.10.25", "3.14159265", "1,234,567", "12:30:45", "0100 0200 0300", "4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "4111 1111 1111 1112",
    "378282246310005", "3782 822463 10005", "30569309025904", "6011111111111117", "4111 1111 1111 1111 123", "DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "DE 89 3704 0044 0532 0130 00", "DE88370400440532013000",
    "GB82 WEST 1234 5698 7654 32", "de89370400440532013000", "FR1420041010050500013M02606", "a@b.co", "jane.doe@example.com", "jane at example dot com", "jane [at] example.com", "a@b", "x@2x.png", "jane@example.com.", "ja ne@example.com",
    "a@b.co吧", "a@b.co-吧", "邮a@b.org", "a@例え.jp", '"a b"@c.org', "a@[1.2.3.4]", "a at b dot org", "a@b-\nc.org", "a.\nb@c.org", "git@host.org:x", "o'brien@x.ie", "a@b.c",
    "a+b%c@d.org", "a@@b.org", "a@b.org.uk", "a@b.-org", "a-b-@c-d.org", "a@b..org", "%a@b.org", "a@b.|org", "a@b.\norg", "a(at)b.org", "a @ b.org", "a@ b.com", "a &amp; b@c.org",
)  # fmt: skip


def sign(place: str, value: str, name: str = "") -> str:
    """How a value is judged in a place."""
    text = place.format(n=name, v=value)
    clean = redact.clean(text)
    if clean == text:
        return "."
    kinds = ("secret", "phone", "card", "iban", "email")
    return next((kind[0] for kind in kinds if clean == place.format(n=name, v=f"[redacted:{kind}]")), "?")


def named() -> dict[str, str]:
    """Every value in every place under every name: a row for each name and place."""
    return {
        f"{name} in {place!r}": "".join(sign(place, value, name) for value in VALUES)
        for name in NAMES
        for place in PLACES
    }


def alone() -> dict[str, str]:
    """Every number and address in its contexts: a row for each context."""
    return {repr(place): "".join(sign(place, value) for value in NUMBERS) for place in CONTEXTS}


def partly() -> dict[str, str]:
    """What is left of the numbers and addresses that are hidden in part."""
    texts = [place.format(v=value) for place in CONTEXTS for value in NUMBERS if sign(place, value) == "?"]
    return {text: redact.clean(text) for text in texts}


def main() -> None:
    """Write the tables."""
    kept = {"values": VALUES, "named": named(), "numbers": NUMBERS, "alone": alone(), "partly": partly()}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
