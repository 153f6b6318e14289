"""Where the judgement turns: on either side of each length, count and share, one value that is hidden and one that stays."""

from __future__ import annotations

import pytest

from smart_context import redact
from smart_context.redact import codes, values


@pytest.mark.parametrize(
    ("judge", "yes", "no"),
    [
        (values.is_phrase, ["amber boat cliff", "amber boat cliff dune"], ["amber boat", "amber boat the", "Amber boat cliff", "amber boat c-d"]),
        (values.is_placeholder, ["", "put x here", "put x!#$ here", "'required'", "x_here", "<abc>", "your"], ["put x!#$% here", "yours", "hunter2"]),
        (values.is_random, ["ab12", "abc12", "abcde1", "AbCdEf", "qzxvbnmkjw", "QzXvBnMkLpTr"], ["aaaaa1", "aabb1", "abcab1", "aaBB", "ABcdef", "qzxvbnmkj", "remontelas"]),
        (values.is_generated, ["a1b2c3d4e5f6g7", "qzxvbnmkjwqzxv"], ["a1b2c3d4e5f6g", "aabbccdd1122aa", "remontelasiremon"]),
        (values.is_mixed, ["aB3qZ7xK9wLm", "aB3qZ7xK9wLmQ", "a1B2c3D4e5F6"], ["aB3qZ7xK9wL", "aB3qzzxkqwlm", "a1b2c3d4e5fA", "aB3qZ7xK9wLm-remontelas", "Qz1abcdefghijklmXq7Zk9"]),
        (values.is_strong, ["abcdef1!", "ab1cd2ef", "Ab1Cdefg", "abcdefg1hijklmnopqrs"], ["abcd123", "abcd1234", "ab12cd34", "a1b2c3d", "!bcdefg1", "abcdefg1hijklmnopqr", "abcdefg!"]),
        (values.is_password, ["abc", "1-2.3"], ["ab", "2024-05-01", "1.2.3", "required"]),
        (values.is_code, ["qzxvbnmkjwq", "remontelasir", "a.b", "foo_token", "abc;", "a(b)", "my_api_key"], ["qzxvbnmkjwqz", "foo_bar", "a1"]),
    ],
)  # fmt: skip
def test_a_value_is_judged_by_its_length_its_variety_and_its_order(judge, yes, no):
    assert [value for value in yes if not judge(value)] == []
    assert [value for value in no if judge(value)] == []


@pytest.mark.parametrize(
    ("value", "share"),
    [("", 0.0), ("a", 0.0), ("ab", 0.0), ("aB", 0.0), ("12", 0.0), ("q-x", 0.0), ("qx", 1.0), ("a1", 1.0), ("abqx", 2 / 3)],
)  # fmt: skip
def test_the_share_of_rare_neighbours_is_counted_among_letters_and_digits(value, share):
    assert values.oddness(value) == pytest.approx(share)


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("password: a1b2", "password: ab1"),
        ("password=abcde\n", "password=abcd\n"),
        ("password is a!bcde", "password is a!bcd"),
        ("password ab1cd2ef", "password abcd1234"),
        ("password = 'amber boat cliff'", "password = 'amber boat'"),
        ("password = 'A1 b2 c3D4'", "password = 'A1 b2 c3 D4'"),
        ("secret=12345678", "secret=1234567"),
        ("token=1234567890123456", "token=123456789012345"),
        ('secret="12345678"', 'secret="1234567"'),
        ('token="1234567890123456"', 'token="123456789012345"'),
        ('secret="a1b2c3"', 'secret="a1b2c"'),
        ("secret=a1b2c3", "secret=a1b2c3 and more"),
        ("secret=abcdefgh1ijklmno and more", "secret=abcdefg1hijklmn and more"),
        ("token is ab1cd2ef", "token is abcd1234"),
        ("user\tpassword\nbob\tab1c\n", "user\tpassword\nbob\tab1\n"),
        ("user\ttoken\nbob\ta1b2c3d4\n", "user\ttoken\nbob\ta1b2c3d\n"),
        ("password\nabcde1\n", "password\nabcd1\n"),
        ("password\nabcd12\n", "password\nabab12 x\n"),
        ("password\naab112\n", "password\naaa111\n"),
        ("api key\nabcdefg1\n", "api key\nabcdef1\n"),
        ("api_key,abcdefg1\n", "api_key,abcdef1\n"),
        ("| secret | abcde1 |\n", "| secret | abcd1 |\n"),
        ("PHPSESSID=a1b2c3d4e5f6g7h8\n", "PHPSESSID=hello\n"),
        ('secret="remontalremontal"', 'secret="remontaremontare"'),
        ('secret="remontelasiremon"', 'secret="remontalremonta"'),
        ("authorization: negotiate a1b2c3d4e5f6g7h8", "authorization: negotiate abc"),
        ("authorization: negotiate a1b2c3d4e5f6g7h8", "we negotiate a1b2c3d4e5f6g7h8"),
        ("password: abcd efgh ijkl mnop", "password: abcd efgh ijkl mnop qrst"),
    ],
)
def test_a_value_is_hidden_from_a_length_or_a_mixture_on(hidden, shown):
    assert "[redacted:secret]" in redact.clean(hidden)
    assert redact.clean(shown) == shown


