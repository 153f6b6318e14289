"""What a server does by itself while nobody asks."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from conftest import PATIENCE
from smart_context.api import App
from smart_context.index import background
from smart_context.model import Stop
from smart_context.settings.config import Settings


class Told(App):
    """An App that says when its index has been tidied."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.tidied = threading.Event()

    def maintain_apart(self, stop: Stop) -> None:
        super().maintain_apart(stop)
        self.tidied.set()


def test_an_index_that_has_changed_is_tidied_without_being_asked(
    tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_UPKEEP_EVERY", 0.1)
    root = tree({"a.md": "one note"})
    settings = Settings(roots=(str(root),), data_dir=str(tmp_path / "data"))
    with Told(settings) as app:
        app.jobs.submit(str(root)).wait()
        with background.work(app, watch=False, report=print):
            assert app.tidied.wait(PATIENCE)
