"""The tool `freezeSearch`: write what a search finds into a cache below the cache root. Offered only where it is configured.

In: arguments as the client sent them.  Out: the new cache's name, version and size, in the envelope of Smart File Search.
Always: a cache is made directly below the cache root, under a plain name that was free; nothing is replaced; text is redacted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from smart_context import defaults
from smart_context.frozen.provenance import Question
from smart_context.server import arguments as take
from smart_context.server import search_schemas as schemas
from smart_context.server.search_tools import refusal, reply
from smart_context.server.tools import Arguments, Reply, Tool, Work

if TYPE_CHECKING:
    from smart_context.api import App

NAME = "freezeSearch"


def row(app: App, clean: Callable[[str], str], seconds: float) -> Tool:
    """The row of the tool; `clean` redacts what an error says."""

    def run(arguments: Arguments, work: Work) -> Reply:
        take.only(arguments, schemas.FREEZE_SEARCH_IN["properties"])
        question = Question(
            take.text(arguments, "query"),
            take.whole(arguments, "k", defaults.FREEZE_K, least=1, most=schemas.FREEZE_MOST_K),
            take.texts(arguments, "exts"),
            take.texts(arguments, "years"),
            take.texts(arguments, "roots"),
        )
        name, whole_files = take.text(arguments, "cache"), take.flag(arguments, "whole_files", False)
        return reply(app.freeze_search(question, name, whole_files, stop=work.stop, caller=work.caller))

    return Tool(
        NAME,
        "Freeze a search",
        "Write the passages that a search finds into a new context cache, redacted, with where each comes from. "
        "context.resolve and context.pack then answer from it, the same bytes every time.",
        schemas.FREEZE_SEARCH_IN,
        run,
        lambda error: refusal(error, clean),
        schemas.FREEZE_SEARCH_OUT,
        is_read_only=False,
        knows_arguments=True,
        seconds=seconds,
    )
