"""The command `prune`: remove old caches."""

from __future__ import annotations

import click

from smart_context.cli import say
from smart_context.cli.program import Command
from smart_context.errors import UsageError


@click.command(cls=Command)
@click.option("--root", metavar="DIR", help="Folder of the caches. Default: what CONTEXT_CACHE_ROOT names.")
@click.option("--keep", type=click.IntRange(0), default=0, help="Keep this many of the newest, however old they are.")
@click.option("--older-than", metavar="AGE", help="Keep caches younger than this: 12h, 30d, 8w.")
@click.option("--yes", is_flag=True, help="Remove them; without it they are only named.")
def prune(root: str | None, keep: int, older_than: str | None, yes: bool) -> None:
    """Remove old caches below a folder.

    \b
    Examples:
      context prune --root ~/caches --keep 5
      context prune --root ~/caches --keep 5 --older-than 30d --yes

    Only folders with a manifest directly below DIR are looked at. Age and order are those of the manifests.
    """
    from smart_context.cli.show import plural
    from smart_context.frozen import api
    from smart_context.frozen import prune as stage
    from smart_context.plain import line as safe
    from smart_context.settings import config

    root = config.cache_root() if root is None else root
    if root is None:
        raise UsageError("no cache root", hint="give --root DIR, or set CONTEXT_CACHE_ROOT")
    if not keep and older_than is None:
        raise UsageError("nothing says what to keep", hint="give --keep N, --older-than AGE, or both")
    old = api.old_caches(root, keep=keep, older_than=older_than)
    for one in old:
        if yes:
            stage.remove(root, one)
        click.echo(f"{'removed' if yes else 'would remove'}  {one.created_at:%Y-%m-%d %H:%M}  {safe(one.name)}")
    told = plural(len(old), "cache") if old else "no cache is to be removed"
    say(told + ("" if yes or not old else "; nothing is removed without --yes"))
