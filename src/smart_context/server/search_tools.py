"""The six tools of Smart File Search: their rows, their arguments, their envelope.

In: arguments as the client sent them.  Out: one object, as compact JSON text and as structured content.
Always: `mcp_version` is the last key of every answer, errors included; an error says what to do next in `details.hint`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from smart_context import defaults
from smart_context.errors import CallTimeout, ContextError, InternalError, RateLimited, SearchError
from smart_context.model import Caller, OnProgress, Stop
from smart_context.server import arguments as take
from smart_context.server import search_schemas as schemas
from smart_context.server.tools import Arguments, Reply, Schema, Tool, Work, unforeseen

if TYPE_CHECKING:
    from smart_context.llm.model import Sample

Answer = dict[str, Any]
Act = Callable[[Arguments, Work], Answer]

_HINTS = {
    "BAD_REQUEST": "see the tool's input schema",
    "NOT_FOUND": "search again, or index the folder first",
    "FORBIDDEN": "listRoots names the folders that may be read",
    "CONFLICT": "wait until the running job is done, then try again",
    "LLM_UPSTREAM": "try again later, or use the results as they are",
    "INTERNAL_ERROR": "the server's log has the reason",
}


class App(Protocol):
    """What the tools call. Each verb gives the object of its response, in order, without `mcp_version`.

    What `stop` raises ends a verb. `index_folder` then only stops waiting: the job goes on.
    """

    def list_roots(self, *, caller: Caller) -> Answer: ...  # noqa: D102

    def index_folder(  # noqa: D102
        self,
        root: str,
        full: bool,
        priority: schemas.Priority,
        *,
        on_progress: OnProgress,
        stop: Stop,
        caller: Caller,
    ) -> Answer: ...

    def search_files(  # noqa: D102
        self,
        query: str,
        k: int,
        offset: int,
        exts: tuple[str, ...],
        years: tuple[str, ...],
        roots: tuple[str, ...],
        *,
        stop: Stop,
        caller: Caller,
    ) -> Answer: ...

    def open_file(  # noqa: D102
        self, path: str, pointer: str | None, before: int, after: int, *, stop: Stop, caller: Caller
    ) -> Answer: ...

    def summarize_results(  # noqa: D102
        self,
        query: str,
        results: list[dict[str, str]],
        style: str,
        max_tokens: int | None,
        *,
        stop: Stop,
        sample: Sample | None,
        caller: Caller,
    ) -> Answer: ...

    def rewrite_query(self, query: str, *, stop: Stop, sample: Sample | None) -> Answer: ...  # noqa: D102


def table(app: App, clean: Callable[[str], str], seconds: Callable[[str], float]) -> tuple[Tool, ...]:
    """The rows of the six tools over `app`; `clean` redacts what an error says, `seconds` limits a tool's calls by its name."""
    acts = _Acts(app)

    def row(
        name: str,
        title: str,
        description: str,
        act: Act,
        takes: Schema,
        gives: Schema,
        *,
        is_limited: bool = True,
        **more: bool,
    ) -> Tool:
        def run(arguments: Arguments, work: Work) -> Reply:
            take.only(arguments, takes["properties"])
            return reply(act(arguments, work))

        def refuse(error: ContextError) -> Reply:
            return refusal(error, clean)

        limit = seconds(name) if is_limited else None
        return Tool(name, title, description, takes, run, refuse, gives, knows_arguments=True, seconds=limit, **more)

    return (
        row(
            "listRoots",
            "List roots",
            "Return the folders that may be indexed, searched and read.",
            acts.list_roots,
            schemas.LIST_ROOTS_IN,
            schemas.LIST_ROOTS_OUT,
        ),
        row(
            "indexFolder",
            "Index a folder",
            "Index a folder inside the roots, so that searchFiles finds what is in it. Only new and changed files are read. "
            "Answers when the folder is done; searches work meanwhile.",
            acts.index_folder,
            schemas.INDEX_FOLDER_IN,
            schemas.INDEX_FOLDER_OUT,
            is_read_only=False,
            is_limited=False,
        ),
        row(
            "searchFiles",
            "Search files",
            "Search the indexed files and return ranked results with snippets. Plain language works, and so do quoted "
            "phrases, -word, AND, OR, NOT, NEAR/5 and word*.",
            acts.search_files,
            schemas.SEARCH_FILES_IN,
            schemas.SEARCH_FILES_OUT,
        ),
        row(
            "openFile",
            "Preview a file",
            "Return a short redacted preview of a file at a pointer, or of its start. Where it is truncated, the pointer names what "
            "is shown: ask for the lines, rows or paragraphs after it to read on.",
            acts.open_file,
            schemas.OPEN_FILE_IN,
            schemas.OPEN_FILE_OUT,
        ),
        row(
            "summarizeResults",
            "Summarize results",
            "Summarize search results with their sources. Only redacted snippets reach a language model, if one is set up.",
            acts.summarize_results,
            schemas.SUMMARIZE_RESULTS_IN,
            schemas.SUMMARIZE_RESULTS_OUT,
            is_closed_world=False,
        ),
        row(
            "rewriteQuery",
            "Rewrite a query",
            "Turn a question into search operators and filters.",
            acts.rewrite_query,
            schemas.REWRITE_QUERY_IN,
            schemas.REWRITE_QUERY_OUT,
            is_closed_world=False,
        ),
    )


