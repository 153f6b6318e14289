"""`context index`: its command line, by click; `indexing.py` does the work."""

from __future__ import annotations

from typing import Any

import click

from smart_context.cli import indexing
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Command


@click.command(cls=Command)
@click.argument("folders", nargs=-1, type=click.Path(file_okay=False), metavar="[FOLDER]...")
@click.option("--full", is_flag=True, help="Read every file again, changed or not.")
@click.option("--no-embed", is_flag=True, help="Do not embed new text for ranking by meaning now.")
@click.option(
    "--ocr/--no-ocr",
    "ocr",
    default=None,
    help="Read scanned pages and pictures too, or do not, whatever `ocr.enabled` says.",
)
@click.option(
    "--rebuild",
    is_flag=True,
    help="Rebuild the ranking; a damaged record is moved aside first, and its files are read again.",
)
@click.option(
    "--enqueue", is_flag=True, help="Only list what is new or changed; `context worker` reads it, into a shared record."
)
@click.option(
    "--to", "to", metavar="ADDRESS", help="Copy the index of the data folder into a database, reading no file."
)
@click.option(
    "--from", "from_", metavar="ADDRESS", help="Copy a database's record into the data folder, reading no file."
)
@settings_options
@json_option
def index(**given: Any) -> None:
    """Read new and changed files of FOLDERs (default: all roots) into the index.

    \b
    Examples:
      context index ~/Documents
      context index
      context index --full ~/Documents/contracts

    A folder outside the configured roots is indexed all the same; searches find it when it is named as a root:
    `context roots add DIR` does that for good, `--root DIR` for one command.
    """
    indexing.run(**given)
