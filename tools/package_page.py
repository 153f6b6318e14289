"""What a package index shows of README.md: the same page, with links that lead somewhere from there.

In: README.md, and `address` (pyproject.toml, `[tool.hatch.metadata.hooks.custom]`): where the files of this repository can be seen.
Out: the page that goes into the wheel and the source archive.
Always: no link is relative. Where there is no address, a link becomes its text, and a picture goes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_FENCE = re.compile(r"(^```.*?^```\n)", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)\n*")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)]+)\)")


class PackagePage(MetadataHookInterface):
    """Hatchling asks it for the page when it builds."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the page into a package's metadata."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": page(text, self.config.get("address", ""))}


def page(text: str, address: str) -> str:
    """README as it is read elsewhere; what stands between fences is nobody's link."""
    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _elsewhere(part, address.rstrip("/")) for part in parts)


def _elsewhere(text: str, address: str) -> str:
    if not address:
        return _LINK.sub(r"\1", _PICTURE.sub("", text))
    return re.sub(r"(\]\()(?!https?:|#)", lambda found: f"{found[1]}{address}/", text)
