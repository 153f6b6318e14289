"""Nothing that changes an answer is silent: what an answer says besides its results."""

from __future__ import annotations

import shutil

import pytest

from smart_context.api import App
from smart_context.model import Caller
from smart_context.page import search as page
from smart_context.settings.config import Settings


@pytest.fixture
def app(tmp_path):
    for name in ("indexed", "never", "away"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"A gryphon of the folder {name}.", encoding="utf-8")
    settings = Settings(
        roots=tuple(str(tmp_path / name) for name in ("indexed", "never", "away")), data_dir=str(tmp_path / "data")
    )
    with App(settings) as opened:
        for name in ("indexed", "away"):
            opened.index_here(str(tmp_path / name), full=False, on_progress=lambda _step: None)
        shutil.move(tmp_path / "away", tmp_path / "elsewhere")
        yield opened


def test_roots_that_were_never_indexed_or_are_away_are_named_wherever_an_answer_is_given(app, tmp_path):
    never = f"not searched, because it was never indexed: {tmp_path}/never"
    away = f"cannot be reached now, so that its last index answers: {tmp_path}/away"
    answer = app.search_files("gryphon")
    assert answer["notes"] == [never, away]
    assert len(answer["items"]) == 2
    assert app.search_files("gryphon", roots=(f"{tmp_path}/indexed",)).get("notes") is None
    guest = Caller("guest", roots=(f"{tmp_path}/indexed",), is_owner=False)
    assert "notes" not in app.search_files("gryphon", caller=guest)
    seen = page.view(app, page.Asked("gryphon"), Caller("owner"), lambda: None)
    assert seen.notes == (never, away)


def test_what_was_read_dropped_or_replaced_is_said(app):
    said = app.search_files("gryphom since 2030")["notes"]
    assert said[0] == "nothing matches with dates since 2030-01-01; dates since 2030-01-01 was given up"
    assert said[1].startswith("nothing has 'gryphom'; looked for ")
