"""A label with its value beside or below it, in files as they are read: the value is hidden though it is weak."""

from __future__ import annotations

import pytest

import office_files
from smart_context import redact
from smart_context.model import Extracted, Limits
from smart_context.redact import document
from smart_context.sources import extract
from smart_context.text import segment

VALUE = "abcd12XYZ9"
TOKEN = "ghp_Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"


def shown(data: bytes, name: str) -> str:
    """What of a file may be shown, with its headings."""
    doc = extract.extract(data, name, Limits())
    assert isinstance(doc, Extracted)
    parts = document.judged(list(segment.cut(doc, 4000)), redact.Redactor())
    texts = [redact.part(one.text, [redact.Span(*span) for span in one.hidden], 0, len(one.text)) for one in parts]
    return "\n".join([one.heading for one in parts] + texts)


def cells(*rows: tuple[str, str]) -> str:
    return "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows)


def word_table(*rows: tuple[str, ...]) -> bytes:
    made = "".join(
        f"<w:tr>{''.join(f'<w:tc>{office_files.paragraph(cell)}</w:tc>' for cell in row)}</w:tr>" for row in rows
    )
    return office_files.docx(f"<w:tbl>{made}</w:tbl>")


def open_table(*rows: tuple[str, ...]) -> bytes:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    made = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    return office_files.odf("text", f'<table:table table:name="t">{made}</table:table>')


