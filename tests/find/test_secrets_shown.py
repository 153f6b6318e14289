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
FILES = ESCAPED


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
        (root / name).write_text(f"{word(number)}\n{text}", encoding="utf-8", newline="")
    found: dict[str, tuple[str, str]] = {}
    with App(Settings(roots=(str(root),), data_dir=str(base / "data"))) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        for number, name in enumerate(FILES):
            item = app.search_files(word(number))["items"][0]
            assert item["path"].endswith(name)
            preview = app.open_file(item["path"], item["pointer"], 4000, 4000)["preview"]
            found[name] = item["snippet"], preview.partition("\n")[2]
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_that_is_told_in_one_way_of_writing_is_hidden_in_every_other(shown, way):
    for other in WAYS:
        snippet, preview = shown[f"{way} {other}.txt"]
        assert snippet.endswith(' password = "[redacted:secret]" Later in the text: [redacted:secret] stands alone.')
        assert preview == 'password = "[redacted:secret]"\nLater in the text: [redacted:secret] stands alone.\n'
