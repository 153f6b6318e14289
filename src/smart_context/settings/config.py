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
from dataclasses import MISSING, Field, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any

from smart_context import defaults, regular, tool_table
from smart_context.data import dataclass
from smart_context.errors import ConfigError
from smart_context.model import Limits
from smart_context.settings import read
from smart_context.settings.read import Setting

_FOLDER = "smart-context"
_MAX_KEY_BYTES = 10_000
_LEAST_MEMORY = 512 * 1024 * 1024  # less is not enough for the readers' libraries and one ordinary file


def _setting(default: Any, text: str, **more: Any) -> Any:
    return field(default=default, metadata={"help": text, **more})


def _numbers(defaults: Mapping[str, Any], text: str, **more: Any) -> Any:
    return field(default_factory=lambda: defaults, metadata={"help": text, **more})


def _names(text: str, **more: Any) -> Any:
    return _setting((), text, **more)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """`[index]`: what is read, and how it is cut."""

    at_start: bool = _setting(False, "Index new roots at startup; `--watch` does so too.")
    workers: int = _setting(0, "Processes that read files; 0: one a processor, in a server half as many.", most=64)
    max_segment_chars: int = _setting(
        defaults.SEGMENT_CHARS, "Longest segment of text, in characters.", least=200, most=20_000
    )
    gitignore: bool = _setting(True, "Leave out what `.gitignore`, `.ignore` and `.git/info/exclude` say.")
    hidden: bool = _setting(False, "Take hidden files and folders too.")
    junk: bool = _setting(False, "Take what programs make and keep for themselves too: `.git`, `node_modules`, caches.")
    exclude: tuple[str, ...] = _names("Leave out what matches, in gitignore's syntax, below each root.")
    jail: str = _setting(
        defaults.JAIL,
        "Read files in a jail (Linux: Landlock and seccomp): `prefer` as far as the system has one, `require` or read nothing, `off`.",
        choices=defaults.JAIL_MODES,
    )
    never_show: tuple[str, ...] = _names(
        "Neither index nor show files whose path below a root matches, in gitignore's syntax; also if they were indexed before."
    )


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    """`[redaction]`: what must not leave, beside what is always redacted."""

    patterns: tuple[str, ...] = _names("Regular expressions; a match becomes `[redacted:custom]`.", is_regex=True)


@dataclass(frozen=True, slots=True)
class PreviewSettings:
    """`[preview]`: how much `openFile` shows at once."""

    max_bytes: int = _setting(defaults.PREVIEW_BYTES, "Most bytes of UTF-8 in a preview.", least=200, most=1_000_000)
    around_chars: int = _setting(
        defaults.AROUND_CHARS, "Most characters that `before` and `after` add.", least=0, most=1_000_000
    )


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """`[audit]`: one JSON line a tool call."""

    enabled: bool = _setting(True, "Write the audit log.")
    path: str = _setting("", "The log; empty: `audit.jsonl` in the data folder.", is_path=True)
    include_query: bool = _setting(True, "Write the query text, redacted; off: leave it out.")
    context_tools: bool = _setting(False, "Log the `context.*` tools too.")
    max_mb: int = _setting(defaults.AUDIT_MB, "Start a new file at this size, in megabytes.", least=1)
    keep: int = _setting(defaults.AUDIT_KEEP, "Older files to keep.", least=1, most=1000)


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """`[cache]`: caches that a server holds in memory."""

    memory_mb: int = _setting(512, "Memory for resident caches, in megabytes.", env="CONTEXT_CACHE_MEMORY_MB")
    freeze: bool = _setting(
        False, "Offer `freezeSearch`, which writes what a search finds into caches below `cache_root`."
    )
    keys: str = _setting(
        "",
        "Public key (minisign's format) whose signatures of caches the page trusts, or a folder of such keys (`*.pub`).",
        is_path=True,
    )


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """`[llm]`: the language model for summaries and rewriting. Without one both work offline."""

    provider: str = _setting(
        "none", "`none`; `openai`: an OpenAI-compatible endpoint; `sampling`: the client's own model.",
        choices=("none", "openai", "sampling"),
    )  # fmt: skip
    base_url: str = _setting("", "The endpoint, `http://localhost:11434/v1` for example; empty: OpenAI's.")
    model: str = _setting("gpt-4.1-mini", "The model's name.")
    api_key_env: str = _setting("OPENAI_API_KEY", "The environment variable that holds the key.")
    api_key_file: str = _setting("", "A file that holds the key; used before the environment variable.", is_path=True)
    timeout: float = _setting(30.0, "Seconds for one answer.", least=1)
    retries: int = _setting(2, "Further attempts after a failure that may be temporary.", most=10)
    calls_per_day: int = _setting(1000, "Calls a day; 0: no limit.")
    tokens_per_day: int = _setting(2_000_000, "Tokens a day; 0: no limit.")
    proxy: str = _setting("", "An HTTP proxy for the endpoint; empty: none.")


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """`[semantic]`: ranking by meaning, with the extra `semantic`."""

    enabled: bool = _setting(True, "Use the model if it is there.")
    model_dir: str = _setting(
        "", "Folder with `model.onnx` and `tokenizer.json`; empty: the prepared one.", is_path=True
    )
    timeout: float = _setting(30.0, "Seconds for one text; a model that takes longer is not used.", least=1)


