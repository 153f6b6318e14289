"""Every setting, resolved once.

In: flags, the environment, and at most one TOML file.  Out: `Settings`, frozen.
Always: a flag goes before the environment, the environment before the file, the file before the default; a setting that is
unknown, of the wrong type or out of range is refused with the place where it stands; the file is the one named by the user
or the one in the platform's configuration folder, never one that lies in the working folder or came with a project.

No other module reads the environment, but for what a shell or a terminal tells `cli/__init__.py`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from smart_context import defaults, regular, tool_table
from smart_context.data import Field, dataclass, fields, replace
from smart_context.errors import ConfigError
from smart_context.model import Limits
from smart_context.settings import read
from smart_context.settings.read import Setting
from smart_context.settings.tables import (
    LIMITS_HELP,
    AuditSettings,
    CacheSettings,
    HttpSettings,
    IndexSettings,
    LlmSettings,
    OauthSettings,
    OcrSettings,
    PreviewSettings,
    RedactionSettings,
    SemanticSettings,
    WatchSettings,
    names,
    numbers,
    setting,
)

_FOLDER = "smart-context"
_MAX_KEY_BYTES = 10_000
_LEAST_MEMORY = 512 * 1024 * 1024  # less is not enough for the readers' libraries and one ordinary file


_RATES: Mapping[str, int] = MappingProxyType(tool_table.rates())
_TIMED = ("default", *tool_table.timed())
_TIMEOUTS: Mapping[str, float] = MappingProxyType({"default": defaults.CALL_SECONDS, **tool_table.seconds()})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Paths are absolute."""

    roots: tuple[str, ...] = names("Folders that may be read.", is_path=True, env="SMART_CONTEXT_ROOTS")
    data_dir: str = setting(
        "",
        "Where the index is kept; empty: the platform's folder for data.",
        is_path=True,
        env="SMART_CONTEXT_DATA_DIR",
    )
    engine: str = setting(
        "",
        "Database that holds a shared record, `postgresql://user@host/database` for example; empty: the record is in the data folder.",
        env="SMART_CONTEXT_ENGINE",
        starts=("postgresql://", "postgres://"),
    )
    engine_places: tuple[str, ...] = names(
        "Folders of a shared record that are mounted at another place on this machine: `/srv/share=/mnt/nas/share` for example."
    )
    cache_root: str = setting("", "Folder of the caches that tools may read.", is_path=True, env="CONTEXT_CACHE_ROOT")
    rate_limits: Mapping[str, int] = numbers(_RATES, "Calls a minute for each caller; 0: no limit.", keys=tuple(_RATES))
    timeouts: Mapping[str, float] = numbers(
        _TIMEOUTS, "Seconds for one call; `indexFolder` has no limit.", keys=_TIMED, least=1
    )
    index: IndexSettings = IndexSettings()
    limits: Limits = Limits()
    redaction: RedactionSettings = RedactionSettings()
    preview: PreviewSettings = PreviewSettings()
    audit: AuditSettings = AuditSettings()
    cache: CacheSettings = CacheSettings()
    llm: LlmSettings = LlmSettings()
    semantic: SemanticSettings = SemanticSettings()
    ocr: OcrSettings = OcrSettings()
    http: HttpSettings = HttpSettings()
    oauth: OauthSettings = OauthSettings()
    watch: WatchSettings = WatchSettings()
    config_file: str = ""
    roots_file: str = ""  # where the roots come from, or would; "" where the command line or the environment names them

    def timeout(self, tool: str) -> float:
        """Seconds that one call of a tool may take."""
        return self.timeouts.get(tool, self.timeouts["default"])

    def audit_path(self) -> str:
        """Where the audit log is."""
        return self.audit.path or os.path.join(self.data_dir, "audit.jsonl")


@dataclass(frozen=True, slots=True)
class ServedCaches:
    """The settings of `mcp-context-server`, from the environment alone, as in the program that it replaces. No root: None."""

    root: str | None
    timeout: int
    memory_mb: int


