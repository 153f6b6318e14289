"""Redaction over whole files: nothing of what is longer than a segment shows, by any way out."""

from __future__ import annotations

import base64
import random
import textwrap

import pytest

from smart_context.api import App
from smart_context.settings.config import Settings

WORDS = [
    "the",
    "office",
    "rent",
    "lease",
    "garden",
    "meeting",
    "budget",
    "server",
    "report",
    "travel",
    "summer",
    "river",
    "market",
    "winter",
]


def prose(rnd, chars):
    out = ""
    while len(out) < chars:
        out += " ".join(rnd.choice(WORDS) for _ in range(12)) + ".\n"
    return out


def key(rnd, bits):
    data = base64.b64encode(rnd.randbytes(bits // 8 * 9 // 2)).decode()
    lines = textwrap.wrap(data, 64)
    return "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(lines) + "\n-----END RSA PRIVATE KEY-----\n", lines


@pytest.fixture
def keys(tree, tmp_path):
    """24 files with a private key after some prose, and the lines of all keys."""
    rnd = random.Random(7)
    lines, files = [], {}
    for number in range(24):
        text, own = key(rnd, 4096 if number % 2 else 8192)
        lines += own
        files[f"notes {number}.txt"] = prose(rnd, 200 + 170 * number) + text + prose(rnd, 900)
    return tree(files), lines


def settings(root, tmp_path, **more):
    return Settings(roots=(str(root),), data_dir=str(tmp_path / "data"), **more)


def everything_shown(app, root):
    """Whatever searches and previews show of the files."""
    for word in ("rent", "office garden", "notes", "begin rsa private key", "end private key", "server -rent"):
        for offset in range(0, 100, 50):
            page = app.search_files(word, k=50, offset=offset)
            yield from (item["snippet"] for item in page["items"])
            for item in page["items"]:
                yield app.open_file(item["path"], item["pointer"], 4000, 4000)["preview"]
    for file in sorted(root.iterdir()):
        pointer = None
        while True:
            shown = app.open_file(str(file), pointer)
            yield shown["preview"]
            pointer = shown.get("next")
            if not pointer:
                break


def test_no_line_of_a_private_key_shows_anywhere(keys, tmp_path):
    root, lines = keys
    with App(settings(root, tmp_path)) as app:
        # Read anew, before there is an index.
        first = [app.open_file(str(file), None, 0, 0)["preview"] for file in sorted(root.iterdir())]
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        shown = "\n".join([*first, *everything_shown(app, root)])
    assert "rent" in shown
    assert "[redacted:secret]" in shown
    assert [line for line in lines if line in shown] == []
    # Nor half of a line.
    assert [line for line in lines if line[:20] in shown or line[-20:] in shown] == []


def test_new_patterns_hold_at_once_for_what_is_shown_and_for_good_after_the_next_run(tree, tmp_path):
    root = tree({"a.txt": "The falcon project is late.\n" * 40, "b.txt": "Nothing to see here, late.\n"})
    plain, strict = (settings(root, tmp_path, redaction=r) for r in _patterns())
    with App(plain) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        assert "falcon" in app.search_files("falcon")["items"][0]["snippet"]
    with App(strict) as app:
        (item,) = [item for item in app.search_files("late")["items"] if item["path"].endswith("a.txt")][:1]
        assert "falcon" not in item["snippet"]
        assert "falcon" not in app.open_file(item["path"])["preview"]
        report = app.index_here(str(root), full=False, on_progress=lambda _step: None)
        assert (report.indexed, report.skipped) == (0, 2)
        assert app.search_files("falcon")["items"] == []
        assert app.search_files("project")["items"]


def _patterns():
    from smart_context.settings.config import RedactionSettings

    return RedactionSettings(), RedactionSettings(patterns=("falcon",))


@pytest.mark.unmeasured
def test_tens_of_thousands_of_addresses_and_a_secret_of_many_pages_are_hidden(tree, tmp_path):
    rnd = random.Random(3)
    emails = [f"u{n}{rnd.randrange(10**6)}@example.org" for n in range(20_000)]
    text, lines = key(rnd, 8 * 40_000)
    root = tree({"many.txt": "\n".join(emails), "long.txt": "words before\n" + text + "words after\n"})
    with App(settings(root, tmp_path)) as app:
        assert app.index_here(str(root), full=False, on_progress=lambda _step: None).indexed == 2
        for name, first in (("many.txt", "@example"), ("long.txt", lines[40])):
            pointer = None
            for _ in range(5):
                shown = app.open_file(str(root / name), pointer)
                assert first not in shown["preview"]
                pointer = shown.get("next")
                if not pointer:
                    break
        page = app.search_files("words many long", k=50)
        assert all("@example" not in item["snippet"] for item in page["items"])
        assert not any(line in item["snippet"] for item in page["items"] for line in lines[::50])