@dataclass(frozen=True, slots=True)
class OcrSettings:
    """`[ocr]`: reading scanned pages and pictures, with the extra `ocr`."""

    enabled: bool = _setting(False, "Read scanned pages and pictures too; `context index --ocr` does so once.")
    languages: tuple[str, ...] = _setting(
        defaults.OCR_LANGUAGES,
        "Languages of the pages, the commonest first: `en`, `de`, … or Tesseract's names. Fewer are faster and read better.",
    )
    data_dir: str = _setting(
        "", "Folder with Tesseract's data (`eng.traineddata`, …); empty: where systems keep it.", is_path=True
    )


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """`[http]`: `context serve --http`."""

    host: str = _setting(defaults.HOST, "Address to listen on.")
    port: int = _setting(defaults.PORT, "Port to listen on.", most=65_535)
    token_file: str = _setting("", "File with the bearer token; empty: one is made in the data folder.", is_path=True)
    allowed_hosts: tuple[str, ...] = _names("Further values of `Host` to accept.")
    allowed_origins: tuple[str, ...] = _names("Values of `Origin` to accept.")
    trusted_proxies: tuple[str, ...] = _names(
        "Addresses or networks of proxies whose `X-Forwarded-For` is believed, `127.0.0.1` or `10.0.0.0/8` for example."
    )
    max_body: int = _setting(defaults.MAX_BODY, "Largest request, in bytes.", least=1024)
    max_concurrency: int = _setting(defaults.MAX_CONCURRENCY, "Calls served at once.", least=1)
    session_seconds: float = _setting(defaults.SESSION_SECONDS, "Seconds after which an idle session ends.", least=1)


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """`[watch]`: keeping the index up to date."""

    enabled: bool = _setting(False, "Watch the roots while serving.")
    poll_seconds: float = _setting(
        defaults.POLL_SECONDS, "Look this often where the system reports no changes.", least=1
    )
    sweep_minutes: int = _setting(
        defaults.SWEEP_MINUTES, "Look through everything this often, for what was missed; 0: never."
    )


_RATES: Mapping[str, int] = MappingProxyType(tool_table.rates())
_TIMED = ("default", *tool_table.timed())
_TIMEOUTS: Mapping[str, float] = MappingProxyType({"default": defaults.CALL_SECONDS, **tool_table.seconds()})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Paths are absolute."""

    roots: tuple[str, ...] = _names("Folders that may be read.", is_path=True, env="SMART_CONTEXT_ROOTS")
    data_dir: str = _setting(
        "",
        "Where the index is kept; empty: the platform's folder for data.",
        is_path=True,
        env="SMART_CONTEXT_DATA_DIR",
    )
    engine: str = _setting(
        "",
        "Database that holds a shared record, `postgresql://user@host/database` for example; empty: the record is in the data folder.",
        env="SMART_CONTEXT_ENGINE",
        starts=("postgresql://", "postgres://"),
    )
    engine_places: tuple[str, ...] = _names(
        "Folders of a shared record that are mounted at another place on this machine: `/srv/share=/mnt/nas/share` for example."
    )
    cache_root: str = _setting("", "Folder of the caches that tools may read.", is_path=True, env="CONTEXT_CACHE_ROOT")
    rate_limits: Mapping[str, int] = _numbers(
        _RATES, "Calls a minute for each caller; 0: no limit.", keys=tuple(_RATES)
    )
    timeouts: Mapping[str, float] = _numbers(
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
    watch: WatchSettings = WatchSettings()
    config_file: str = ""

    def timeout(self, tool: str) -> float:
        """Seconds that one call of a tool may take."""
        return self.timeouts.get(tool, self.timeouts["default"])

    def audit_path(self) -> str:
        """Where the audit log is."""
        return self.audit.path or os.path.join(self.data_dir, "audit.jsonl")


@dataclass(frozen=True, slots=True)
class ServedCaches:
    """What `mcp-context-server` can be told: by its environment alone, as the program that it stands in for. No root: None."""

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
    values = (read.file(path, settings()) if path and reads_file else {}) | _from_environment(environ)
    for name, value in flags.items():
        values[name] = read.checked(settings()[name], value, _flag(name), os.getcwd())
    values["data_dir"] = values.get("data_dir") or data_folder(environ)
    return _built(values, path or "")


def served_caches(environ: Mapping[str, str] | None = None) -> ServedCaches:
    """Resolve what `mcp-context-server` is told.

    Raises: ConfigError for a number that is not a positive integer.
    """
    environ = os.environ if environ is None else environ
    return ServedCaches(
        cache_root(environ),
        _positive(environ, "CONTEXT_TOOL_TIMEOUT_SECS", 30),
        _positive(environ, "CONTEXT_CACHE_MEMORY_MB", CacheSettings().memory_mb),
    )


def cache_root(environ: Mapping[str, str] | None = None) -> str | None:
    """The folder of caches that the environment names, as it stands there; None where it names none."""
    environ = os.environ if environ is None else environ
    return environ.get("CONTEXT_CACHE_ROOT") or None


def child_environment(changed: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program of ours, with some settings changed: by dotted name, as text."""
    return {**os.environ, **{settings()[name].env: text for name, text in changed.items()}}