def load(
    flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None, *, reads_file: bool = True
) -> Settings:
    """Resolve the settings.

    flags: by dotted name (`roots`, `http.port`), None for one that was not given; `config` names the file. reads_file: whether that counts.
    Raises: ConfigError for anything that is wrong, naming its place.
    """
    environ = os.environ if environ is None else environ
    flags = {name: value for name, value in (flags or {}).items() if value not in (None, ())}
    path = _chosen_file(flags.pop("config", None), environ)
    told = _from_environment(environ)
    values = (read.file(path, settings()) if path and reads_file else {}) | told
    for name, value in flags.items():
        values[name] = read.checked(settings()[name], value, _flag(name), os.getcwd())
    values["data_dir"] = values.get("data_dir") or data_folder(environ)
    has_roots = "roots" in flags or "roots" in told or not reads_file
    return replace(_built(values, path or ""), roots_file="" if has_roots else path or config_path(environ))


def served_caches() -> ServedCaches:
    """Resolve the settings of `mcp-context-server`.

    Raises: ConfigError for a number that is not a positive integer.
    """
    return ServedCaches(
        cache_root(),
        _positive("CONTEXT_TOOL_TIMEOUT_SECS", 30),
        _positive("CONTEXT_CACHE_MEMORY_MB", CacheSettings().memory_mb),
    )


def cache_root() -> str | None:
    """The folder of caches that the environment names, as it is written there; None if it names none."""
    return os.environ.get("CONTEXT_CACHE_ROOT") or None


def child_environment(changed: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program of ours, with some settings changed: by dotted name, as text."""
    return {**os.environ, **{settings()[name].env: text for name, text in changed.items()}}


def to_dict(given: Settings) -> dict[str, Any]:
    """The settings by dotted name, as JSON can hold them: for another process."""
    found: dict[str, Any] = {"config_file": given.config_file, "roots_file": given.roots_file}
    for name in settings():
        table, dot, key = name.partition(".")
        inside = getattr(given, table)
        found[name] = (inside.get(key) if isinstance(inside, Mapping) else getattr(inside, key)) if dot else inside
    return found


def from_dict(given: Mapping[str, Any]) -> Settings:
    """The settings that `to_dict` made so."""
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items() if value is not None
    }
    return _built(values, str(values.pop("config_file")))


def checked(name: str, value: str, place: str) -> str:
    """Check a value for a setting; `place`: where it is written.

    Raises: ConfigError.
    """
    return str(read.checked(settings()[name], value, place, os.getcwd()))


@cache
def settings() -> Mapping[str, Setting]:
    """Every setting by its dotted name, in the order of the documentation."""
    found: dict[str, Setting] = {}
    for each in fields(Settings):
        if each.name in {"config_file", "roots_file"}:
            continue
        if "help" in each.metadata:
            found |= _flat(each.name, each)
        else:
            for inner in fields(type(each.value())):
                found |= _flat(f"{each.name}.{inner.name}", inner)
    return MappingProxyType(found)


def unknown_variables() -> dict[str, str]:
    """The variables that are named like ours and mean nothing, each with the nearest one that does, or ""."""
    named = sorted(name for name in os.environ if name.startswith(_PREFIX))
    if not named:
        return {}
    known = {each.env for each in settings().values() if each.env} | {_CONFIG_ENV}
    unknown = [name for name in named if name not in known]
    if not unknown:
        return {}
    import difflib

    ours = sorted(name.removeprefix(_PREFIX) for name in known if name.startswith(_PREFIX))  # all begin alike
    near = {name: difflib.get_close_matches(name.removeprefix(_PREFIX), ours, n=1) for name in unknown}
    return {name: _PREFIX + found[0] if found else "" for name, found in near.items()}


def config_path(environ: Mapping[str, str] | None = None) -> str:
    """The file that is read when none is named."""
    environ = os.environ if environ is None else environ
    return os.path.join(_folder(environ, "XDG_CONFIG_HOME", ".config", "APPDATA"), "config.toml")


def data_folder(environ: Mapping[str, str] | None = None) -> str:
    """The default folder of the index."""
    environ = os.environ if environ is None else environ
    return _folder(environ, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA")


def home_folder(environ: Mapping[str, str] | None = None) -> str:
    """The user's home."""
    environ = os.environ if environ is None else environ
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")


def applications_folder() -> str:
    """Where applications keep their settings, each in a folder of its own."""
    return os.path.dirname(os.path.dirname(config_path()))


def moved_folders() -> dict[str, str]:
    """The configuration folders of MCP clients that are set by environment variables, by variable."""
    named = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME")
    return {name: os.environ[name] for name in named if os.environ.get(name)}


def api_key(llm: LlmSettings, environ: Mapping[str, str] | None = None) -> str:
    """The language model's key, or "". It is read on use and stored in no setting, so that none can print it.

    Raises: ConfigError when the configured file cannot be read.
    """
    environ = os.environ if environ is None else environ
    if llm.api_key_file:
        try:
            return regular.read(llm.api_key_file, _MAX_KEY_BYTES).decode("utf-8").strip()
        except OSError as error:
            place = llm.api_key_file
            raise ConfigError(
                f"cannot read the key from {place}", reason=error.strerror, hint="see `llm.api_key_file`"
            ) from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"the key in {llm.api_key_file} is not text", hint="see `llm.api_key_file`") from error
    return environ.get(llm.api_key_env, "").strip()


