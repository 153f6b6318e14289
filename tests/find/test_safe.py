"""What must not show of recorded text: by the rules in force, whatever rules it was recorded by."""

from __future__ import annotations

import pytest

from searching import indexed, no_stop
from smart_context import redact
from smart_context.find import safe
from smart_context.find.model import SearchRequest
from smart_context.find.search import find

STRICT = redact.Redactor([r"walrus-\d+"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("safe").resolve()
    (place / "root").mkdir()
    (place / "root" / "a.md").write_text(
        "# One\n\nThe stoat met walrus-12 and jane@example.com.\n\n# Two\n\nA stoat and walrus-34.\n", encoding="utf-8"
    )
    (place / "root" / "b.txt").write_text("No stoat here but this one.\n", encoding="utf-8")
    with indexed(place / "root", place / "data") as opened:
        yield opened


def shown(folder, redactor):
    page = find(folder.index, SearchRequest("stoat"), redactor=redactor, stop=no_stop)
    return sorted(item.snippet for item in page.items)


def test_a_snippet_hides_what_the_rules_in_force_hide(folder):
    other = "No stoat here but this one."
    assert shown(folder, redact.Redactor()) == [
        "# One The stoat met walrus-12 and [redacted:email].",
        "# Two A stoat and walrus-34.",
        other,
    ]
    assert shown(folder, STRICT) == [
        "# One The stoat met [redacted:custom] and [redacted:email].",
        "# Two A stoat and [redacted:custom].",
        other,
    ]
    assert shown(folder, None) == [
        "# One The stoat met walrus-12 and jane@example.com.",
        "# Two A stoat and walrus-34.",
        other,
    ]


@pytest.mark.parametrize(("redactor", "hidden"), [(redact.Redactor(), (1, 0)), (STRICT, (2, 1))])
def test_the_segments_of_a_file_come_in_reading_order_each_with_what_is_hidden(folder, redactor, hidden):
    record, _ = folder.index.both()
    file = record.file(str(folder.root / "a.md"))
    found = safe.segments(record, file, redactor)
    assert [(part.seq, part.heading, part.text.split()[1]) for part in found] == [(0, "One", "One"), (1, "Two", "Two")]
    assert tuple(len(part.hidden) for part in found) == hidden
