"""A folder whose mount is away, and one that was only emptied."""

from __future__ import annotations

from pathlib import Path

from smart_context.access import mounted


def test_a_folder_is_away_when_it_is_empty_on_another_device_or_not_there(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    assert not mounted.is_away(str(tmp_path), device)  # emptied
    assert mounted.is_away(str(tmp_path), device + 1)
    (tmp_path / "file").write_text("")
    assert not mounted.is_away(str(tmp_path), device)
    assert not mounted.is_away(str(tmp_path), device + 1)  # another disk in its place, with files of its own
    assert mounted.is_away(str(tmp_path / "gone"), device)
