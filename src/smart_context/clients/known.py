"""The clients we can connect: where each keeps its servers, in which format, and what it accepts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from smart_context.data import dataclass, field
from smart_context.settings import config


@dataclass(frozen=True, slots=True)
class Places:
    """Where a user's configuration lives; tests hand in folders of their own."""

    home: Path
    config: Path
    """The folder of per-application settings: `~/.config`, `~/Library/Application Support` or `%APPDATA%`."""
    platform: str = sys.platform
    moved: Mapping[str, str] = field(default_factory=dict)
    """The folders of clients whose settings were moved, by the variable that says so."""
    project: Path = field(default_factory=Path.cwd)
    """The folder of a project, for settings that lie there."""

    @classmethod
    def of_this_user(cls) -> Places:
        """The places of the user that runs this program."""
        return cls(Path(config.home_folder()), Path(config.applications_folder()), moved=config.moved_folders())


@dataclass(frozen=True, slots=True)
class Client:
    """One MCP client.

    file: below the folder that `base` names (`xdg`: `~/.config` on every system). or_file: used instead where it is there and `file` is not.
    moved_by: the variable that names another folder for it. path: of the table of servers. fields: constant members of our entry.
    in_one_list: `command` holds the program and its arguments.
    dotted: whether the client accepts a dot in a tool's name; those that do not get the names with an underscore.
    """

    name: str
    title: str
    base: Literal["home", "config", "xdg", "project"]
    file: str
    path: tuple[str, ...]
    fields: tuple[tuple[str, object], ...] = ()
    format: Literal["json", "jsonc", "toml"] = "json"
    dotted: bool = False
    moved_by: str = ""
    or_file: str = ""
    in_one_list: bool = False
    after: str = "Restart it to pick up the change."

    def settings(self, places: Places) -> Path:
        """Give the file that the client reads."""
        if folder := places.moved.get(self.moved_by):
            return Path(folder) / Path(self.file).name
        base = self.folder(places)
        if self.or_file and not (base / self.file).exists() and (base / self.or_file).exists():
            return base / self.or_file
        return base / self.file

    def folder(self, places: Places) -> Path:
        """Give the folder that the file is named from."""
        if self.base == "project":
            return places.project
        is_moved = self.base == "xdg" and places.platform != "linux"
        if is_moved or (self.name == "zed" and places.platform == "darwin"):
            return places.home / ".config"
        return places.home if self.base == "home" else places.config

    def owner_folder(self, places: Places) -> Path:
        """Give the folder whose owner the settings belong to."""
        return places.project if self.base == "project" else places.home

    def entry(self, command: Sequence[str]) -> dict[str, object]:
        """Give our entry, as this client writes one."""
        if self.in_one_list:
            return {**dict(self.fields), "command": list(command)}
        return {**dict(self.fields), "command": command[0], "args": list(command[1:])}


_SERVERS = ("mcpServers",)
_STDIO = (("type", "stdio"),)

CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client("claude-desktop", "Claude Desktop", "config", "Claude/claude_desktop_config.json", _SERVERS),
        Client("claude-code", "Claude Code", "home", ".claude.json", _SERVERS, _STDIO, moved_by="CLAUDE_CONFIG_DIR"),
        Client("vscode", "VS Code", "config", "Code/User/mcp.json", ("servers",), _STDIO, format="jsonc"),
        Client("cursor", "Cursor", "home", ".cursor/mcp.json", _SERVERS, format="jsonc"),
        Client("codex", "Codex", "home", ".codex/config.toml", ("mcp_servers",), format="toml", moved_by="CODEX_HOME"),
        Client("gemini", "Gemini CLI", "home", ".gemini/settings.json", _SERVERS, format="jsonc", dotted=True),
        Client("zed", "Zed", "config", "zed/settings.json", ("context_servers",), format="jsonc"),
        Client("windsurf", "Windsurf", "home", ".codeium/windsurf/mcp_config.json", _SERVERS),
        Client(
            "copilot-cli",
            "GitHub Copilot CLI",
            "home",
            ".copilot/mcp-config.json",
            _SERVERS,
            (("type", "local"), ("tools", ["*"])),
            moved_by="COPILOT_HOME",
        ),
        Client(
            "opencode",
            "opencode",
            "xdg",
            "opencode/opencode.json",
            ("mcp",),
            (("type", "local"), ("enabled", True)),
            format="jsonc",
            or_file="opencode/opencode.jsonc",
            in_one_list=True,
        ),
        Client("lmstudio", "LM Studio", "home", ".lmstudio/mcp.json", _SERVERS),
        Client("antigravity", "Antigravity", "home", ".gemini/config/mcp_config.json", _SERVERS),
        Client("kiro", "Kiro", "home", ".kiro/settings/mcp.json", _SERVERS),
        Client("cline", "Cline CLI", "home", ".cline/data/settings/cline_mcp_settings.json", _SERVERS),
        Client("qwen", "Qwen Code", "home", ".qwen/settings.json", _SERVERS, format="jsonc"),
        Client(
            "claude-code-project",
            "Claude Code, this folder alone",
            "project",
            ".mcp.json",
            _SERVERS,
            _STDIO,
            after="It asks before it starts the server of a project. Others who use the folder get the entry, too.",
        ),
    )
}
