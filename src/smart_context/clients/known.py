"""The clients we can connect: where each keeps its servers, in which format, and what it accepts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Places:
    """Where a user's configuration lives; tests hand in folders of their own."""

    home: Path
    config: Path
    """The folder of per-application settings: `~/.config`, `~/Library/Application Support` or `%APPDATA%`."""
    platform: str = sys.platform
    moved: Mapping[str, str] = field(default_factory=dict)
    """The folders of clients whose settings were moved, by the variable that says so."""


@dataclass(frozen=True, slots=True)
class Client:
    """One MCP client.

    file: below `home` or `config`, by `base`. moved_by: the variable that names another folder for it.
    path: of the table of servers. fields: constant members of our entry.
    dotted: whether the client accepts a dot in a tool's name; those that do not get the names with an underscore.
    """

    name: str
    title: str
    base: Literal["home", "config"]
    file: str
    path: tuple[str, ...]
    fields: tuple[tuple[str, str], ...] = ()
    format: Literal["json", "jsonc", "toml"] = "json"
    dotted: bool = False
    moved_by: str = ""
    after: str = "Restart it to pick up the change."

    def settings(self, places: Places) -> Path:
        """Give the file that the client reads."""
        if folder := places.moved.get(self.moved_by):
            return Path(folder) / Path(self.file).name
        if self.name == "zed" and places.platform == "darwin":
            return places.home / ".config" / self.file
        return (places.home if self.base == "home" else places.config) / self.file


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client("claude-desktop", "Claude Desktop", "config", "Claude/claude_desktop_config.json", ("mcpServers",)),
        Client(
            "claude-code",
            "Claude Code",
            "home",
            ".claude.json",
            ("mcpServers",),
            (("type", "stdio"),),
            moved_by="CLAUDE_CONFIG_DIR",
        ),
        Client("vscode", "VS Code", "config", "Code/User/mcp.json", ("servers",), (("type", "stdio"),), format="jsonc"),
        Client("cursor", "Cursor", "home", ".cursor/mcp.json", ("mcpServers",), format="jsonc"),
        Client("codex", "Codex", "home", ".codex/config.toml", ("mcp_servers",), format="toml", moved_by="CODEX_HOME"),
        Client("gemini", "Gemini CLI", "home", ".gemini/settings.json", ("mcpServers",), format="jsonc", dotted=True),
        Client("zed", "Zed", "config", "zed/settings.json", ("context_servers",), format="jsonc"),
        Client("windsurf", "Windsurf", "home", ".codeium/windsurf/mcp_config.json", ("mcpServers",)),
    )
}
