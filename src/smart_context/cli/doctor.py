"""`context doctor`: look over the installation, and say what to do."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from smart_context.cli import layout
from smart_context.cli.options import json_option
from smart_context.cli.program import Command
from smart_context.cli.show import StatusLine, json_of
from smart_context.data import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smart_context.cli.checks import Finding

_MARKS = {"ok": ("✓", "green"), "note": ("·", "cyan"), "warning": ("!", "yellow"), "problem": ("✗", "red")}
_WITH_AREA = 60  # columns from which what was found stands beside what was looked at
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
    now = _CurrentCheck()
    looked: Iterable[Finding] = core.examine(flags, server, now.show)
    if fix:
        looked = list(looked)
        now.clear()
        if found := [finding for finding in looked if finding.mend]:
            for finding in found:
                click.echo(core.mend(finding), err=True)
            looked = core.examine(flags, server, now.show)
    findings = []
    try:
        for finding in looked:  # each is shown before the next is looked for: some take seconds
            findings.append(finding)
            now.clear()
            if not as_json:
                _show(finding)
                now.again()
    finally:
        now.clear()
    if as_json:
        click.echo(json_of([asdict(finding) for finding in findings], indent=2))
    if any(finding.grade == "problem" for finding in findings):
        raise click.exceptions.Exit(1)


class _CurrentCheck(StatusLine):
    """A line that says what is being checked, below what was found so far."""

    _text = ""

    def show(self, text: str) -> None:
        """Say what is being checked."""
        self._text = text
        super().show(text)

    def again(self) -> None:
        """Say it once more, below what was found."""
        if self._text:
            super().show(self._text)


def _show(finding: Finding) -> None:
    mark, colour = _MARKS[finding.grade]
    room = layout.columns(sys.stdout)
    if room:
        finding = replace(finding, what=layout.with_home(finding.what), fix=layout.with_home(finding.fix))
    if 0 < room < _WITH_AREA:  # the area on a line of its own
        click.echo(f"{click.style(mark, fg=colour)} {finding.area}")
        told, indent = finding.what, "  "
    else:
        told, indent = f"{finding.area:<15} {finding.what}", " " * 18
        told = layout.fitted(f"  {told}", min(room, layout.WIDEST), indent[2:])[2:]
        click.echo(f"{click.style(mark, fg=colour)} {told}")
        told = ""
    for line in (told, finding.fix and f"→ {finding.fix}"):
        if line:
            click.echo(layout.fitted(indent + line, min(room, layout.WIDEST)))
