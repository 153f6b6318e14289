"""The commands `freeze` and `replay`: from a search to a cache, and back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from smart_context import defaults
from smart_context.cli import say
from smart_context.cli.cache import print_bytes
from smart_context.cli.options import filter_options, json_option, settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import DIFFERENT
from smart_context.errors import UsageError

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.cache.build import Built
    from smart_context.frozen.provenance import Question
    from smart_context.frozen.replay import Change
    from smart_context.frozen.verbs import FreezeOptions
    from smart_context.model import OnProgress
    from smart_context.settings.config import Settings

_COLOURS = {"unchanged": None, "changed": "yellow", "missing": "red", "moved in rank": "cyan", "new": "green"}


@click.command(cls=Command)
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@click.option("--cache", required=True, metavar="DIR", help="Where the cache is made.")
@click.option(
    "-k",
    "--limit",
    "k",
    type=int,
    default=defaults.FREEZE_K,
    show_default=True,
    help="How many passages to freeze, or files.",
)
@filter_options
@click.option("--whole-files", is_flag=True, help="One document for each file instead of each passage.")
@click.option("--unredacted", is_flag=True, help="Hide nothing. For your own use; it is logged.")
@click.option("--from", "results", metavar="FILE", help="Freeze what `context search --json` printed into this file.")
@click.option("--paths-from", "paths", metavar="FILE", help="Freeze the files that this file names, one on each line.")
@click.option(
    "--sources",
    type=click.Path(readable=False),
    metavar="DIR",
    help="Search this folder without an index, and leave none.",
)
@click.option("--force", is_flag=True, help="Replace the cache that stands there, in one step.")
@settings_options
def freeze(
    words: tuple[str, ...],
    cache: str,
    k: int,
    exts: tuple[str, ...],
    years: tuple[str, ...],
    folders: tuple[str, ...],
    since: str,
    until: str,
    whole_files: bool,
    unredacted: bool,
    results: str | None,
    paths: str | None,
    sources: str | None,
    force: bool,
    settings: Settings,
) -> None:
    """Freeze what a search finds into a cache, with its sources.

    \b
    Examples:
      context freeze --cache answer.cache how do we deploy
      context freeze --cache answer.cache --whole-files -k 5 vendor contracts --ext .pdf
      context search budget --json > found.json && context freeze --cache budget.cache --from found.json
      context freeze --cache notes.cache --sources ~/notes release checklist
      context freeze --cache minutes.cache minutes --since 'last month'

    Passages are Markdown, redacted. freeze.json beside the manifest says what was asked and where each document stands in
    which file. `context replay` asks again. A question that finds nothing freezes nothing (exit 2). The same question freezes the
    same on every day: "last week" within it are words; --since and --until take them, and freeze.json names the days.
    """
    from smart_context.cli.show import plural
    from smart_context.frozen import ask
    from smart_context.frozen.collect import Picked
    from smart_context.frozen.provenance import Question
    from smart_context.frozen.verbs import FreezeOptions

    if sum(map(bool, (words, results, paths))) != 1:
        raise UsageError("give a question, --from FILE or --paths-from FILE, one of them")
    if sources and not words:
        raise UsageError("--sources needs a question")
    picked = ask.printed(results) if results else ask.listed(paths) if paths else None
    if picked is not None and (whole_files or paths):
        whole_files = True
        picked = list({one.path: Picked(one.path, None, one.score) for one in reversed(picked)}.values())[::-1]
    within = tuple(os.path.abspath(folder) for folder in folders)
    question = Question(" ".join(words), k, exts, years, within, since=since, until=until)
    how = FreezeOptions(None if picked is None else tuple(picked), whole_files, unredacted, force)
    _mind_the_day(question.query)
    built = _frozen(settings, question, cache, how, sources)
    say(f"{plural(built.document_count, 'document')}, {built.cache_version}")


def _mind_the_day(query: str) -> None:
    """Say that words such as "last week", which a search reads as a time, are words here."""
    import time

    from smart_context.find import filters

    if (
        filters.read(query, today=time.strftime("%Y-%m-%d", time.gmtime())).read_times
        != filters.read(query, today="").read_times
    ):
        say(
            "note: words for a time that depends on today are looked for as words; give it as --since or --until instead"
        )


@click.command(cls=Command)
@click.argument("cache", metavar="CACHE")
@click.option(
    "--sources",
    type=click.Path(readable=False),
    metavar="DIR",
    help="Search this folder without an index, and leave none.",
)
@settings_options
@json_option
def replay(cache: str, sources: str | None, settings: Settings, as_json: bool) -> None:
    """Ask the question of a frozen cache again, and say what changed.

    \b
    Examples:
      context replay answer.cache
      context replay answer.cache --sources ~/notes --json

    Exit status 0 if every document is unchanged, 8 if not.
    """
    from smart_context.cli.show import ProgressBar
    from smart_context.frozen import provenance
    from smart_context.frozen import replay as stage

    provenance.read(cache)  # so that a cache without a question is refused before a folder is read
    with ProgressBar("asking again", at_once=True) as bar, _searching(settings, sources, bar) as app:
        origin, found = app.replay(cache)
    if as_json:
        print_bytes(stage.to_json(origin, found))
    else:
        _show(found)
    if not stage.is_same(found):
        raise click.exceptions.Exit(DIFFERENT)


def _frozen(settings: Settings, question: Question, cache: str, how: FreezeOptions, sources: str | None) -> Built:
    from smart_context.cli.show import ProgressBar

    with ProgressBar("freezing", at_once=True) as bar, _searching(settings, sources, bar) as app:
        return app.freeze(question, cache, how, on_progress=bar)


@contextmanager
def _searching(settings: Settings, sources: str | None, bar: OnProgress) -> Iterator[App]:
    """Give what searches: over the index, or over an index of `sources` that is made for this and removed again."""
    from smart_context.api import App

    if sources is None:
        with App(settings) as app:
            yield app
        return
    import tempfile
    from dataclasses import replace

    root = os.path.abspath(sources)
    with (
        tempfile.TemporaryDirectory(prefix="context-freeze-") as scratch,
        App(replace(settings, roots=(root,), data_dir=scratch, engine="")) as app,
    ):
        app.index_here(root, full=False, on_progress=bar)
        yield app


def _show(found: list[Change]) -> None:
    from smart_context.cli.layout import columns, table
    from smart_context.plain import line as safe

    rows = [(one.state, safe(one.id), str(one.was or "-"), str(one.now or "-")) for one in found]
    head = ("state", "document", "rank then", "now")
    lines = table(head, rows, left=range(2), names=(1,), room=columns(sys.stdout))
    click.secho(lines[0], bold=True)
    for one, line in zip(found, lines[1:], strict=True):
        click.secho(line, fg=_COLOURS[one.state])
    counts = {state: sum(one.state == state for one in found) for state in _COLOURS}
    say(", ".join(f"{count} {state}" for state, count in counts.items() if count) or "the cache holds nothing")
