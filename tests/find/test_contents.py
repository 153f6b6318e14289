"""What a file says now: the record answers for one that is as it was when it was read, and every other is read anew."""

from __future__ import annotations

import os

import pytest

from smart_context import engine, redact
from smart_context.access.roots import Roots
from smart_context.api import App
from smart_context.errors import NotFound
from smart_context.find.contents import Contents
from smart_context.model import Limits
from smart_context.settings.config import Settings


class Asked(Exception):
    """That a file is to be read."""


def reads():
    raise Asked


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    place = tmp_path_factory.mktemp("contents").resolve()
    (place / "root").mkdir()
    for name in ("a.txt", "longer.txt", "later.txt"):
        (place / "root" / name).write_text("one walrus\n", encoding="utf-8")
    (place / "root" / "b.bin").write_bytes(b"\x00\x01\x02" * 50)
    with App(Settings(roots=(str(place / "root"),), data_dir=str(place / "data"))) as opened:
        opened.index_here(str(place / "root"), full=False, on_progress=lambda _step: None)
        yield opened


@pytest.fixture
def recorded(app):
    """What the record says of a file; `Asked` where it would be read."""
    roots = Roots(app.roots.names)
    contents = Contents(engine.at(app.data_dir), roots, Limits(), reads, redact.Redactor)

    def say(name):
        return [part.text for part in contents.of(roots.inside(f"{roots.names[0]}/{name}"), lambda: None)]

    yield say
    contents.close()


def test_a_file_that_is_as_it_was_is_not_read_again(app, recorded):
    assert recorded("a.txt") == ["one walrus\n"]


@pytest.mark.parametrize("name", ["longer.txt", "later.txt", "new.txt"])
def test_a_file_that_has_changed_is_read(app, recorded, name):
    path = f"{app.roots.names[0]}/{name}"
    before = os.stat(path if os.path.exists(path) else f"{app.roots.names[0]}/a.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("two stoats, no\n" if name == "longer.txt" else "two stoats\n")
    time = before.st_mtime_ns + (0 if name == "longer.txt" else 1)
    os.utime(path, ns=(time, time))
    with pytest.raises(Asked):
        recorded(name)
    assert app.view_file(path).text.startswith("two stoats")


def test_of_a_root_that_is_away_the_record_answers(app, recorded, tmp_path):
    root = app.roots.names[0]
    os.rename(root, f"{root} elsewhere")
    try:
        assert recorded("a.txt") == ["one walrus\n"]
    finally:
        os.rename(f"{root} elsewhere", root)


def test_a_file_without_text_says_why_there_is_none(app):
    with pytest.raises(NotFound, match=r"no text could be read from .*b\.bin: "):
        app.open_file(f"{app.roots.names[0]}/b.bin")
    with pytest.raises(NotFound):
        app.open_file(f"{app.roots.names[0]}/none.txt")
    assert app.view_file(f"{app.roots.names[0]}/a.txt").text == "one walrus"
