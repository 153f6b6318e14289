"""`context search`: find text in indexed files. `search.py` and `quick.py` parse its command line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from smart_context import defaults, plain
from smart_context.access.roots import parsed
from smart_context.cli import GivenOptions, echo, last_search, results, say, unindexed
from smart_context.cli.layout import is_terminal
from smart_context.cli.show import json_of, say_unredacted
from smart_context.errors import IoError, UsageError
from smart_context.find.model import NOT_INDEXED, SearchRequest

if TYPE_CHECKING:
    from smart_context.find.model import SearchPage
    from smart_context.settings.config import Settings


def run(
    *,
    settings: Settings,
    words: tuple[str, ...] = (),
    k: int = defaults.K,
    offset: int = 0,
    exts: tuple[str, ...] = (),
    years: tuple[str, ...] = (),
    folders: tuple[str, ...] = (),
    since: str = "",
    until: str = "",
    sort: str = defaults.SORT,
    all_copies: bool = False,
    explain: bool = False,
    names: bool = False,
    null: bool = False,
    grouped: bool = False,
    opened: int | None = None,
    unredacted: bool = False,
    jsonl: bool = False,
    interactive: bool = False,
    as_json: bool = False,
) -> None:
    """Find files by what they say, and show them."""
    from smart_context.api import App

    names = names or null
    if as_json + jsonl + names > 1:
        raise UsageError("--json, --jsonl and --names are ways to print the same; give one of them")
    request = SearchRequest(
        " ".join(words),
        k,
        offset,
        exts,
        years,
        tuple(os.path.abspath(folder) for folder in folders),
        all_copies=all_copies,
        since=since,
        until=until,
        sort=sort,
    )
    if interactive:
        if as_json or jsonl or names or grouped or explain or unredacted or opened is not None:
            import click

            raise click.UsageError("--interactive shows results in its own way; leave out the other ways")
        from smart_context.cli import interactive as screen

        screen.search(settings, request)
        return
    if not words:
        import click

        raise click.UsageError("Missing argument 'QUERY...'.")
    is_for_programs = as_json or jsonl or names
    with App(settings) as app:
        if not is_for_programs:
            unindexed.offer(app, settings)
        page = app.find(request, unredacted=unredacted)
        has_index = app.has_index()
        unindexed.name(app)
    chosen = None if opened is None else _chosen(page, opened)
    if unredacted:
        say_unredacted(settings)
    if not as_json:
        _say_notes(page, explain=explain and not is_for_programs)
    if as_json:
        echo(json_of(page.explained() if explain else page.answer()))
    elif null and not is_terminal(sys.stdout):
        _write_names(page)
    elif jsonl or names:
        for line in map(json_of, page.answer()["items"]) if jsonl else results.names(page):
            echo(line)
    else:
        _show(page, explain=explain, grouped=grouped)
        last_search.keep(settings.data_dir, page)
        if not page.items and not _is_past_the_end(page):
            say(_what_else(request) if has_index else f"begin with: context index FOLDER{GivenOptions.place}")
    if chosen:
        launch(chosen)


def _write_names(page: SearchPage) -> None:
    """Write the names of files as they are on disk, each with a NUL behind it."""
    sys.stdout.buffer.write(b"".join(os.fsencode(parsed(name)) + b"\0" for name in results.paths(page)))
    sys.stdout.flush()


def _say_notes(page: SearchPage, *, explain: bool) -> None:
    """Say what changed the answer, except what was said already or is part of the explanation."""
    for note in page.notes:
        if not note.startswith(NOT_INDEXED) and not (explain and note in page.interpretation):
            say(plain.line(note))


def _show(page: SearchPage, *, explain: bool, grouped: bool) -> None:
    for line in page.interpretation if explain else ():
        say(plain.line(line))
    for line in results.lines(page, explain=explain, grouped=grouped):
        echo(line)
    if _is_past_the_end(page):
        say(f"no more results: there are about {page.total_estimate:,}, and --offset passes over {page.offset:,}")
    elif not page.items:
        say("nothing found")
    elif page.total_estimate > page.offset + len(page.items):
        shown = f"{page.offset + 1}–{page.offset + len(page.items)} of about {page.total_estimate:,}"
        say(f"{shown}; more with --offset {page.offset + len(page.items)}")


def _is_past_the_end(page: SearchPage) -> bool:
    """Whether something was found, but --offset skips all of it."""
    return not page.items and 0 < page.total_estimate <= page.offset


def _what_else(request: SearchRequest) -> str:
    """What to try after a search that found nothing."""
    if request.exts or request.years or request.folders or request.since or request.until:
        return "it may be in files that --ext, --year, --in, --since or --until leave out; try without them"
    return f"try fewer or other words; see what is indexed with: context status{GivenOptions.options}"


def _chosen(page: SearchPage, number: int) -> str:
    """The file of a result, by the number that is shown before it."""
    if not 0 < number - page.offset <= len(page.items):
        last_one = page.offset + len(page.items)
        shown = f"the results are {page.offset + 1} to {last_one}; -k shows more" if page.items else "nothing was found"
        raise UsageError(f"there is no result {number}", hint=shown)
    return page.items[number - page.offset - 1].path


def launch(path: str) -> None:
    """Open a file in its application, as a click on it would.

    Raises: IoError where there is none.
    """
    from smart_context import launch as desktop

    try:
        is_open = desktop.document(parsed(path))
    except FileNotFoundError:
        is_open = False
    if not is_open:
        raise IoError(f"no application opened {results.place(path)}", hint="open it by hand")
