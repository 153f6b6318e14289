"""Roots that are not indexed yet: name them, and offer to index them.

In: an application, before or after a search.  Out: lines on stderr, and perhaps an index.
Always: there is a question only on a terminal; programs get the same answer and no question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smart_context.cli import GivenOptions, quoted, results, say
from smart_context.cli.show import ask, can_ask

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.settings.config import Settings

_MOST_NAMED = 3  # roots, one a line


def offer(app: App, settings: Settings) -> None:
    """Ask a person whether roots that were never indexed should be, and do so."""
    if not can_ask() or app.engine.writer():
        return
    missing = [root for root in app.unindexed() if not (app.has_index() and app.is_begun(root))]
    if not missing:
        return
    more = f" and {len(missing) - 1} more were" if len(missing) > 1 else " was"
    if ask(f"{results.place(missing[0])}{more} never indexed. Index now?"):
        from smart_context.cli import indexing

        indexing.read(settings, tuple(missing))


def name(app: App) -> None:
    """Name the roots that were searched in part, or not at all."""
    if not app.has_index():
        return
    roots = app.unindexed()
    if not roots:
        return
    if who := app.engine.writer():
        say(f"what was read so far is searched; the index is being written by {who}")
        return
    for root in roots[:_MOST_NAMED]:
        is_begun = app.is_begun(root)
        told = (
            "searched in part, because its first run did not end"
            if is_begun
            else "not searched, because it was never indexed"
        )
        say(f"{told}: {results.place(root)}")
    more = f"; {len(roots) - _MOST_NAMED} more like it" if len(roots) > _MOST_NAMED else ""
    say(f"index it with: context index {quoted(results.place(roots[0]))}{GivenOptions.place}{more}")
