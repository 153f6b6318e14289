"""An index of the first release: kept, judged and analysed again without reading a file, and never shown as it was."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from smart_context.api import App
from smart_context.errors import SearchFailed
from smart_context.settings.config import Settings

OLD = Path(__file__).with_name("index-v2.tar.xz")
ROOT = "/tmp/sc-old/docs"  # where its two files were; they are there no more


@pytest.fixture
def settings(tmp_path):
    with tarfile.open(OLD) as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "other").mkdir()
    return Settings(roots=(ROOT, str(tmp_path / "other")), data_dir=str(tmp_path / "data"))


def test_readers_wait_for_a_writer(settings):
    with App(settings) as app:
        with pytest.raises(SearchFailed):
            app.search_files("server")
        with pytest.raises(SearchFailed):
            app.open_file(f"{ROOT}/key.txt")


def test_the_next_run_judges_everything_and_keeps_the_text(settings):
    with App(settings) as app:
        app.index_here(settings.roots[1], full=False, on_progress=lambda _step: None)
        server = app.search_files("server office", k=50)["items"]
        assert {item["path"] for item in server} == {f"{ROOT}/key.txt"}
        assert app.search_files("lease")["items"][0]["path"] == f"{ROOT}/notes.txt"
        assert app.search_files("lease 2021")["items"]
        assert app.search_files("jane.doe@example.com")["items"][0]["path"] == f"{ROOT}/notes.txt"
        for query in ("tr0ub4dorzebra99", "tr0*", "jane", "doe*"):
            assert app.search_files(query)["items"] == []
        shown = [item["snippet"] for item in app.search_files("server key private nothing follows", k=50)["items"]]
        pointer = None
        while True:
            preview = app.open_file(f"{ROOT}/key.txt", pointer)
            shown.append(preview["preview"])
            if not (pointer := preview.get("next")):
                break
        row = app.index.record.file(f"{ROOT}/notes.txt")
        assert (row.author, row.dated, row.same_text) == ("", "", b"")
    words = " ".join(shown).split()
    assert max(map(len, words)) < 30
    assert "[redacted:secret]" in " ".join(shown)
