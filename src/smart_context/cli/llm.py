"""`context summarize`, `context rewrite`, `context llm check`: answers by a language model, or offline."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smart_context import defaults
from smart_context.cli import say
from smart_context.cli.layout import columns, fitted
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Command, Group
from smart_context.cli.show import json_of, safe

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

_NOTHING: dict[str, Any] = {"summary": "", "tokens_used": {"prompt": 0, "completion": 0}}


@click.command(cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option(
    "-k",
    "--limit",
    "k",
    type=int,
    default=defaults.K,
    show_default=True,
    help=f"Results to summarize, 1 to {defaults.MAX_K}.",
)
@click.option(
    "--style",
    type=click.Choice(defaults.STYLES),
    default="bullets",
    show_default=True,
    help="The form of the summary.",
)
@click.option("--max-tokens", type=int, default=400, show_default=True, help="Most tokens the summary may take.")
@click.option("--ext", "exts", multiple=True, metavar="EXT", help="Only files of this type, such as .pdf; repeatable.")
@click.option("--year", "years", multiple=True, metavar="YEAR", help="Only files with this year; repeatable.")
@settings_options
@json_option
def summarize(
    words: tuple[str, ...],
    k: int,
    style: str,
    max_tokens: int,
    exts: tuple[str, ...],
    years: tuple[str, ...],
    settings: Settings,
    as_json: bool,
) -> None:
    """Search for QUERY and summarize what the results say about it, with their sources.

    \b
    Examples:
      context summarize when does the agreement with Oakford end
      context summarize vendor X contracts from 2021 --style table -k 20

    Without a language model in the configuration the summary is made of sentences from the files, and nothing leaves this
    machine.
    """
    from smart_context.api import App

    query = " ".join(words)
    with App(settings) as app:
        items = app.search_files(query, k, 0, exts, years)["items"]
        answer = app.summarize_results(query, items, style, max_tokens) if items else _NOTHING
    if as_json:
        click.echo(json_of(answer))
        return
    if not items:
        say("nothing found")
        return
    click.echo(fitted(safe(answer["summary"]), columns(sys.stdout)))
    used = answer["tokens_used"]
    if used["prompt"]:
        say(f"{settings.llm.model}: {used['prompt']:,} tokens asked, {used['completion']:,} answered")


@click.command(cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@settings_options
@json_option
def rewrite(words: tuple[str, ...], settings: Settings, as_json: bool) -> None:
    """Turn QUERY, a question in plain words, into the query language with its filters.

    \b
    Examples:
      context rewrite find vendor X contracts from 2021 in ppt or docx
    """
    from smart_context.api import App

    with App(settings) as app:
        answer = app.rewrite_query(" ".join(words))
    if as_json:
        click.echo(json_of(answer))
        return
    click.echo(safe(answer["fts"]))
    for name, values in answer["filters"].items():
        if values:
            click.echo(f"{name}: {' '.join(values)}")
    say(safe(answer["notes"]))


@click.group(cls=Group)
def llm() -> None:
    """Look at the language model that is configured."""


@llm.command()
@click.option("--send", is_flag=True, help="Send the example, and show the answer.")
@settings_options
@json_option
def check(send: bool, settings: Settings, as_json: bool) -> None:
    """Show what is sent to the language model, and to whom.

    Nothing is sent without --send. The example is made up; real snippets go the same way, redacted and cut.

    \b
    Examples:
      context llm check
      context llm check --send
    """
    from smart_context.llm import check as stage
    from smart_context.redact import Redactor

    found = stage.report(settings.llm, Redactor(settings.redaction.patterns), Path(settings.data_dir))
    tried = stage.trial(settings.llm, found.messages, lambda: None) if send and found.provider == "openai" else None
    if as_json:
        told = {
            **{name.replace(" ", "_"): value for name, value in found.facts},
            "messages": [{"role": message.role, "content": message.content} for message in found.messages],
            **({"answer": tried.answer, "seconds": round(tried.seconds, 3)} if tried else {}),
        }
        click.echo(json_of(told))
        return
    for name, value in found.facts:
        click.echo(f"{name + ':':<15} {safe(value)}")
    for message in found.messages:
        click.echo(f"\n--- {message.role}\n{safe(message.content)}")
    if tried:
        counts = f"{tried.prompt_tokens} tokens asked, {tried.completion_tokens} answered"
        click.echo(f"\n--- answer after {tried.seconds:.1f} s ({counts})\n{safe(tried.answer)}")
    elif send:
        say("there is no endpoint to send it to")
