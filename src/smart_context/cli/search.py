"""`context search` and `context open`: find text in indexed files, and look at a place in one."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from smart_context import defaults
from smart_context.cli import Command
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.show import safe, wrapped

if TYPE_CHECKING:
    from smart_context.find.model import SearchPage
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@click.argument("query")
@click.option(
    "-k",
    "--limit",
    "k",
    type=int,
    default=defaults.K,
    show_default=True,
    help=f"Results to show, 1 to {defaults.MAX_K}.",
)
@click.option("--offset", type=int, default=0, show_default=True, help="Results to pass over first.")
@click.option("--ext", "exts", multiple=True, metavar="EXT", help="Only files of this type, such as .pdf; repeatable.")
@click.option(
    "--year", "years", multiple=True, metavar="YEAR", help="Only files with this year in name or text; repeatable."
)
@click.option(
    "--in", "folders", multiple=True, metavar="DIR", help="Only files below this folder of a root; repeatable."
)
@click.option("--explain", is_flag=True, help="Show how the query was read and why each result is where it is.")
@settings_options
@json_option
def search(
    query: str,
    k: int,
    offset: int,
    exts: tuple[str, ...],
    years: tuple[str, ...],
    folders: tuple[str, ...],
    explain: bool,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find files by what they say. QUERY is plain language; quoted phrases, -word, AND, OR, NOT, NEAR/5 and word* work.

    \b
    Examples:
      context search "contracts with vendor X from 2021"
      context search '"notice period" -draft' --ext .docx
      context search "budget spreadsheets" --in ~/finance --json
    """
    from smart_context.api import App
    from smart_context.find.model import SearchRequest

    request = SearchRequest(query, k, offset, exts, years, tuple(os.path.abspath(folder) for folder in folders))
    with App(settings) as app:
        page = app.find(request)
        has_index = app.has_index()
    if as_json:
        click.echo(json.dumps(page.explained() if explain else page.answer(), ensure_ascii=False))
        return
    _show(page, explain=explain)
    if not has_index:
        click.echo("nothing is indexed yet; begin with: context index FOLDER", err=True)


def _show(page: SearchPage, *, explain: bool) -> None:
    for line in page.interpretation if explain else page.remarks:
        click.echo(line, err=True)
    for number, item in enumerate(page.items, page.offset + 1):
        place = click.style(_path(item.path), fg="cyan", bold=True)
        click.echo(f"{number:>3}. {place}  {click.style(safe(item.pointer), fg='green')}  {item.score:.2f}")
        click.echo(wrapped(safe(item.snippet), item.highlights, "     "))
        if explain:
            for line in item.explanation:
                click.echo(click.style(f"       {line}", dim=True))
    if not page.items:
        click.echo("nothing found", err=True)
    elif page.total_estimate > page.offset + len(page.items):
        shown = f"{page.offset + 1}–{page.offset + len(page.items)} of about {page.total_estimate}"
        click.echo(f"{shown}; more with --offset {page.offset + len(page.items)}", err=True)


def _path(path: str) -> str:
    relative = os.path.relpath(path)
    return safe(relative if not relative.startswith(os.pardir) else path).replace("\n", "?")


@click.command("open", cls=Command)
@click.argument("path", type=click.Path())
@click.option(
    "--pointer", metavar="PLACE", help='Where to look: "page 3", "sheet \'Q2\'", "lines 10-40", as search shows it.'
)
@click.option("--before", type=int, default=0, help="Characters to show before the place, at most 1000.")
@click.option("--after", type=int, default=0, help="Characters to show after the place, at most 1000.")
@settings_options
@json_option
def open_(path: str, pointer: str | None, before: int, after: int, settings: Settings, as_json: bool) -> None:
    """Show a part of the file at PATH as agents see it: text only, redacted, at most 2 kB.

    \b
    Examples:
      context open report.pdf --pointer "page 3"
      context open budget.xlsx --pointer "sheet 'Q2'"
    """
    from smart_context.api import App

    with App(settings) as app:
        answer = app.open_file(os.path.abspath(path), pointer, before, after)
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    click.echo(f"{_path(answer['path'])}  {answer['pointer']}", err=True)
    click.echo(safe(answer["preview"]).rstrip("\n"))
    if answer["truncated"]:
        click.echo(f"… there is more after {answer['pointer'] or 'this'}; ask for it with --pointer", err=True)