def sheet(*rows: tuple[str, ...]) -> bytes:
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'.format
    return office_files.xlsx({"S": "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)})


LABELLED, HEADED = (("Password", VALUE), ("User", "jane")), (("User", "Password"), ("jane", VALUE))
FILES = {
    "list.html": f"<dl><dt>Password</dt><dd>{VALUE}</dd><dt>User</dt><dd>jane</dd></dl>".encode(),
    "rows.html": f"<table>{cells(*LABELLED)}</table>".encode(),
    "columns.html": f"<table>{cells(*HEADED)}</table>".encode(),
    "paragraphs.html": f"<p>Password:</p><p>{VALUE}</p><p>User: jane</p>".encode(),
    "row.md": f"| password | {VALUE} |\n|---|---|\n| user | jane |\n".encode(),
    "made.md": f"| api_key | {VALUE} |\n|---|---|\n| user | jane |\n".encode(),
    "row.csv": f"Password,{VALUE}\nUser,jane\n".encode(),
    "quoted.csv": f'"Password","{VALUE}"\n"User","jane"\n'.encode(),
    "more.csv": f"admin password;{VALUE};x\nUser;jane;y\n".encode(),
    "column.csv": f"User,Password\njane,{VALUE}\n".encode(),
    "one.csv": f"Password\n{VALUE}\n{VALUE[::-1]}\njane\n".encode(),
    "row.tsv": f"Password\t{VALUE}\nUser\tjane\n".encode(),
    "below.txt": f"Password\n{VALUE}\nUser\njane\n".encode(),
    "apart.txt": f"**Password:**\n\n{VALUE}\n\nUser: jane\n".encode(),
    "row.docx": word_table(*LABELLED),
    "column.docx": word_table(*HEADED),
    "row.odt": open_table(*LABELLED),
    "column.odt": open_table(*HEADED),
    "row.xlsx": sheet(*LABELLED),
    "column.xlsx": sheet(*HEADED),
}


@pytest.mark.parametrize("name", FILES)
def test_the_value_of_a_label_is_hidden_and_what_is_beside_it_is_not(name):
    text = shown(FILES[name], name)
    assert VALUE not in text
    assert VALUE[::-1] not in text
    assert "[redacted:secret]" in text
    assert "jane" in text


@pytest.mark.parametrize(
    "text",
    [
        "Password\nrequired\n", "Password\n2024-05-01\n", "Password\nChapter 2 of 3\n", "Password\nabc12\n", "Password\nget_it(2)\n",
        "Use a password, abc123 or so\n", "password, md5sum and others\n", "Password,User\n", "Password,required\n", "Password;12\n",
        "Key\nchapter12\n", "See the password\nof chapter12\n", "Password\nhttps://a.example/x2\n", "Password\n/etc/x2\n",
    ],
)  # fmt: skip
def test_what_only_stands_beside_a_label_is_shown(text):
    assert redact.clean(text) == text


def test_a_token_that_a_line_break_cuts_in_a_heading_is_hidden_in_both():
    text = shown(f"<h1>{TOKEN[:17]}<br>{TOKEN[17:]}</h1><p>words</p>".encode(), "a.html")
    assert TOKEN[:17] not in text
    assert TOKEN[17:] not in text
    assert "words" in text


@pytest.mark.parametrize("cut", range(14, len(TOKEN)))
def test_a_token_that_a_space_cuts_is_hidden_where_what_follows_makes_it_whole(cut):
    assert redact.clean(f"see {TOKEN[:cut]} {TOKEN[cut:]} there") in {"see [redacted:secret] there", f"see [redacted:secret] {TOKEN[cut:]} there"}  # fmt: skip


@pytest.mark.parametrize("sign", ["\f", "\v", "\u0332", "\u20dd"])
@pytest.mark.parametrize("cut", [8, 15, 25])
def test_a_token_that_a_form_feed_or_a_drawn_mark_cuts_is_hidden(sign, cut):
    assert redact.clean(f"see {TOKEN[:cut]}{sign}{TOKEN[cut:]} there") == "see [redacted:secret] there"


@pytest.mark.parametrize("sign", ["\u0301", "\u0332", "\u20dd"])
def test_a_token_with_something_drawn_over_each_letter_is_hidden(sign):
    text = redact.clean(f"see {''.join(c + sign for c in TOKEN)} there")
    assert text.replace(sign, "") == "see [redacted:secret] there"


@pytest.mark.parametrize(
    "between",
    ["\t\t\t", "      ", " | | ", " - ", " – ", " ........ ", ".....", " … ", "____", " >> ", ":\t\t"],
)
def test_a_password_is_hidden_across_the_gap_that_a_form_or_a_list_leaves(between: str) -> None:
    for name in ("Password", "WLAN password", "passwort"):
        assert redact.clean(f"{name}{between}gT5r9pq8Zv\n") == f"{name}{between}[redacted:secret]\n"


def test_what_only_stands_across_a_gap_and_is_no_password_stays() -> None:
    for text in (
        "password - the report of sales2024",
        "Password ........ page 12",
        "password      never expires",
        "password  -----  ------",
    ):
        assert redact.clean(text) == text


def test_a_value_below_a_blank_line_of_json_is_hidden() -> None:
    assert redact.clean('{"a":1,"password":\n\n  "gT5r9pq8Zx"}') == '{"a":1,"password":\n\n  "[redacted:secret]"}'


SIGNS = [
    ";", "; ", " ; ", " , ", "~", " ~ ", " / ", " \\ ", "^", ">", " > ", ">>", " # ", " ! ", "  ", "\u3000\u3000", "\0", "\1",
    " ⟶ ", "→", "⟹", "⇨", "➜", " ➔ ", "►", " ▶ ", " ← ", " » ", "》", "…", " • ", " · ", "·", " – ", "‖", "═",
    "∶", "꞉", "﹕", "︓", "：", "＝", "﹦", " ≔ ", " ≡ ", "|", "│", " │ ", " ║ ", "┃", "¦", "❘", "｜", "\t:\t",
    " <- ", "<<-", "?=", " ?= ", " ??= ", " += ", " ||= ", "?: ", "__: ", "~~: ", " --> ", " ==> ", " set to ", " changed to ", " equals ",
]  # fmt: skip


@pytest.mark.parametrize("sign", SIGNS)
def test_a_password_is_hidden_after_any_sign_between_its_label_and_the_end_of_the_line(sign):
    for before, value in (("WLAN password", "hunter2xyz"), ("- **Passwort", "Sommer2024"), ("api_key", "gT5r9pq8ZvK2")):
        text = f"jane\n{before}{sign}{value}\nwords\n"
        cleaned = redact.clean(text)
        assert cleaned == f"jane\n{before}{sign}[redacted:secret]\nwords\n"
        assert redact.clean(cleaned) == cleaned


@pytest.mark.parametrize("sign", [" ⟶ ", "→", " ∶ ", " ⇨ ", " <- ", " ?= "])
def test_an_arrow_or_another_sign_that_assigns_needs_no_line_of_its_own(sign):
    assert redact.clean(f"user{sign}jane, password{sign}Sommer2024, and so on") == f"user{sign}jane, password{sign}[redacted:secret], and so on"  # fmt: skip


@pytest.mark.parametrize("pair", ["()", "[]", "{}", "<>", "「」", "【】"])
def test_a_password_in_brackets_after_its_name_is_hidden(pair):
    text = redact.clean(f"use the password {pair[0]}gT5r9pq8Zv{pair[1]} there")
    assert "gT5r9pq8Zv" not in text
    assert text.endswith(" there")


@pytest.mark.parametrize(
    "text",
    [
        "token/abc123\n", "password.py2\n", "password-reset2\n", "secret+abc123\n", "password#section2\n", "Password abcd1234\n", "password (RFC2617)\n", "the password, section2\n",
        "password, section2 and others\n", "password ; required\n", "Password ⟶ required\n", "password [optional2, see below]\n", "password <- get_it(user2)\n",
    ],
)  # fmt: skip
def test_what_stands_after_a_sign_and_is_no_password_of_a_label_stays(text):
    assert redact.clean(text) == text


@pytest.mark.parametrize("between", [",", ";", "\t", " | ", '","', " , ", "<br>", "<br/>"])
@pytest.mark.parametrize("cut", [18, 25, 35])
def test_a_token_that_the_border_of_a_cell_cuts_is_hidden_whole(between, cut):
    text = f"| {TOKEN[:cut]}{between}{TOKEN[cut:]} |\n"
    assert redact.clean(text) == "| [redacted:secret] |\n"


def test_what_stands_in_the_cell_after_a_whole_token_stays():
    assert redact.clean(f"{TOKEN},abc123XYZ9def456\n") == "[redacted:secret],abc123XYZ9def456\n"


@pytest.mark.parametrize(
    "text",
    [
        "Password  version2", "Password ; sha256", "Token  oauth2", "Password (base64)", "password (RFC2617)", "password (CVE-2024-53179)", "new password (bug#123456)", "password (v6.12.3)", "password (2024-05-01)", "credentials (a1b2c3d4)", "password (section-12)", "the password (at least 8 characters)", "pw[abc123]", "check_password (buffer2)",
        "password, Ed25519PrivateKey", "password, 2024-05-01T10", "password, v8.2.1-rc3", "password/user1234", "password, 0x1F3a9b22", "change_password, __pyx_t_4x9_2b", "x = password & mult_exp2", "one_of<int_token, paren_exp2>",
        '("password", "x9yk2mn4")', "Password, then username", "passwords, hunter2Xk9", "f(password + utf8mb4)", "The password! Version12 follows.",
    ],
)  # fmt: skip
def test_what_follows_a_label_in_prose_and_code_stays(text):
    for one in (text, f"See {text} there.", f"{text}\nmore\n"):
        assert redact.clean(one) == one


@pytest.mark.parametrize(
    "text",
    [
        "<th>Password</th><th>Version2</th>", "<td>password</td><td>varchar255</td>", "<td>Password</td><td>required</td>", "<label>Password</label><a href='x9'>Forgotten?</a>", "<label for='password'>Secret1234 of</label>",
        "<input type='password' name='pw1234' placeholder='abc1234'>", "<input type='text' value='abc1234'><p>password</p>", "passwd user1234", "Password manager", "Passwordless2Auth3X is new", "PasswordHashVersion2", "password_hash_sha512",
    ],
)  # fmt: skip
def test_what_is_no_password_in_markup_stays(text):
    assert redact.clean(text) == text