def numbered(prefix: str, length: int) -> str:
    """A number with its check digit."""
    body = prefix + "031742968503174296850"[: length - 1 - len(prefix)]
    return next(body + digit for digit in "0123456789" if luhn(body + digit))


def luhn(number: str) -> bool:
    doubled = [int(c) * (1 + at % 2) for at, c in enumerate(reversed(number))]
    return sum(n // 10 + n % 10 for n in doubled) % 10 == 0


# Of each issuer: how its numbers begin, at both ends of a range, and how long they are.
ISSUED = {
    "4": {16, 19}, "51": {16}, "55": {16}, "2221": {16}, "2720": {16}, "2200": {16}, "2204": {16}, "34": {15}, "37": {15},
    "6011": {16, 17, 18, 19}, "64": {16, 17, 18, 19}, "65": {16, 17, 18, 19}, "62": {16, 17, 18, 19}, "81": {16, 17, 18, 19},
    "60": {16, 17, 18, 19}, "82": {16, 17, 18, 19}, "3528": {16, 17, 18, 19}, "3589": {16, 17, 18, 19},
    "36": {14, 16}, "38": {14, 16}, "39": {14, 16}, "300": {14, 16}, "305": {14, 16},
    "50": set(), "56": set(), "2220": set(), "2721": set(), "2199": set(), "2205": set(), "35": set(), "3527": set(), "3590": set(),
    "306": set(), "61": set(), "66": set(), "70": set(), "80": set(), "83": set(), "1": set(),
}  # fmt: skip
NAMED = {"4": {13, 16, 19}, **{begins: set(range(13, 20)) for begins in ("50", "56", "61", "63", "66", "69")}}


@pytest.mark.parametrize("prefix", ISSUED)
def test_a_card_begins_and_is_as_long_as_its_issuer_has_it(prefix):
    found = {
        length for length in range(12, 21) if "[redacted:card]" in redact.clean(f"pay {numbered(prefix, length)}.")
    }
    assert found == ISSUED[prefix]


@pytest.mark.parametrize("prefix", NAMED)
def test_a_word_for_a_card_lets_more_numbers_be_one(prefix):
    found = {
        length for length in range(12, 21) if "[redacted:card]" in redact.clean(f"card {numbered(prefix, length)}")
    }
    assert found == NAMED[prefix]


@pytest.mark.parametrize(
    ("groups", "is_card"),
    [
        ("4 4 4 4", True), ("8 8", True), ("4 4 4 3", False), ("5 5 6", False), ("2 4 4 6", False), ("6 10", False), ("3 3 3 3 4", False),
    ],
)  # fmt: skip
def test_a_card_without_a_word_for_it_has_the_groups_of_a_card(groups, is_card):
    number, parts, at = numbered("4", 16), [], 0
    for size in map(int, groups.split()):
        parts.append(number[at : at + size])
        at += size
    for sign in (" ", "-"):
        text = sign.join(parts)
        assert ("[redacted:card]" in redact.clean(text)) is is_card
        assert "[redacted:card]" in redact.clean(f"card: {text}") or at < 16


@pytest.mark.parametrize(
    ("prefix", "groups", "others"),
    [
        ("4", "4 4 4 4", "5 4 4 3"), ("37", "4 6 5", "4 5 6"), ("36", "4 6 4", "4 4 6"), ("4", "4 4 4 4 3", "4 4 4 5 2"), ("6011", "6 13", "13 6"), ("4", "8 8", "7 9"),
    ],
)  # fmt: skip
def test_a_card_has_the_groups_that_its_issuer_prints(prefix, groups, others):
    for layout, is_card in ((groups, True), (others, False)):
        sizes = [int(size) for size in layout.split()]
        number, at, parts = numbered(prefix, sum(sizes)), 0, []
        for size in sizes:
            parts.append(number[at : at + size])
            at += size
        for sign in (" ", "-"):
            assert (redact.clean(f"pay {sign.join(parts)}.") == "pay [redacted:card].") is is_card


@pytest.mark.parametrize("size", [31, 32, 33, 60])
def test_a_mixed_string_that_nothing_names_is_hidden_from_32_characters_on(size):
    text = f"see {'q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFgA1eU5tV0aB3qZ7xK9wLmQ2nD8fG4hJ6kL'[:size]} here"
    assert (redact.clean(text) == "see [redacted:secret] here") is (size >= 32)


def test_a_row_of_numbers_is_no_card_but_a_check_code_may_follow_one():
    card = " ".join(numbered("4", 16)[at : at + 4] for at in range(0, 16, 4))
    for hidden in (card, f"{card} 123", f"{card} 1234", numbered("4", 16), f"12 {numbered('4', 16)}"):
        assert "[redacted:card]" in redact.clean(hidden)
    for shown in (f"{card} 12345", f"{card} 123 45", f"12 {card}", "4444444444444444", f"{card}7"):
        assert redact.clean(shown) == shown


# Of each country with such accounts: the letters and digits of one, as the registry of ISO 13616 says.
IBANS = """
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18
    FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27
    MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27
    SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
""".split()  # noqa: SIM905


def account(country: str, length: int) -> str:
    body = "7401852963074185296307418529630"[: length - 4]
    rest = int("".join(str(int(c, 36)) for c in f"{body}{country}00")) % 97
    return f"{country}{98 - rest:02d}{body}"


@pytest.mark.parametrize("known", IBANS)
def test_an_account_of_every_country_is_hidden_at_its_length(known):
    country, length = known[:2], int(known[2:])
    for size in (length - 1, length, length + 1):
        found = list(codes.ibans(account(country, size), [0]))
        assert found == ([(0, size)] if size == length else [])
    assert sorted(IBANS) == IBANS


@pytest.mark.parametrize("gap", ["", " ", "  ", "-", " - ", ".", "\n", " \r\n  "])
def test_an_account_is_read_over_the_gaps_that_people_write(gap):
    whole = account("DE", 22)
    text = gap.join(whole[at : at + 4] for at in range(0, 22, 4))
    assert list(codes.ibans(f"to {text}, please", [3])) == [(3, 3 + len(text))]
    assert list(codes.ibans(text[:-1] + str((int(text[-1]) + 1) % 10), [0])) == []
    assert list(codes.ibans(f"{text}x", [0])) == []


# "§": what is hidden.
NUMBERS = """
tel 123456 -> tel §
tel 12345
tel 123456789012345 -> tel §
tel 1234567890123456
a 030 123456 b -> a § b
a 030 12345 b
a 030 123456789 b -> a § b
a 030 1234567890 b
a 0301234567 b
a 030 12 34 56 7 b -> a § b
a 030 12 3 4 5 6 b
212-555-0187 -> §
212 555 0187 -> §
(212) 555-0187 -> §
212 555-0187 -> §
212/555-0187 -> §
212.555.0187 -> §
212.555-0187
212-555-018
1 212-555-0187 -> §
x-212-555-0187
212-555-0187-1
212-555-0187 1 -> § 1
1 212 555 0187 1
+49 30 1234567 -> §
+12345678 -> §
+1234567
+1234567890123456
+49 30 123 -> §
0049 30 1234567 -> §
+49 (0)30 1234567 -> §
12345-6789
tel 12345-6789 -> tel §
2024-05-01 030 1234567
0100 0200 0300
12:030 1234567
call 2125550187 -> call §
2125550187
2125550187 (home) -> § (home)
2125550187, mobile -> §, mobile
tel|030 1234567 -> tel|§
tel 030 123|4567 -> tel §
tel 030 1234|567 89 -> tel §|567 89
tel: 5|551234 -> tel: §
+49 30|1234567 -> §
030|1234567
tel 1 2 3 4 5 6 7 8 9 -> tel § 9
tel 030 1234567|(0171) 2345678 -> tel §|§
""".strip().splitlines()
ADDRESSES = """
a@b.co -> §
a@b.c
a@b
a@b.x1
a@b.xn--p1ai -> §
x@y.png
a@2x.com
git@host.org -> §
git@host.org:x
$a@b.org
a @ b.org -> §
a @ b.xyz
a@ b.org -> §
a@| b.org -> §
a@b.|org -> §
a@b.|Org
a@b-|c.org -> §
a@b.c-|d.org -> §
a@b.co|d.org -> §|d.org
a@b|c.org -> §
a.|b@c.org -> §
ab|c@d.org -> ab|§
"a b"@c.org -> §
a at b dot org -> §
a at b.org
a [at] b.org -> §
a[at]b[dot]org -> §
a [ at ] b.org -> §
a ( at ) b dot org -> §
a <at> b.org -> §
a [at ] b.org -> §
a at ] b.org
.a@b.org -> .§
'a@b.org -> '§
a@[1.2.3.4] -> §
a@[1.2.3]
邮a@b.org吧 -> 邮§吧
é@b.fr -> §
""".strip().splitlines()


@pytest.mark.parametrize(("kind", "row"), [("phone", row) for row in NUMBERS] + [("email", row) for row in ADDRESSES])
def test_a_number_or_an_address_is_hidden_to_its_ends_and_what_is_none_stays(kind, row):
    text, _, expected = row.replace("|", "\n").partition(" -> ")
    assert redact.clean(text).replace(f"[redacted:{kind}]", "§") == (expected or text)


@pytest.mark.parametrize("size", [63, 64])
def test_a_label_of_a_host_has_63_characters_at_most(size):
    assert ("[redacted:email]" in redact.clean(f"a@{'y' * size}.org")) is (size == 63)


@pytest.mark.parametrize(
    "text",
    [
        "+49 30 1234567\n030 7654321",
        "Phones:\n+49 30 1234567\n030 7654321\n0171 2345678\n",
        "+43 1 58858\n01 71100700\n",
    ],
)
def test_no_end_of_a_number_shows_because_the_one_above_it_could_go_on_there(text):
    assert not any(character.isdigit() for character in redact.clean(text))
