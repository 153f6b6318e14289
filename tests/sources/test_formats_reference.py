"""The reference page on formats says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from smart_context.sources import extract, sniff

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(extract.__file__).parent.glob("*.py")))


def test_every_reason_for_refusing_a_file_is_explained():
    reasons = set(re.findall(r'Refused\(\s*"([^"]+)"', SOURCES)) | {reason for reason, _ in extract.NO_TEXT.values()}
    assert sorted(reason for reason in reasons if f"`{reason}`" not in PAGE) == []


def test_every_extension_that_decides_is_listed():
    listed = set(re.findall(r"`(\.[a-z0-9.]+)`", PAGE))
    deciding = {
        extension for extension, kind in sniff._BY_EXTENSION.items() if kind not in {"code", "xml"}
    } | sniff._MAIL_EXTENSIONS
    assert sorted(deciding - listed) == []


def test_every_kind_of_pointer_is_shown():
    kinds = set(re.findall(r'Part\("(\w+)"', SOURCES)) | {"lines", "rows", "paragraphs", "attachment", "entry"}
    assert sorted(kind for kind in kinds if not re.search(rf"`[^`\n]*\b{kind}\b", PAGE)) == []
