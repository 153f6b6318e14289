"""Looking at a place in a file: where the nearest matches are, and that what is hidden leads nowhere."""

from __future__ import annotations

import pytest

from smart_context.api import App
from smart_context.settings import config


@pytest.fixture
def app(tmp_path, tree):
    filler = "".join(f"line {number}\n" for number in range(1500))
    root = tree(
        {
            "open.txt": f"A walrus.\n{filler}Another walrus.\n{filler}",
            "hidden.txt": f"A walrus.\n{filler}walrus@sea.example\npassword = walrus-Xy7!q2Lp9\n{filler}",
        }
    )
    with App(config.load({"roots": (str(root),), "data_dir": str(tmp_path / "data")})) as app:
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        yield app, root


def test_the_next_match_is_the_nearest_place_with_a_sought_word(app):
    opened, root = app
    first = opened.look_at(str(root / "open.txt"), None, "walrus")
    assert (first.match_before, first.match_after != "") == ("", True)
    second = opened.look_at(str(root / "open.txt"), first.match_after, "walrus")
    assert "Another walrus." in second.text
    assert second.match_after == ""
    assert "A walrus." in opened.look_at(str(root / "open.txt"), second.match_before, "walrus").text


def test_what_is_hidden_is_not_led_to(app):
    opened, root = app
    assert opened.look_at(str(root / "hidden.txt"), None, "walrus").match_after == ""


def test_without_words_nothing_is_led_to(app):
    opened, root = app
    look = opened.look_at(str(root / "open.txt"))
    assert (look.match_before, look.match_after, look.after != "") == ("", "", True)
