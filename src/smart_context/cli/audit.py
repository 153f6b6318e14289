"""`context audit`: read the log of tool calls, and check that nobody has changed it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from smart_context.cli import Command
from smart_context.cli.options import json_option, settings_options

if TYPE_CHECKING:
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@click.argument("action", required=False, type=click.Choice(["show", "verify"]), default="show")
@click.option("--tool", default="", help="Only calls of this tool.")
@click.option("--caller", default="", help="Only calls of this client.")
@click.option("--outcome", type=click.Choice(["ok", "error", "cancelled"]), help="Only calls that ended so.")
@click.option("--since", default="", metavar="TIME", help="Only calls from then on: 2026-05-01, or 2026-05-01T12:30.")
@click.option("--until", default="", metavar="TIME", help="Only calls up to then.")
@settings_options
@json_option
def audit(
    action: str,
    tool: str,
    caller: str,
    outcome: str | None,
    since: str,
    until: str,
    settings: Settings,
    as_json: bool,
) -> None:
    """Show the log of tool calls (UTC), or verify that no line of it was changed or removed.

    Each line carries the hash of the one before it. `verify` exits with 5 when the chain is broken.

    \b
    Examples:
      context audit --tool searchFiles --since 2026-05-01
      context audit --outcome error --json
      context audit verify
    """
    from smart_context.access import audit_check

    path = settings.audit_path()
    if action == "verify":
        _verify(path, as_json=as_json)
        return
    filters = audit_check.Filters(tool, caller, outcome or "", since, until)
    for entry in audit_check.read(path, filters):
        click.echo(json.dumps(entry, ensure_ascii=False) if as_json else _line(entry))


def _line(entry: dict[str, object]) -> str:
    counts = entry.get("counts")
    told = " ".join(f"{name}={count}" for name, count in counts.items()) if isinstance(counts, dict) else ""
    how = entry.get("error") or entry.get("outcome")
    query = f"  {entry['query']!r}" if "query" in entry else ""
    return f"{entry.get('time')}  {entry.get('tool')!s:<18} {how!s:<14} {entry.get('latency_ms'):>10} ms  {entry.get('caller')}  {told}{query}"


def _verify(path: str, *, as_json: bool) -> None:
    from smart_context.access import audit_check

    verdict = audit_check.verify(path)
    if as_json:
        problems = [{"file": p.file, "line": p.line, "what": p.what} for p in verdict.problems]
        click.echo(json.dumps({"intact": verdict.is_intact, "lines": verdict.lines, "problems": problems}))
    else:
        for problem in verdict.problems:
            click.echo(f"{problem.file}:{problem.line}: {problem.what}")
        click.echo(
            f"{verdict.lines:,} lines, {'intact' if verdict.is_intact else 'changed since they were written'}", err=True
        )
    if not verdict.is_intact:
        raise click.exceptions.Exit(5)
