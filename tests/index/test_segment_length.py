"""The longest segment is as long as it is configured, whoever writes the index."""

from __future__ import annotations

import pytest

from smart_context.api import App
from smart_context.settings import config

TEXT = "\n\n".join(
    f"Paragraph {number} tells of the harbour and of the kettles that whistle there." for number in range(60)
)


@pytest.mark.parametrize("way", ["in this process", "in another"])
def test_no_segment_is_longer_than_the_setting_allows(tree, tmp_path, way):
    root = str(tree({"a.txt": TEXT}))
    flags = {"roots": (root,), "data_dir": str(tmp_path / "data"), "index.max_segment_chars": 250, "index.workers": 1}
    with App(config.load(flags, {"HOME": str(tmp_path)})) as app:
        if way == "in another":
            app.index_folder(root, on_progress=lambda _step: None)
        else:
            app.index_here(root, full=False, on_progress=lambda _step: None)
        record = app.index.record
        file = record.file(f"{root}/a.txt")
        assert file is not None
        texts = record.texts(segment.segment_id for segment in record.segments_of(file.file_id)).values()
        assert "".join(texts) == TEXT
        assert 200 < max(map(len, texts)) <= 250