class _Acts:
    """Read each tool's arguments and call the verb."""

    def __init__(self, app: App) -> None:
        self._app = app

    def list_roots(self, arguments: Arguments, work: Work) -> Answer:
        return self._app.list_roots(caller=work.caller)

    def index_folder(self, arguments: Arguments, work: Work) -> Answer:
        return self._app.index_folder(
            take.text(arguments, "root"),
            take.flag(arguments, "full", False),
            take.choice(arguments, "priority", "normal", schemas.PRIORITIES),
            on_progress=work.on_progress,
            stop=work.stop,
            caller=work.caller,
        )

    def search_files(self, arguments: Arguments, work: Work) -> Answer:
        return self._app.search_files(
            take.text(arguments, "query"),
            take.whole(arguments, "k", defaults.K, least=1, most=defaults.MAX_K),
            take.whole(arguments, "offset", 0, least=0),
            take.texts(arguments, "exts"),
            take.texts(arguments, "years"),
            take.texts(arguments, "roots"),
            stop=work.stop,
            caller=work.caller,
        )

    def open_file(self, arguments: Arguments, work: Work) -> Answer:
        return self._app.open_file(
            take.text(arguments, "path"),
            take.optional_text(arguments, "pointer"),
            take.whole(arguments, "before", 0, least=0),
            take.whole(arguments, "after", 0, least=0),
            stop=work.stop,
            caller=work.caller,
        )

    def summarize_results(self, arguments: Arguments, work: Work) -> Answer:
        return self._app.summarize_results(
            take.text(arguments, "query"),
            take.results(arguments, "results"),
            take.choice(arguments, "style", defaults.STYLE, defaults.STYLES),
            take.whole(arguments, "max_tokens", None, least=1),
            stop=work.stop,
            sample=work.sample,
            caller=work.caller,
        )

    def rewrite_query(self, arguments: Arguments, work: Work) -> Answer:
        return self._app.rewrite_query(take.text(arguments, "query"), stop=work.stop, sample=work.sample)


def reply(answer: Answer, code: str = "") -> Reply:
    """Put an answer into the envelope."""
    body = {**answer, "mcp_version": schemas.MCP_VERSION}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair from some file: no client could read the frame
        text = text.encode(errors="replace").decode()
        body = json.loads(text)
    return Reply(text, body, code)


def refusal(error: ContextError, clean: Callable[[str], str]) -> Reply:
    """Put an error into the envelope; `clean` redacts what it says."""
    if not isinstance(error, SearchError | InternalError | CallTimeout):
        # A failure below that was not put in the tools' words may name what a client must not see.
        error = unforeseen("Smart File Search", error)
    code = error.code if isinstance(error, SearchError) else "INTERNAL_ERROR"
    body = {"code": code, "message": clean(error.message), "details": {"hint": clean(_hint(error, code))}}
    return reply({"error": body}, code)


def _hint(error: ContextError, code: str) -> str:
    if error.hint:
        return error.hint
    if isinstance(error, RateLimited):
        return f"try again in {math.ceil(error.retry_after)} seconds"
    if isinstance(error, CallTimeout):
        return "ask for less at once, or raise the time limit of the server"
    return _HINTS[code]