def _chosen_file(flag: object, environ: Mapping[str, str]) -> str | None:
    if named := str(flag or "") or environ.get(_CONFIG_ENV, ""):
        return os.path.abspath(os.path.expanduser(named))
    path = config_path(environ)
    return path if os.path.lexists(path) else None


def _folder(environ: Mapping[str, str], xdg: str, below_home: str, windows: str) -> str:
    home = home_folder(environ)
    if sys.platform == "win32":
        return os.path.join(environ.get(windows) or home, _FOLDER)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", _FOLDER)
    # A relative value is to be ignored, says the XDG specification; it would also make the working folder decide.
    place = environ.get(xdg, "")
    return os.path.join(place if os.path.isabs(place) else os.path.join(home, below_home), _FOLDER)


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, each in settings().items():
        if each.env and (text := environ.get(each.env, "")):
            values[name] = read.checked(each, read.from_text(each, text), each.env, os.getcwd())
    return values


def _positive(name: str, default: int) -> int:
    text = os.environ.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"\+?0*[1-9][0-9]{0,4000}", text, re.ASCII):
        raise ConfigError(f"{name} is not a positive integer", reason=f"it is {text!r}")
    return min(int(text), 10**9)


def _flag(name: str) -> str:
    return "--root" if name == "roots" else "--" + name.rpartition(".")[2].replace("_", "-")


def _flat(name: str, each: Field) -> dict[str, Setting]:
    facts = dict(each.metadata)
    if name.startswith("limits."):
        facts["least"] = _LEAST_MEMORY if each.name == "memory_bytes" else 1
    keys = facts.pop("keys", None)
    text = facts.pop("help", LIMITS_HELP.get(each.name, ""))
    env = facts.pop("env", _PREFIX + name.replace(".", "_").upper())
    if keys is None:
        return {name: Setting(name, each.type, each.default, text, env, **facts)}
    kind = "int" if "int" in each.type else "float"
    return {
        f"{name}.{key}": Setting(f"{name}.{key}", kind, each.value().get(key), text, _TABLE_ENV.get(f"{name}.{key}", ""), **facts)
        for key in keys
    }  # fmt: skip


def _built(values: Mapping[str, object], path: str) -> Settings:
    parts: dict[str, Any] = {"config_file": path}
    tables: dict[str, dict[str, object]] = {}
    for name, value in values.items():
        table, dot, key = name.partition(".")
        if dot:
            tables.setdefault(table, {})[key] = value
        else:
            parts[name] = value
    for each in fields(Settings):
        if given := tables.get(each.name):
            default = each.value()
            merged = MappingProxyType({**default, **given}) if isinstance(default, Mapping) else type(default)(**given)
            parts[each.name] = merged
    return Settings(**parts)


_PREFIX = "SMART_CONTEXT_"
_CONFIG_ENV = "SMART_CONTEXT_CONFIG"
_TABLE_ENV = {"timeouts.default": "CONTEXT_TOOL_TIMEOUT_SECS"}