def checked(name: str, value: str, place: str) -> str:
    """A value for a setting, if it can be one; `place`: where it stands.

    Raises: ConfigError.
    """
    return str(read.checked(settings()[name], value, place, os.getcwd()))


@cache
def settings() -> Mapping[str, Setting]:
    """Every setting by its dotted name, in the order of the documentation."""
    found: dict[str, Setting] = {}
    for each in fields(Settings):
        if each.name == "config_file":
            continue
        if "help" in each.metadata:
            found |= _flat(each.name, each)
        else:
            for inner in fields(_default(each)):
                found |= _flat(f"{each.name}.{inner.name}", inner)
    return MappingProxyType(found)


def config_path(environ: Mapping[str, str] | None = None) -> str:
    """The file that is read when none is named."""
    environ = os.environ if environ is None else environ
    return os.path.join(_folder(environ, "XDG_CONFIG_HOME", ".config", "APPDATA"), "config.toml")


def data_folder(environ: Mapping[str, str] | None = None) -> str:
    """Where the index is kept when no setting says so."""
    environ = os.environ if environ is None else environ
    return _folder(environ, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA")


def home_folder(environ: Mapping[str, str] | None = None) -> str:
    """The user's home."""
    environ = os.environ if environ is None else environ
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")


def applications_folder(environ: Mapping[str, str] | None = None) -> str:
    """Where applications keep their settings, each in a folder of its own."""
    return os.path.dirname(os.path.dirname(config_path(environ)))


def moved_folders(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The folders that MCP clients were told to keep their settings in, by the variable that told them."""
    environ = os.environ if environ is None else environ
    return {name: environ[name] for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME") if environ.get(name)}


def api_key(llm: LlmSettings, environ: Mapping[str, str] | None = None) -> str:
    """The language model's key, or "". It is read when it is needed and kept in no setting, so that none can print it.

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
    if named := str(flag or "") or environ.get("SMART_CONTEXT_CONFIG", ""):
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
    for name, setting in settings().items():
        if setting.env and (text := environ.get(setting.env, "")):
            values[name] = read.checked(setting, read.from_text(setting, text), setting.env, os.getcwd())
    return values


def _positive(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"\+?0*[1-9][0-9]{0,4000}", text, re.ASCII):
        raise ConfigError(f"{name} is not a positive integer", reason=f"it is {text!r}")
    return min(int(text), 10**9)


def _flag(name: str) -> str:
    return "--root" if name == "roots" else "--" + name.rpartition(".")[2].replace("_", "-")


def _flat(name: str, each: Field[Any]) -> dict[str, Setting]:
    facts = dict(each.metadata)
    if name.startswith("limits."):
        facts["least"] = _LEAST_MEMORY if each.name == "memory_bytes" else 1
    keys = facts.pop("keys", None)
    text = facts.pop("help", _LIMITS_HELP.get(each.name, ""))
    env = facts.pop("env", "SMART_CONTEXT_" + name.replace(".", "_").upper())
    if keys is None:
        return {name: Setting(name, str(each.type), each.default, text, env, **facts)}
    kind = "int" if "int" in str(each.type) else "float"
    return {
        f"{name}.{key}": Setting(f"{name}.{key}", kind, _default(each).get(key), text, _TABLE_ENV.get(f"{name}.{key}", ""), **facts)
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
            default = _default(each)
            merged = MappingProxyType({**default, **given}) if isinstance(default, Mapping) else type(default)(**given)
            parts[each.name] = merged
    return Settings(**parts)


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()


_TABLE_ENV = {"timeouts.default": "CONTEXT_TOOL_TIMEOUT_SECS"}
_LIMITS_HELP = {
    "max_file_bytes": "Largest file to read, in bytes.",
    "max_text_chars": "Most text to take from one file, in characters.",
    "max_units": "Most pages, sheets, sections … to take from one file.",
    "max_inflated_bytes": "Most bytes to unpack from one file.",
    "max_inflate_ratio": "Refuse what unpacks to more than this many times its size.",
    "max_entries": "Most entries and attachments to read in one file.",
    "max_depth": "How deep files may lie inside files.",
    "max_sheet_cells": "Most cells of one sheet.",
    "cpu_seconds": "CPU time for one file, in seconds.",
    "memory_bytes": "Memory of a reading process, in bytes.",
}
