"""The page that shows results inside an MCP client: one self-contained HTML document.

In: the page's own files.  Out: the document as text.
Always: it loads nothing, from anywhere; the only script and style that it runs are those it carries, by their hashes. It needs no template
engine, so that every server has it.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources


@cache
def html() -> str:
    """The document."""
    page = _file("in-client.html")
    for name, mark in (("page.css", "STYLE"), ("in-client.js", "SCRIPT")):
        text = "\n" + _file(name)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        page = page.replace(f"{{{mark}_HASH}}", f"'sha256-{digest}'").replace(f"{{{mark}}}", text)
    return page


def _file(name: str) -> str:
    return (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")
