"""The same text is shown once, with the other places where it stands."""

from __future__ import annotations

import random
import shutil

import pytest

from smart_context.api import App
from smart_context.find.model import SearchRequest
from smart_context.model import Caller
from smart_context.settings.config import Settings

WORDS = [
    f"{first}{last}" for first in ("wal", "her", "sal", "tur", "lin") for last in ("rus", "ring", "mon", "bot", "den")
]


def essay(seed: int, changed: float = 0.0) -> str:
    """A text of 180 words about a walrus, some of them changed."""
    drawn = random.Random(seed)
    words = [f"{drawn.choice(WORDS)}{drawn.randrange(40)}" for _ in range(180)]
    for at in drawn.sample(range(180), round(changed * 180)):
        words[at] = f"changed{at}"
    return "The walrus essay. " + " ".join(words)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    root = tmp_path_factory.mktemp("docs")
    for folder in ("a", "b", "secret"):
        (root / folder).mkdir()
    (root / "a" / "essay.txt").write_text(essay(1), encoding="utf-8")
    shutil.copy(root / "a" / "essay.txt", root / "b" / "copy.txt")
    shutil.copy(root / "a" / "essay.txt", root / "secret" / "copy.txt")
    (root / "b" / "wrapped.md").write_text(essay(1).replace(" ", "\n"), encoding="utf-8")
    (root / "b" / "version 2.txt").write_text(essay(1, 0.04), encoding="utf-8")
    (root / "b" / "other.txt").write_text(essay(2), encoding="utf-8")
    (root / "b" / "half.txt").write_text(essay(1, 0.5), encoding="utf-8")
    for number in range(3):
        (root / "a" / f"note {number}.txt").write_text(f"The stoat note says {number}.", encoding="utf-8")
    settings = Settings(roots=(str(root),), data_dir=str(tmp_path_factory.mktemp("data")))
    with App(settings) as opened:
        opened.index_here(str(root), full=False, on_progress=lambda _step: None)
        yield opened


def found(app, query, **more):
    answer = app.find(SearchRequest(query, **more), caller=more.pop("caller", Caller("owner"))).answer()
    root = app.roots.names[0]
    items = [
        (i["path"].removeprefix(f"{root}/"), [p.removeprefix(f"{root}/") for p in i.get("also", [])])
        for i in answer["items"]
    ]
    return items, answer["pagination"]["total_estimate"]


def test_copies_and_versions_are_shown_once_with_where_else_they_stand(app):
    items, total = found(app, "walrus essay", k=50)
    assert items[0][0] == "a/essay.txt"
    assert sorted(path for path, _ in items[1:]) == ["b/half.txt", "b/other.txt"]
    assert items[0][1] == ["b/copy.txt", "b/version 2.txt", "b/wrapped.md", "secret/copy.txt"]
    assert total == 3


def test_the_number_of_results_counts_a_text_once_on_every_page(app):
    for offset in range(3):
        items, total = found(app, "walrus essay", k=1, offset=offset)
        assert (len(items), total) == (1, 3)
    assert found(app, "walrus essay", k=1, offset=3) == ([], 3)
    assert found(app, "walrus essay", k=1)[0][0][1] == found(app, "walrus essay", k=50)[0][0][1]


def test_copies_can_be_shown_each_for_itself(app):
    items, total = found(app, "walrus essay", k=50, all_copies=True)
    assert (len(items), total) == (7, 7)
    assert not any(also for _, also in items)


def test_what_a_caller_may_not_see_is_named_nowhere_and_hides_nothing(app):
    root = app.roots.names[0]
    guest = Caller("guest", roots=(f"{root}/b",), is_owner=False)
    page = app.find(SearchRequest("walrus essay", 50), caller=guest)
    assert "secret" not in str(page.answer())
    assert "a/essay" not in str(page.answer())
    shown = [item.path.removeprefix(f"{root}/") for item in page.items]
    assert (shown[0], sorted(shown[1:])) == ("b/copy.txt", ["b/half.txt", "b/other.txt"])
    assert [path.removeprefix(f"{root}/") for path in page.items[0].also] == ["b/version 2.txt", "b/wrapped.md"]


def test_short_notes_that_differ_in_a_word_are_not_copies(app):
    assert len(found(app, "stoat note")[0]) == 3


def test_a_copy_that_is_gone_is_not_named(app, tmp_path):
    root = app.roots.names[0]
    kept = shutil.move(f"{root}/secret/copy.txt", tmp_path / "kept")
    try:
        assert "secret/copy.txt" not in found(app, "walrus essay")[0][0][1]
    finally:
        shutil.move(kept, f"{root}/secret/copy.txt")
