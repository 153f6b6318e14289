"""Secrets in a folder that is indexed: none shows in the snippet of a search or in a preview, however it is written."""

from __future__ import annotations

import html
import json
import urllib.parse

import pytest

from smart_context.api import App
from smart_context.settings.config import Settings

SECRET = "Xk9$hünter😀2&'Zq="


def quoted_printable(text: str) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 and byte != ord("=") else f"={byte:02X}" for byte in text.encode())


WAYS = {
    "plain": str,
    "json": lambda text: json.dumps(text)[1:-1],
    "json-all": lambda text: "".join(f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else json.dumps(c)[1:-1] for c in text),
    "html": html.escape,
    "html-all": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "address": lambda text: urllib.parse.quote(text, safe=""),
    "address-in-html": lambda text: html.escape(urllib.parse.quote(text, safe="&")),
    "mail": quoted_printable,
}
ESCAPED = {
    f"{one} {other}.txt": f'password = "{WAYS[one](SECRET)}"\nLater in the text: {WAYS[other](SECRET)} stands alone.\n'
    for one in WAYS
    for other in WAYS
}
VALUE = "hunter2Xk9"
SIGNS = (
    ", ", "/", " / ", "#", " # ", "+", " + ", "&", " & ", "! ", " ! ", "—", " — ", "»", " » ", "«", " <= ", "; ", ";", " ⟶ ", "⟶", ". ", "? ", " · ", " :- ", " =: ", " ",
)  # fmt: skip
AFTER_SIGNS = {f"sign {number}.txt": f"For the Password{sign}{VALUE} we asked.\n" for number, sign in enumerate(SIGNS)}
LABELS = {f"label {number}.txt": f"Passwort{sign}{VALUE}\nMore.\n" for number, sign in enumerate(SIGNS)}
BRACKETS = {
    f"bracket {number}.txt": f"Here is the {text} we use.\n"
    for number, text in enumerate(
        ["password (hunter2)", "pw [abc123]", "Password {hunter2}", "Passwort <abc123>", 'password ("hunter2")', "パスワード「hunter2」"]
    )
}  # fmt: skip
TOKENS = (
    "gh" + "p_Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6",
    "sk-pr" + "oj-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz1",
    "AKI" + "AIOSFODNN7EXAMPLQ",
)
CUTS = {
    f"cut {number} {place} {gap}.txt": f"see {token[:place]}{between}{token[place:]} there\n"
    for number, token in enumerate(TOKENS)
    for place in (10, 13, 14, 16)
    for gap, between in enumerate((" ", "  ", "\t", " | ", "|", ",", '","', "\n"))
}
MARKS = "\u0301\u0336\u20dd\u0489\u0951\u064b\u0e34\u3099\u200b\u2060\u00ad"
MARKED = {
    f"mark {number} {place} {ord(sign):x}.txt": f"see {token[:place]}{sign}{token[place:]} there\n"
    for number, token in enumerate(TOKENS)
    for place in (8, 12)
    for sign in MARKS
}
NAMED = {f"name {ord(sign):x}.txt": f"pass{sign}word: {VALUE}\n" for sign in MARKS}
MARKUP = {
    f"markup {number} {value}.{kind}": text.replace("@", value) + "\n"
    for number, text in enumerate([
        "<label>Password</label> <code>@</code>", "<table><tr><th>Password</th><td>@</td></tr></table>", "<dl><dt>Password</dt><dd>@</dd></dl>", "<div>Password:</div>\n<div class='x'><b>@</b></div>",
        '<input type="password" name="q" value="@">', "<input value=@ type=password>", "<label>Passwort</label><input value='@'>", "<li>Password <em>@</em></li>", "<h2>Password</h2><p>@</p>", "<p>Password<br>@</p>",
    ])
    for value in ("hunter2Xk9", "abc123")
    for kind in ("md", "html", "txt", "vue")
    if kind != "html" or value == VALUE or number not in {0, 6, 7}  # there, only a space is left between the two
}  # fmt: skip
GLUED = {f"glued {number}.html": text for number, text in enumerate(["<p><b>Password</b><tt>hunter2Xk9</tt></p>\n", "<p><label>Passwort</label><code>hunter2Xk9</code></p>\n"])}  # fmt: skip
FILES = ESCAPED | AFTER_SIGNS | LABELS | BRACKETS | CUTS | MARKED | NAMED | MARKUP | GLUED


def word(number: int) -> str:
    """A word of letters alone, which no other number has."""
    return "zq" + "".join("bdfgklmnpr"[int(digit)] + "ao" for digit in f"{number:03}")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What a search and a preview show of each file."""
    base = tmp_path_factory.mktemp("secrets")
    root = base / "root"
    root.mkdir()
    for number, (name, text) in enumerate(FILES.items()):
        (root / name).write_text(f"{word(number)}\n\n{text}", encoding="utf-8", newline="")
    found: dict[str, tuple[str, str]] = {}
    with App(Settings(roots=(str(root),), data_dir=str(base / "data"))) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        for number, name in enumerate(FILES):
            item = app.search_files(word(number))["items"][0]
            assert item["path"].endswith(name)
            preview = app.open_file(item["path"], item["pointer"], 4000, 4000)["preview"]
            found[name] = item["snippet"], preview.partition("\n\n")[2]
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_that_is_told_in_one_way_of_writing_is_hidden_in_every_other(shown, way):
    for other in WAYS:
        snippet, preview = shown[f"{way} {other}.txt"]
        assert snippet.endswith(' password = "[redacted:secret]" Later in the text: [redacted:secret] stands alone.')
        assert preview == 'password = "[redacted:secret]"\nLater in the text: [redacted:secret] stands alone.\n'


@pytest.mark.parametrize("number", range(len(SIGNS)))
def test_what_is_clearly_a_secret_is_hidden_after_a_label_and_any_sign(shown, number):
    sign = SIGNS[number]
    assert shown[f"sign {number}.txt"][1] == f"For the Password{sign}[redacted:secret] we asked.\n"
    assert shown[f"label {number}.txt"][1] == f"Passwort{sign}[redacted:secret]\nMore.\n"
    for name in (f"sign {number}.txt", f"label {number}.txt"):
        assert VALUE not in shown[name][0]


@pytest.mark.parametrize("name", BRACKETS)
def test_a_weak_password_in_brackets_is_hidden(shown, name):
    for one in shown[name]:
        assert "hunter2" not in one
        assert "c123" not in one
        assert "[redacted:secret]" in one


@pytest.mark.parametrize("name", [*CUTS, *MARKED])
def test_a_token_that_a_space_the_border_of_a_cell_or_a_mark_cuts_is_hidden_whole(shown, name):
    snippet, preview = shown[name]
    assert snippet.endswith(" see [redacted:secret] there")
    assert preview == "see [redacted:secret] there\n"


@pytest.mark.parametrize("name", NAMED)
def test_a_mark_in_a_name_splits_nothing(shown, name):
    assert shown[name][1] == NAMED[name].replace(VALUE, "[redacted:secret]")
    assert VALUE not in shown[name][0]


@pytest.mark.parametrize("name", [*MARKUP, *GLUED])
def test_a_password_beside_its_label_in_markup_is_hidden(shown, name):
    for one in shown[name]:
        assert "hunter2" not in one
        assert "Xk9" not in one
        assert "abc123" not in one
