"""`context engine`: a database that holds the record for many machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from smart_context.cli import say
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Group
from smart_context.errors import UsageError

if TYPE_CHECKING:
    from smart_context.access.tokens import ClaimRule
    from smart_context.engine.port import Shared
    from smart_context.settings.config import Settings


@click.group(cls=Group)
def engine() -> None:
    """Prepare the database that the setting `engine` names, show its state, or upgrade its tables.

    \b
    Examples:
      context engine init
      context engine status
      context engine migrate
    """


@engine.command()
@settings_options
def init(settings: Settings) -> None:
    """Create missing tables and roles, and keep the rules of `oauth.roots` there. The database user must be allowed to create both."""
    shared = _shared(settings)
    made = shared.init()
    if settings.oauth.issuer and shared.tokens().keep_rules(_rules(settings)):
        made.append("rules for the tokens of the issuer")
    for line in made:
        click.echo(f"made: {line}")
    if not made:
        say("everything is there")


@engine.command()
@settings_options
@json_option
def status(settings: Settings, as_json: bool) -> None:
    """Show the database, what is missing there, and how up to date this machine's ranking is."""
    from smart_context.cli import show

    shared = _shared(settings)
    found = shared.state()
    if as_json:
        click.echo(show.json_of(asdict(found)))
        return
    click.echo(f"{found.address}, {found.server}")
    tables = f"format {found.schema}, this program knows {found.known}" if found.schema else "none yet"
    click.echo(f"tables: {tables}{'' if found.schema else '; make them with: context engine init'}")
    click.echo(f"user: {found.user}, {' and '.join(found.roles) or 'without a role of ours'}")
    for role in found.missing:
        click.echo(f"missing: role {role}; make it with: context engine init")
    click.echo(f"record: {show.plural(found.files, 'file')}")
    if settings.oauth.issuer:
        is_same = found.schema == found.known and shared.tokens().rules() == _rules(settings)
        said = "as configured here" if is_same else "other than configured here; keep these with: context engine init"
        click.echo(f"rules for the tokens of the issuer: {said}")
    behind = f"{show.plural(found.behind, 'commit')} behind"
    click.echo(f"this machine: {behind if found.behind else 'up to date'}")


@engine.command()
@settings_options
def migrate(settings: Settings) -> None:
    """Upgrade the tables of an older version of this program. Searches work meanwhile."""
    steps = _shared(settings).migrate()
    say(f"{steps} {'step' if steps == 1 else 'steps'} taken" if steps else "the tables are up to date")


def _rules(settings: Settings) -> list[ClaimRule]:
    from smart_context.access.claims import Rules

    return sorted(set(Rules(settings.oauth).kept()))


def _shared(settings: Settings) -> Shared:
    from smart_context import engine as engines

    if not settings.engine:
        raise UsageError(
            "no database is configured",
            hint='set engine = "postgresql://…", or SMART_CONTEXT_ENGINE in the environment',
        )
    return engines.shared(settings.data_dir, settings.engine, settings.engine_places)
