"""The verbs both faces call: previews of files that are read anew, searches that take turns."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from machine import children
from office_files import pdf_pages, shown
from smart_context.api import App
from smart_context.errors import BadRequest, CallCancelled, CallTimeout, NotFound
from smart_context.settings import config


def processes() -> set[int]:
    if not Path("/proc/self/task").exists():
        pytest.skip("needs /proc to see the reading processes")
    return children(os.getpid())


@pytest.fixture
def app(tree, tmp_path) -> App:
    root = tree({f"{i}.txt": f"text {i}" for i in range(8)})
    return App(config.load({"roots": (str(root),), "data_dir": str(tmp_path / "data")}, {"HOME": str(tmp_path)}))


def test_previews_of_unindexed_files_share_one_reading_process_and_leave_none(app):
    before = processes()
    [root] = app.roots.names
    with app, ThreadPoolExecutor(4) as callers:
        shown = list(callers.map(lambda i: app.open_file(f"{root}/{i}.txt")["preview"], range(8)))
        reading = processes() - before
    assert shown == [f"text {i}" for i in range(8)]
    assert len(reading) == 1
    assert processes() <= before


def test_a_caller_who_gives_up_does_not_spoil_the_next_preview(app):
    [root] = app.roots.names

    def stop() -> None:
        raise CallTimeout("enough")

    with app:
        with pytest.raises(CallTimeout):
            app.open_file(f"{root}/1.txt", stop=stop)
        assert app.open_file(f"{root}/2.txt")["preview"] == "text 2"


def test_a_preview_needs_the_record_alone(app, tmp_path):
    [root] = app.roots.names
    with app:
        app.index_folder(root, on_progress=lambda _step: None)
        for part in (tmp_path / "data" / "ranking").iterdir():
            part.write_bytes(b"damaged")
        os.rename(root, tmp_path / "unmounted")  # so that only the index has the text
        assert app.open_file(f"{root}/1.txt")["preview"] == "text 1"


def test_a_file_indexed_below_a_wider_root_is_shown_below_a_narrower_one(tree, tmp_path):
    root = tree({"inner/a.txt": "text"})
    home, data = {"HOME": str(tmp_path)}, str(tmp_path / "data")
    with App(config.load({"roots": (str(root),), "data_dir": data}, home)) as wide:
        wide.index_folder(str(root), on_progress=lambda _step: None)
    with App(config.load({"roots": (str(root / "inner"),), "data_dir": data}, home)) as narrow:
        assert narrow.open_file(str(root / "inner/a.txt"))["preview"] == "text"


def test_a_long_page_is_read_on_to_a_hit_far_down(tree, tmp_path):
    lines = [f"{n} ordinary words about nothing that stand on one line of a page" for n in range(150)]
    root = tree({"long.pdf": pdf_pages(shown("short"), shown(*lines, "the walrus sleeps", *lines))})
    with App(config.load({"roots": (str(root),), "data_dir": str(tmp_path / "data")}, {"HOME": str(tmp_path)})) as app:
        app.index_folder(str(root), on_progress=lambda _step: None)
        [found] = app.search_files("walrus")["items"]
        page = app.open_file(found["path"], found["pointer"])
        more = app.open_file(found["path"], page["next"])
    assert found["pointer"] == "page 2"
    assert page["truncated"]
    assert "walrus" not in page["preview"]
    assert "the walrus sleeps" in more["preview"]


def test_a_file_to_index_is_refused_with_the_folder_that_could_be(app):
    [root] = app.roots.names
    with app, pytest.raises(NotFound) as refused:
        app.index_folder(f"{root}/1.txt", on_progress=lambda _step: None)
    assert (refused.value.message, refused.value.hint) == (
        f"{root}/1.txt is a file, not a folder",
        f"index the folder that it is in: {root}",
    )


def test_a_search_that_waits_for_its_turn_ends_when_its_caller_goes(app):
    [root] = app.roots.names

    def gone():
        raise CallCancelled("nobody waits")

    with app:
        app.index_folder(root, on_progress=lambda _step: None)
        with ExitStack() as turns:
            for _ in range(2):
                turns.enter_context(app._turns.one(gone))
            with pytest.raises(CallCancelled):
                app.search_files("text", stop=gone)
        assert app.search_files("text")["items"]


def test_no_error_repeats_half_of_what_was_typed(app):
    """Redaction tells a whole token, and half of one from no word."""
    [root] = app.roots.names
    token = "ghp_q7Rk2ZpX9vLm4TnB8wYc3HdJ6sFgA1eU9bQz"
    refused = (
        lambda typed: app.open_file(f"{root}/1.txt", typed),
        lambda typed: app.search_files("text", years=[typed]),
        lambda typed: app.search_files("text", since=typed),
        lambda typed: app.summarize_results("text", [{"path": f"{root}/1.txt", "snippet": "text"}], typed),
    )
    with app:
        for call in refused:
            for before in range(0, 90, 6):
                with pytest.raises(BadRequest) as error:
                    call("x" * before + token)
                told = f"{error.value.message} {error.value.hint}"
                assert token in told or token[:9] not in told
