"""`context worker`: one of the machines that read files for a shared record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from smart_context.cli import say
from smart_context.cli.options import settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import plural

if TYPE_CHECKING:
    from smart_context.index.model import IndexReport
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@click.option("--once", is_flag=True, help="End when the queue is empty.")
@click.option(
    "--ocr/--no-ocr",
    "ocr",
    default=None,
    help="Read scanned pages and pictures too, or do not, whatever `ocr.enabled` says.",
)
@settings_options
def worker(once: bool, ocr: bool | None, settings: Settings) -> None:
    """Read files from the queue of a shared record, and write their text into it.

    A worker takes files below its own roots, wherever they are mounted here (`engine_places`), and follows changes of the roots in
    its configuration file. Any number of workers may run,
    on any number of machines. If one dies, another takes over its files. Scans come when nothing else waits.

    \b
    Examples:
      context index --enqueue
      context worker
      context worker --once
      context worker --ocr
    """
    from smart_context import team
    from smart_context.api import App

    def told(report: IndexReport) -> None:
        if report.read_pages or report.unread_pages:
            wait = f", {report.unread_pages:,} of the file wait" if report.unread_pages else ""
            say(f"{plural(report.read_pages, 'page')} read by OCR{wait}")
            return
        failed = f", {report.failed:,} failed" if report.failed else ""
        say(f"{plural(report.indexed, 'file')} read{failed}")

    with App(settings) as app:
        app.roots.check_any()
        team.work(app, told, wait=not once, scans=settings.ocr.enabled if ocr is None else ocr, report=say)
