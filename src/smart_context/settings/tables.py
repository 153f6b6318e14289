"""The tables of the configuration: each setting with its default, its bounds, and what it is for.

In: nothing.  Out: frozen tables, which `config` puts together.
Always: a setting is declared here once; documentation, environment and file follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smart_context import defaults
from smart_context.data import dataclass, field

# Without encryption on this machine alone; `server/oauth.py` looks at the whole of it.
_ADDRESS = ("https://", "http://127.0.0.1", "http://localhost", "http://[::1]")


def setting(default: Any, text: str, **more: Any) -> Any:
    """A setting with one value."""
    return field(default=default, metadata={"help": text, **more})


def numbers(defaults: Mapping[str, Any], text: str, **more: Any) -> Any:
    """A table of numbers by name."""
    return field(default_factory=lambda: defaults, metadata={"help": text, **more})


def names(text: str, **more: Any) -> Any:
    """A list of texts."""
    return setting((), text, **more)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """`[index]`: what is read, and how it is cut."""

    at_start: bool = setting(False, "Index new roots at startup; `--watch` does so too.")
    first_wait: int = setting(
        10, "Seconds that a search waits for the first files of roots that were never indexed.", most=600
    )
    workers: int = setting(0, "Processes that read files; 0: one a processor, in a server half as many.", most=64)
    max_segment_chars: int = setting(
        defaults.SEGMENT_CHARS, "Longest segment of text, in characters.", least=200, most=20_000
    )
    gitignore: bool = setting(True, "Leave out what `.gitignore`, `.ignore` and `.git/info/exclude` say.")
    hidden: bool = setting(False, "Take hidden files and folders too.")
    junk: bool = setting(False, "Take what programs make and keep for themselves too: `.git`, `node_modules`, caches.")
    exclude: tuple[str, ...] = names("Leave out what matches, in gitignore's syntax, below each root.")
    jail: str = setting(
        defaults.JAIL,
        "Read files in a jail (Linux: Landlock and seccomp): `prefer` as far as the system has one, `require` or read nothing, `off`.",
        choices=defaults.JAIL_MODES,
    )
    never_show: tuple[str, ...] = names(
        "Neither index nor show files whose path below a root matches, in gitignore's syntax; also if they were indexed before."
    )


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    """`[redaction]`: what must not leave, beside what is always redacted."""

    patterns: tuple[str, ...] = names("Regular expressions; a match becomes `[redacted:custom]`.", is_regex=True)


@dataclass(frozen=True, slots=True)
class PreviewSettings:
    """`[preview]`: how much `openFile` shows at once."""

    max_bytes: int = setting(defaults.PREVIEW_BYTES, "Most bytes of UTF-8 in a preview.", least=200, most=1_000_000)
    around_chars: int = setting(
        defaults.AROUND_CHARS, "Most characters that `before` and `after` add.", least=0, most=1_000_000
    )


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """`[audit]`: one JSON line a tool call."""

    enabled: bool = setting(True, "Write the audit log.")
    path: str = setting("", "The log; empty: `audit.jsonl` in the data folder.", is_path=True)
    include_query: bool = setting(True, "Write the query text, redacted; off: leave it out.")
    context_tools: bool = setting(False, "Log the `context.*` tools too.")
    max_mb: int = setting(defaults.AUDIT_MB, "Start a new file at this size, in megabytes.", least=1)
    keep: int = setting(defaults.AUDIT_KEEP, "Older files to keep.", least=1, most=1000)


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """`[cache]`: caches that a server holds in memory."""

    memory_mb: int = setting(512, "Memory for resident caches, in megabytes.", env="CONTEXT_CACHE_MEMORY_MB")
    freeze: bool = setting(
        False, "Offer `freezeSearch`, which writes what a search finds into caches below `cache_root`."
    )
    keys: str = setting(
        "",
        "Public key (minisign's format) whose signatures of caches the page trusts, or a folder of such keys (`*.pub`).",
        is_path=True,
    )


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """`[llm]`: the language model for summaries and rewriting. Without one both work offline."""

    provider: str = setting(
        "none", "`none`; `openai`: an OpenAI-compatible endpoint; `sampling`: the client's own model.",
        choices=("none", "openai", "sampling"),
    )  # fmt: skip
    base_url: str = setting("", "The endpoint, `http://localhost:11434/v1` for example; empty: OpenAI's.")
    model: str = setting("gpt-4.1-mini", "The model's name.")
    api_key_env: str = setting("OPENAI_API_KEY", "The environment variable that holds the key.")
    api_key_file: str = setting("", "A file that holds the key; used before the environment variable.", is_path=True)
    timeout: float = setting(30.0, "Seconds for one answer.", least=1)
    retries: int = setting(2, "Further attempts after a failure that may be temporary.", most=10)
    calls_per_day: int = setting(1000, "Calls a day; 0: no limit.")
    tokens_per_day: int = setting(2_000_000, "Tokens a day; 0: no limit.")
    proxy: str = setting("", "An HTTP proxy for the endpoint; empty: none.")


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """`[semantic]`: ranking by meaning, with the extra `semantic`."""

    enabled: bool = setting(True, "Use the model if it is there.")
    model_dir: str = setting(
        "", "Folder with `model.onnx` and `tokenizer.json`; empty: the prepared one.", is_path=True
    )
    timeout: float = setting(30.0, "Seconds for one text; a model that takes longer is not used.", least=1)


@dataclass(frozen=True, slots=True)
class OcrSettings:
    """`[ocr]`: reading scanned pages and pictures, with the extra `ocr` or `rapidocr`."""

    enabled: bool = setting(False, "Read scanned pages and pictures too; `context index --ocr` does so once.")
    engine: str = setting(
        "tesseract",
        "What reads them: `tesseract` (extra `ocr`), or `rapidocr` (extra `rapidocr`), for Chinese, Japanese and Latin letters alone.",
        choices=("tesseract", "rapidocr"),
    )
    languages: tuple[str, ...] = setting(
        defaults.OCR_LANGUAGES,
        "Languages of the pages, the commonest first: `en`, `de`, … or Tesseract's names. Fewer are faster and read better.",
    )
    data_dir: str = setting(
        "", "Folder with Tesseract's data (`eng.traineddata`, …); empty: where systems keep it.", is_path=True
    )


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """`[http]`: `context serve --http`."""

    host: str = setting(defaults.HOST, "Address to listen on.")
    port: int = setting(defaults.PORT, "Port to listen on.", most=65_535)
    token_file: str = setting("", "File with the bearer token; empty: one is made in the data folder.", is_path=True)
    allowed_hosts: tuple[str, ...] = names("Further values of `Host` to accept.")
    allowed_origins: tuple[str, ...] = names("Values of `Origin` to accept.")
    trusted_proxies: tuple[str, ...] = names(
        "Addresses or networks of proxies whose `X-Forwarded-For` is believed, `127.0.0.1` or `10.0.0.0/8` for example."
    )
    max_body: int = setting(defaults.MAX_BODY, "Largest request, in bytes.", least=1024)
    max_concurrency: int = setting(defaults.MAX_CONCURRENCY, "Calls served at once.", least=1)
    processes: int = setting(
        defaults.PROCESSES,
        "Processes that answer calls; 1: the server itself, more: so many beside it.",
        least=1,
        most=defaults.MOST_PROCESSES,
    )
    session_seconds: float = setting(defaults.SESSION_SECONDS, "Seconds after which an idle session ends.", least=1)


@dataclass(frozen=True, slots=True)
class OauthSettings:
    """`[oauth]`: access tokens of an issuer, for `context serve --http`, beside those of `context token`."""

    issuer: str = setting(
        "",
        "Issuer whose access tokens are accepted, `https://login.example.org` for example; empty: none.",
        starts=_ADDRESS,
    )
    resource: str = setting(
        "",
        "Address at which clients reach this server, `https://search.example.org/mcp` for example.",
        starts=_ADDRESS,
    )
    audience: str = setting("", "What `aud` of a token must hold; empty: `oauth.resource`.")
    jwks_url: str = setting("", "Where the issuer publishes its keys; empty: where its metadata say.", starts=_ADDRESS)
    ca_file: str = setting(
        "", "Certificates that the issuer's is checked against; empty: the usual ones.", is_path=True
    )
    algorithms: tuple[str, ...] = setting(
        defaults.OAUTH_ALGORITHMS, "Algorithms that a token may be signed with.", choices=defaults.OAUTH_CHOICES
    )
    name_claim: str = setting("sub", "Claim that names the caller, in rates and the audit log.")
    scopes: tuple[str, ...] = names("Scopes that a token must have.")
    roots: tuple[str, ...] = names(
        "Who sees which folder: `groups=sales:/srv/share/sales`, or `groups=staff:*` for every root. Without a rule nobody sees anything."
    )
    admins: tuple[str, ...] = names("Whose tokens may index and maintain, too: `groups=operators` for example.")


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """`[watch]`: keeping the index up to date."""

    enabled: bool = setting(False, "Watch the roots while serving.")
    poll_seconds: float = setting(
        defaults.POLL_SECONDS, "Look this often where the system reports no changes.", least=1
    )
    sweep_minutes: int = setting(
        defaults.SWEEP_MINUTES, "Look through everything this often, for what was missed; 0: never."
    )


LIMITS_HELP = {
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
