"""`context doctor`: look over the installation, and say what to do."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from smart_context.cli import Command
from smart_context.cli.options import json_option
from smart_context.cli.show import json_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smart_context.cli.checks import Finding

_MARKS = {"ok": ("✓", "green"), "note": ("·", "cyan"), "warning": ("!", "yellow"), "problem": ("✗", "red")}
_FOLDER = click.Path(file_okay=False)


@click.command(cls=Command)
@click.option(
    "--config", "config_file", type=click.Path(dir_okay=False), metavar="FILE", help="Read this configuration file."
)
@click.option(
    "--root", "roots", type=_FOLDER, multiple=True, metavar="DIR", help="A folder that may be read; repeatable."
)
@click.option("--data-dir", type=_FOLDER, metavar="DIR", help="Where the index is kept.")
@click.option("--cache-root", type=_FOLDER, metavar="DIR", help="The folder of caches.")
@click.option("--fix", is_flag=True, help="Mend what can be mended without asking, and check again.")
@json_option
def doctor(
    config_file: str | None,
    roots: tuple[str, ...],
    data_dir: str | None,
    cache_root: str | None,
    fix: bool,
    as_json: bool,
) -> None:
    """Check installation, configuration, roots, index, caches, models, server and clients.

    Each problem comes with what mends it. --fix mends clients' entries whose program is gone or of another version,
    takes folders that were removed out of them, and closes the data folder to others; copies of the settings stay beside them.
    Exits with 1 when there is a problem, with 0 otherwise.
    """
    from smart_context.cli import checks as core
    from smart_context.clients import command

    flags = {"config": config_file, "roots": roots, "data_dir": data_dir, "cache_root": cache_root}
    server = [*command.words(), "serve"]
    for option, value in (("--config", config_file), ("--data-dir", data_dir), ("--cache-root", cache_root)):
        server += [option, value] if value else []
    for root in roots:
        server += ["--root", root]
    looked: Iterable[Finding] = core.examine(flags, server)
    if fix:
        looked = list(looked)
        if found := [finding for finding in looked if finding.mend]:
            for finding in found:
                click.echo(core.mend(finding), err=True)
            looked = core.examine(flags, server)
    findings = []
    for finding in looked:  # each is shown before the next is looked for: some take seconds
        findings.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        click.echo(json_of([asdict(finding) for finding in findings], indent=2))
    if any(finding.grade == "problem" for finding in findings):
        raise click.exceptions.Exit(1)


def _show(finding: Finding) -> None:
    mark, colour = _MARKS[finding.grade]
    click.echo(f"{click.style(mark, fg=colour)} {finding.area:<15} {finding.what}")
    if finding.fix:
        click.echo(f"  {'':<15} → {finding.fix}")
