"""The table of tools: whatever is known of a tool, in one row.

Servers offer the rows, settings take rates and time limits from them, the command line its own names for tools and arguments, the
documentation all of it. The verb of a row does its work: a method of `api.App`, of a `context.*` tool one of `server.context_tools.Caches`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from smart_context import defaults
from smart_context import tool_schemas as schemas
from smart_context.data import dataclass, field
from smart_context.tool_schemas import Schema

Offer = Literal["files", "freeze", "pack", "caches"]
_ASIDE = frozenset({"on_progress", "sample"})


@dataclass(frozen=True, slots=True)
class Row:
    """One tool.

    offer: all are offered by `context serve`, "freeze" only where it is configured, "caches" by `mcp-context-server` too.
    verb: the method that does the work. It takes the arguments in the order of the schema, then, by name, what it `needs` of the call.
    rate: calls a minute, 0 for no bound; None: no bound, and rate and time have no settings of their own.
    seconds: for one call; None for as long as it likes.
    command, options: what the command line calls the tool and its arguments.
    writes: what the tool changes; "" for nothing.
    view: the page that shows its answer in clients with MCP Apps; "" for none.
    """

    name: str
    title: str
    description: str
    offer: Offer
    verb: str
    takes: Schema
    gives: Schema | None = None
    needs: tuple[str, ...] = ("stop", "caller")
    rate: int | None = None
    seconds: float | None = defaults.CALL_SECONDS
    command: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    writes: str = ""
    is_closed_world: bool = True
    view: str = ""

    @property
    def is_brief(self) -> bool:
        """Whether a call has a time limit, and neither reports progress nor asks the client's model, which only the process that has the client can do."""
        return self.seconds is not None and _ASIDE.isdisjoint(self.needs)


TABLE: Final = (
    Row(
        "listRoots",
        "List roots",
        "Return the folders that may be indexed, searched and read.",
        "files",
        "list_roots",
        schemas.LIST_ROOTS_IN,
        schemas.LIST_ROOTS_OUT,
        needs=("caller",),
        rate=0,
        command="context roots",
    ),
    Row(
        "indexFolder",
        "Index a folder",
        "Index a folder inside the roots, so that searchFiles finds what is in it. Only new and changed files are read. "
        "Answers when the folder is done; searches work meanwhile.",
        "files",
        "index_folder",
        schemas.INDEX_FOLDER_IN,
        schemas.INDEX_FOLDER_OUT,
        needs=("on_progress", "stop", "caller"),
        rate=0,
        seconds=None,
        command="context index",
        options={"full": "--full"},
        writes="the index",
    ),
    Row(
        "searchFiles",
        "Search files",
        "Search the indexed files and return ranked results with snippets. Plain language works, and so do quoted "
        "phrases, -word, AND, OR, NOT, NEAR/5 and word*.",
        "files",
        "search_files",
        schemas.SEARCH_FILES_IN,
        schemas.SEARCH_FILES_OUT,
        rate=60,
        command="context search",
        options={
            "k": "--limit",
            "offset": "--offset",
            "exts": "--ext",
            "years": "--year",
            "since": "--since",
            "until": "--until",
            "sort": "--sort",
            "all_copies": "--all-copies",
        },
        view="ui://smart-context/results.html",
    ),
    Row(
        "openFile",
        "Preview a file",
        "Return a short redacted preview of a file at a pointer, or of its start. Where it is truncated, the pointer names what "
        "is shown: ask for the lines, rows or paragraphs after it to read on.",
        "files",
        "open_file",
        schemas.OPEN_FILE_IN,
        schemas.OPEN_FILE_OUT,
        rate=30,
        command="context open",
        options={"pointer": "--pointer", "before": "--before", "after": "--after"},
    ),
    Row(
        "summarizeResults",
        "Summarize results",
        "Summarize search results with their sources. Only redacted snippets reach a language model, if one is set up.",
        "files",
        "summarize_results",
        schemas.SUMMARIZE_RESULTS_IN,
        schemas.SUMMARIZE_RESULTS_OUT,
        needs=("stop", "sample", "caller"),
        rate=20,
        seconds=90.0,
        command="context summarize",
        options={"max_tokens": "--max-tokens", "style": "--style"},
        is_closed_world=False,
    ),
    Row(
        "rewriteQuery",
        "Rewrite a query",
        "Turn a question into search operators and filters.",
        "files",
        "rewrite_query",
        schemas.REWRITE_QUERY_IN,
        schemas.REWRITE_QUERY_OUT,
        needs=("stop", "sample"),
        rate=0,
        seconds=60.0,
        command="context rewrite",
        is_closed_world=False,
    ),
    Row(
        "freezeSearch",
        "Freeze a search",
        "Write the passages that a search finds into a new context cache, redacted, with where each comes from. "
        "context.resolve and context.pack then answer from it, the same bytes every time.",
        "freeze",
        "freeze_search",
        schemas.FREEZE_SEARCH_IN,
        schemas.FREEZE_SEARCH_OUT,
        command="context freeze",
        writes="a cache",
    ),
    Row(
        "context.pack",
        "Pack context",
        "Return the passages of a context cache that best answer a question, within a token budget, each with its "
        "document, lines and version. The same cache, question and budget give the same bytes.",
        "pack",
        "pack",
        schemas.PACK_IN,
        command="context pack",
    ),
    Row(
        "context.resolve",
        "Resolve context",
        "Resolve a natural-language query against a pre-built context cache and return a deterministic, "
        "explainable set of documents within a token budget.",
        "caches",
        "resolve",
        schemas.RESOLVE_IN,
        command="context resolve",
    ),
    Row(
        "context.list_caches",
        "List caches",
        "List the context caches that are available below the server's cache root. Discovery only: nothing is validated.",
        "caches",
        "list_caches",
        schemas.LIST_CACHES_IN,
        schemas.LIST_CACHES_OUT,
        command="context list",
    ),
    Row(
        "context.inspect_cache",
        "Inspect a cache",
        "Return identity, size and structural state of a context cache, without document content. total_bytes "
        "counts the files at the top of the cache folder and valid says that the manifest can be read; the "
        "command `context inspect` counts document files and verifies the whole cache.",
        "caches",
        "inspect_cache",
        schemas.INSPECT_CACHE_IN,
        schemas.INSPECT_CACHE_OUT,
        command="context inspect",
    ),
)

# What only the page for people calls, and how often it may: a search at each letter, and pictures of pages.
PAGE_RATES: Final[Mapping[str, int]] = {"searchAsTyped": 600, "showPage": 60}


def offered(*offers: Offer) -> tuple[Row, ...]:
    """The rows of these offers, in the order of the table."""
    return tuple(row for row in TABLE if row.offer in offers)


def rates() -> dict[str, int]:
    """Calls a minute, by whatever has a rate that can be set; 0 for no bound."""
    return {row.name: row.rate for row in TABLE if row.rate is not None} | dict(PAGE_RATES)


def timed() -> tuple[str, ...]:
    """The tools whose time limit can be set."""
    return tuple(row.name for row in TABLE if row.rate is not None and row.seconds is not None)


def seconds() -> dict[str, float]:
    """The time limits that differ from the common one, by tool."""
    return {row.name: row.seconds for row in TABLE if row.seconds not in (None, defaults.CALL_SECONDS)}


def command_names() -> dict[str, str]:
    """What the command line calls the tools and their arguments."""
    commands = {row.name: row.command for row in TABLE}
    return {name: command for name, command in commands.items() if command} | {
        argument: option for row in TABLE for argument, option in row.options.items()
    }
