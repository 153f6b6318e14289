"""`context watch` in a real terminal: what was read, what was embedded, and how it ends."""

from __future__ import annotations

import signal
import sys

import pytest

pytest.importorskip("onnxruntime", reason="the extra [semantic] is not installed")
pytest.importorskip("tokenizers", reason="the extra [semantic] is not installed")

import tiny_encoder
from conftest import clean_env
from terminal import Terminal


def test_a_watch_tells_what_it_read_and_embedded_and_ends_with_a_word(tree, tmp_path):
    root = tree({"cats.txt": "the cat sleeps all day\n", "drive.txt": "an automobile on the road\n"})
    env = {
        **clean_env(tmp_path),
        "SMART_CONTEXT_SEMANTIC_MODEL_DIR": str(tiny_encoder.write(tmp_path / "models/tiny")),
        "SMART_CONTEXT_ROOTS": str(root),
    }
    command = [sys.executable, "-m", "smart_context"]
    with Terminal([*command, "watch"], env, root, 80, 24) as terminal:
        terminal.until("watching ~/tree; stop with Ctrl-C")
        terminal.until("~/tree: 2 indexed in ")
        terminal.until("2 of 2 segments embedded")
        (root / "more.txt").write_text("a kitten by the sea\n", encoding="utf-8")
        terminal.until("~/tree: 1 indexed in ")
        terminal.until("3 of 3 segments embedded")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.until_it_ends() == 130
        assert "ended; what was read is kept and can be searched" in terminal.lines
    with Terminal([*command, "status"], env, root, 80, 24) as terminal:
        terminal.until("meaning: 3 of 3 segments embedded with tiny")
        assert terminal.until_it_ends() == 0
