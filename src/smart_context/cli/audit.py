"""`context audit`: read the log of tool calls, and check that nobody has changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from smart_context import plain
from smart_context.cli import say, show
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Command
from smart_context.errors import NotFound, UsageError

if TYPE_CHECKING:
    from smart_context.access.audit_check import EntryFilters
    from smart_context.settings.config import Settings

_ACTIONS = ("show", "verify", "anchor")


@click.command(cls=Command)
@click.argument(
    "action", required=False, type=click.Choice(_ACTIONS), default="show", metavar=f"[{'|'.join(_ACTIONS)}]"
)
@click.option("--tool", default="", help="Only calls of this tool.")
@click.option("--caller", default="", help="Only calls of this caller.")
@click.option("--outcome", type=click.Choice(["ok", "error", "cancelled"]), help="Only calls with this outcome.")
@click.option("--since", default="", metavar="TIME", help="Only calls since then: 2026-05-01, or 2026-05-01T12:30.")
@click.option("--until", default="", metavar="TIME", help="Only calls up to then.")
@click.option("--anchor", default="", metavar="ANCHOR", help="With verify: prove that nothing before it changed.")
@click.option("--all-nodes", is_flag=True, help="The lines of every machine of a shared record, not of this one.")
@settings_options
@json_option
def audit(
    action: str,
    tool: str,
    caller: str,
    outcome: str | None,
    since: str,
    until: str,
    anchor: str,
    all_nodes: bool,
    settings: Settings,
    as_json: bool,
) -> None:
    """Show the log of tool calls (UTC), or verify that no line of it was changed or removed.

    Each line carries the hash of the one before it. `verify` exits with 5 when the chain is broken. `anchor` prints the number and
    hash of the last line: kept where nobody can change it, it proves later that nothing before it changed, even if all was written anew.
    Of a shared record, `--all-nodes` shows or verifies the lines that every machine's server has delivered, one chain a log.

    \b
    Examples:
      context audit --tool searchFiles --since 2026-05-01
      context audit --outcome error --json
      context audit verify
      context audit anchor
      context audit verify --all-nodes
      context audit verify --anchor 41-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    """
    from smart_context.access import audit_check

    if anchor and action != "verify":
        raise UsageError("--anchor goes with verify")
    filters = audit_check.EntryFilters(
        tool, caller, outcome or "", audit_check.moment(since), audit_check.moment(until)
    )
    if all_nodes:
        _of_all(action, anchor, filters, settings, as_json=as_json)
        return
    path = settings.audit_path()
    if action != "show":
        _verify(path, anchor, as_json=as_json, prints_anchor=action == "anchor")
        return
    for entry in audit_check.read(path, filters):
        click.echo(show.json_of(entry) if as_json else _line(entry))


def _of_all(action: str, anchor: str, filters: EntryFilters, settings: Settings, *, as_json: bool) -> None:
    from smart_context import team
    from smart_context.access import ledger

    if anchor or action == "anchor":
        raise UsageError("anchors are of one machine's log: leave out --all-nodes")
    kept = team.ledger(settings)
    chains = kept.chains()
    if not chains:  # nothing to verify is no proof of anything
        raise NotFound(
            "the shared record has no audit lines", hint="servers deliver theirs within seconds; see `audit.enabled`"
        )
    if action == "show":
        for entry in ledger.read(kept, filters):
            click.echo(show.json_of(entry) if as_json else f"{plain.line(str(entry['node']))}  {_line(entry)}")
        return
    verdicts = [(chain, ledger.verify(kept, chain)) for chain in chains]
    for chain, verdict in verdicts:
        problems = [{"line": p.line, "what": p.what} for p in verdict.problems]
        if as_json:
            told = {"node": chain, "intact": verdict.is_intact, "lines": verdict.lines, "lost": verdict.lost}
            click.echo(show.json_of({**told, "head": verdict.head, "problems": problems}))
            continue
        for problem in verdict.problems:
            click.echo(plain.line(f"{chain}:{problem.line}: {problem.what}"))
        how = "intact" if verdict.is_intact else "changed since they were written"
        click.echo(plain.line(f"{chain}: {show.plural(verdict.lines, 'line')}, {how}"), err=True)
    if not all(verdict.is_intact for _, verdict in verdicts):
        raise click.exceptions.Exit(5)


def _line(entry: dict[str, object]) -> str:
    counts = entry.get("counts")
    told = " ".join(f"{name}={count}" for name, count in counts.items()) if isinstance(counts, dict) else ""
    how = entry.get("error") or entry.get("outcome")
    who = f"{entry.get('caller')}" + (f" ({entry['client']})" if entry.get("client") else "")
    query = f"  {entry['query']!r}" if "query" in entry else ""
    return plain.line(
        f"{entry.get('time')}  {entry.get('tool')!s:<18} {how!s:<14} {entry.get('latency_ms')!s:>10} ms  {who}  {told}{query}"
    )


def _verify(path: str, anchor: str, *, as_json: bool, prints_anchor: bool) -> None:
    from smart_context.access import audit_check

    verdict = audit_check.verify(path, anchor)
    if prints_anchor and verdict.is_intact:
        click.echo(show.json_of({"anchor": verdict.head}) if as_json else verdict.head)
        return
    if as_json:
        problems = [{"file": p.file, "line": p.line, "what": p.what} for p in verdict.problems]
        told = {"intact": verdict.is_intact, "lines": verdict.lines, "lost": verdict.lost, "problems": problems}
        click.echo(show.json_of(told))
    else:
        for problem in verdict.problems:
            click.echo(plain.line(f"{problem.file}:{problem.line}: {problem.what}"), err=prints_anchor)
        how = "intact" if verdict.is_intact else "changed since they were written"
        lost = f"; {show.plural(verdict.lost, 'call')} could not be logged" if verdict.lost else ""
        say(f"{show.plural(verdict.lines, 'line')}, {how}{lost}")
    if not verdict.is_intact:
        raise click.exceptions.Exit(5)
