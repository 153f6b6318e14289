"""The commands that explain and compare caches: why, diff."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from smart_context.cli import say
from smart_context.cli.cache import print_bytes
from smart_context.cli.program import Command
from smart_context.cli.show import DIFFERENT
from smart_context.errors import UsageError
from smart_context.plain import line

if TYPE_CHECKING:
    from smart_context.frozen.diff import Difference
    from smart_context.frozen.why import Reason

_MOST_ROWS = 50
_STATE = 9  # columns for what became of a document


@click.command(cls=Command)
@click.argument("document", metavar="[ID]", required=False)
@click.option("--cache", required=True, metavar="DIR", help="The cache.")
@click.option("--query", required=True, help="The query, as for resolve.")
@click.option("--budget", required=True, metavar="TOKENS", help="The budget, as for resolve.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def why(document: str | None, cache: str, query: str, budget: str, as_json: bool) -> None:
    """Explain why resolve takes a document, or not.

    \b
    Examples:
      context why --cache docs.cache --query "how do I deploy" --budget 4000
      context why --cache docs.cache --query "how do I deploy" --budget 4000 guides/deploy.md

    Without an ID, every document is listed in the order in which resolve looks at them.
    """
    from smart_context.cache import names, resolve
    from smart_context.cache.document import id_of
    from smart_context.frozen import why as stage

    asked = names.as_text(query)
    resolve.check(asked, 0)
    limit = resolve.budget_of(budget)
    found = stage.reasons(cache, asked, limit)
    if document is not None:
        found = [stage.about(found, id_of(names.as_text(document)))]
    if as_json:
        print_bytes(stage.to_json(found, asked, limit))
    elif document is not None:
        _explain(found[0], limit)
    else:
        _list(found)


@click.command(cls=Command)
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--stat", is_flag=True, help="Print counts of lines instead of the lines.")
@click.option("--query", help="Also compare what this query selects from each.")
@click.option("--budget", metavar="TOKENS", help="The budget for that.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(old: str, new: str, stat: bool, query: str | None, budget: str | None, as_json: bool) -> None:
    """Compare two caches: documents added, removed, moved and changed.

    \b
    Examples:
      context diff monday.cache friday.cache
      context diff monday.cache friday.cache --stat
      context diff monday.cache friday.cache --query "how do I deploy" --budget 4000

    Manifests are compared first, and only documents that differ are read. Exit status 0 if the caches hold the same, 8 if not.
    """
    from smart_context.cache import names, resolve
    from smart_context.frozen import diff as stage

    if (query is None) != (budget is None):
        raise UsageError("--query and --budget belong together")
    asked = None if query is None else names.as_text(query)
    resolve.check(asked or "", 0)
    found = stage.caches(old, new, query=asked, budget=resolve.budget_of(budget or "0"))
    if as_json:
        print_bytes(stage.to_json(found, with_text=not stat))
    else:
        _show(found, stat=stat)
    if not found.is_none:
        raise click.exceptions.Exit(DIFFERENT)


def _explain(one: Reason, budget: int) -> None:

    colour = "green" if one.is_taken else "yellow"
    click.echo(click.style(line(one.id), bold=True) + ": " + click.style(one.words, fg=colour))
    click.echo(f"  rank    {one.rank}")
    click.echo(f"  score   {one.score:.6g} ({one.term_matches} of {one.total_words} words match)")
    click.echo(f"  tokens  {one.tokens}; of the budget of {budget}, {one.left} were left")
    if one.instead:
        click.echo("  its room went to")
        for other, tokens in one.instead:
            click.echo(f"    {line(other)} ({tokens} tokens)")


def _list(found: list[Reason]) -> None:
    from smart_context.cli.layout import columns, table

    rows = [
        (str(one.rank), f"{one.score:.6f}", str(one.tokens), str(one.left), line(one.id), one.words)
        for one in found[:_MOST_ROWS]
    ]
    head = ("rank", "score", "tokens", "left", "document", "reason")
    lines = table(head, rows, left=range(4, 6), names=(4, 5), room=columns(sys.stdout))
    click.secho(lines[0], bold=True)
    for one, row in zip(found, lines[1:], strict=False):
        click.secho(row, fg="green" if one.is_taken else None)
    hidden = len(found) - len(rows)
    say(
        f"{sum(one.is_taken for one in found)} of {len(found)} documents are taken"
        + (f"; {hidden} more are not shown, --json has them" if hidden else "")
    )


def _name(state: str, name: str, after: str = "", *, fg: str) -> None:
    """A document and what became of it, on one line of a terminal."""
    from smart_context.cli.layout import columns, shortened

    told, room = line(name), columns(sys.stdout) - _STATE - len(after)
    click.secho(f"{state:<{_STATE}}{shortened(told, max(8, room)) if columns(sys.stdout) else told}{after}", fg=fg)


def _show(found: Difference, *, stat: bool) -> None:
    from smart_context.cli.show import plural

    for entry in found.added:
        _name("added", entry.id, fg="green")
    for entry in found.removed:
        _name("removed", entry.id, fg="red")
    for one in found.moved:
        _name("moved", f"{one.old} -> {one.new}", fg="cyan")
    for change in found.changed:
        _name("changed", change.id, f"  +{change.lines_added} -{change.lines_removed}", fg="yellow")
        for text in [] if stat else change.text.split("\n")[:-1]:
            click.secho(f"  {line(text)}", fg={"+": "green", "-": "red", "@": "cyan"}.get(text[:1]))
    if found.selected:
        for name in found.selected.gained:
            _name("gained", name, fg="green")
        for name in found.selected.lost:
            _name("lost", name, fg="red")
        say(f"the query selects {plural(found.selected.kept, 'document')} from both")
    counts = (
        (len(found.added), "added"),
        (len(found.removed), "removed"),
        (len(found.moved), "moved"),
        (len(found.changed), "changed"),
    )
    say("the caches hold the same documents" if found.is_none else ", ".join(f"{n} {what}" for n, what in counts))
