"""The verbs both faces call: previews of files that are read anew."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from smart_context import config
from smart_context.api import App
from smart_context.errors import CallTimeout


def processes() -> set[str]:
    own = Path(f"/proc/{os.getpid()}/task")
    if not own.exists():
        pytest.skip("needs /proc to see the reading processes")
    return {pid for thread in own.iterdir() for pid in (thread / "children").read_text(encoding="ascii").split()}


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
    assert processes() == before


def test_a_caller_who_gives_up_does_not_spoil_the_next_preview(app):
    [root] = app.roots.names

    def stop() -> None:
        raise CallTimeout("enough")

    with app:
        with pytest.raises(CallTimeout):
            app.open_file(f"{root}/1.txt", stop=stop)
        assert app.open_file(f"{root}/2.txt")["preview"] == "text 2"
