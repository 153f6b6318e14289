"""`context search`: its command line, by click; `searching.py` does the work."""

from __future__ import annotations

from typing import Any

import click

from smart_context import defaults
from smart_context.cli import searching
from smart_context.cli.options import filter_options, json_option, settings_options
from smart_context.cli.program import Command


@click.command(cls=Command)
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option(
    "-k",
    "--limit",
    "k",
    type=int,
    default=defaults.K,
    show_default=True,
    help=f"Results to show, 1 to {defaults.MAX_K}.",
)
@click.option("--offset", type=int, default=0, show_default=True, help="How many results to skip first.")
@filter_options
@click.option(
    "--sort",
    type=click.Choice(defaults.SORTS),
    default=defaults.SORT,
    show_default=True,
    help="The order of results; by date the newest come first.",
)
@click.option("--all-copies", is_flag=True, help="Show copies too: a text in every file that holds it.")
@click.option("--explain", is_flag=True, help="Show how the query was read and why each result is where it is.")
@click.option("-l", "--names", is_flag=True, help="Print only the names of the files, each once.")
@click.option("-0", "--null", is_flag=True, help="Print the names as they are on disk, each with a NUL behind it.")
@click.option("--group", "grouped", is_flag=True, help="Put the results of a file together.")
@click.option("--open", "opened", type=int, metavar="N", help="Open the Nth result in its application.")
@click.option("--unredacted", is_flag=True, help="Hide nothing. For your own use; it is logged.")
@click.option("--jsonl", is_flag=True, help="Print each result as JSON on a line of its own.")
@click.option("-i", "--interactive", is_flag=True, help="Search as you type, with a preview; F1 there shows the keys.")
@settings_options
@json_option
def search(**given: Any) -> None:
    """Find files by what they say. QUERY is plain language; quoted phrases, -word, AND, OR, NOT, NEAR/5 and word* work.

    \b
    Examples:
      context search contracts with vendor X from 2021
      context search '"notice period" -draft' --ext .docx
      context search budget spreadsheets --in ~/finance --json
      context search minutes --since 2024-03 --sort date
      context search travel policy --open 1
      context search router password --unredacted
      context search -0 invoice total | xargs -0 ls -l
      context search -i
    """
    searching.run(**given)
