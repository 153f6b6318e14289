"""The commands on caches: build, resolve, inspect, verify, list."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from smart_context.cli import say
from smart_context.cli.program import Command
from smart_context.errors import IoError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smart_context.cache.build import Built


@click.command(cls=Command)
@click.option(
    "--sources", required=True, metavar="DIR", help="Folder whose Markdown files (*.md) become the documents."
)
@click.option("--cache", required=True, metavar="DIR", help="Where the cache is made.")
@click.option("--force", is_flag=True, help="Replace the cache that stands there, in one step.")
@click.option("--formats", metavar="LIST", help="Take other formats too: all, or extensions such as pdf,docx.")
@click.option(
    "--fail-if-empty", is_flag=True, help="Fail with status 6, and write nothing, where no document is found."
)
def build(sources: str, cache: str, force: bool, formats: str | None, fail_if_empty: bool) -> None:
    """Freeze the documents of a folder into a cache.

    \b
    Examples:
      context build --sources docs --cache docs.cache
      context build --sources docs --cache docs.cache --force
      context build --sources docs --cache docs.cache --formats pdf,docx

    The cache is complete or not there: a build that fails leaves what stood before.
    """
    from smart_context.cache import api
    from smart_context.cli.show import ProgressBar

    left_out = 0

    def note(files: int) -> None:
        nonlocal left_out
        left_out = files

    make: Callable[..., Built] = api.build_cache
    if formats is not None:
        from smart_context.frozen.api import build_formats

        make = partial(build_formats, formats=formats)
    with ProgressBar("building") as bar:
        built = make(
            sources,
            cache,
            force=force,
            fail_if_empty=fail_if_empty,
            on_skipped=_skipped,
            on_left_out=note,
            on_progress=bar,
        )
    _say_built(built, left_out)


@click.command(cls=Command)
@click.option("--cache", required=True, metavar="DIR", help="The cache.")
@click.option("--query", required=True, help="What to look for; may be empty.")
@click.option("--budget", required=True, metavar="TOKENS", help="How many tokens the documents may have together.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["json", "pretty"]),
    default="json",
    show_default=True,
    help="How to print it.",
)
def resolve(cache: str, query: str, budget: str, style: str) -> None:
    """Print the documents that answer a query within a token budget.

    \b
    Examples:
      context resolve --cache docs.cache --query "how do I deploy" --budget 4000
      context resolve --cache docs.cache --query "" --budget 500 --format pretty

    The same cache, query and budget give the same bytes, on every machine.
    """
    from smart_context.cache import names
    from smart_context.cache import resolve as stage

    asked = names.as_text(query)
    stage.check(asked, 0)
    print_bytes(stage.to_json(cache, asked, stage.budget_of(budget), pretty=style == "pretty"))


@click.command(cls=Command)
@click.option("--cache", required=True, metavar="DIR", help="The cache.")
def inspect(cache: str) -> None:
    """Print the version and size of a cache, and whether it is valid.

    \b
    Example:
      context inspect --cache docs.cache

    total_bytes counts the documents, and valid means that everything was verified. The tool context.inspect_cache counts
    the files beside the manifest, and looks at the manifest alone.
    """
    from smart_context.cache import inspect as stage

    print_bytes(stage.command_json(cache))
    _say_provenance(cache)


@click.command(cls=Command)
@click.option("--cache", required=True, metavar="DIR", help="The cache.")
@click.option(
    "--key",
    metavar="FILE",
    help="Also check its signature with this public key, or with the *.pub files of this folder.",
)
def verify(cache: str, key: str | None) -> None:
    """Check that a cache is complete and unchanged.

    \b
    Examples:
      context verify --cache docs.cache
      context verify --cache docs.cache --key me.pub

    What no answer depends on, such as created_at, is not checked; with a key, every byte is. Exit status 0 if the cache is
    valid; else 4 (missing), 5 (invalid, with the first violation) or 6 (unreadable).
    """
    from smart_context.cache import verify as stage
    from smart_context.cli.show import ProgressBar

    with ProgressBar("verifying") as bar:
        if key is None:
            print_bytes(stage.to_json(stage.cache(cache, on_progress=bar)))
            return
        from smart_context.frozen import api, sign

        print_bytes(sign.to_json(api.verify_signature(cache, key, on_progress=bar)))


@click.command(cls=Command)
@click.option("--root", metavar="DIR", help="Folder whose folders are listed. Default: what CONTEXT_CACHE_ROOT names.")
def list(root: str | None) -> None:  # noqa: A001  # the command's own name
    """Print the folders that may be caches.

    \b
    Example:
      context list --root ~/caches
    """
    from smart_context.cache import listing
    from smart_context.settings import config

    root = config.cache_root() if root is None else root
    if root is None:
        raise UsageError("no cache root", hint="give --root DIR, or set CONTEXT_CACHE_ROOT")
    listed = listing.to_json(root) + b"\n"
    print_bytes(listed)
    _say_questions(root, listed)


def _say_questions(root: str, listed: bytes) -> None:
    import json
    import os

    paths = [row["path"] for row in json.loads(listed)["caches"] if row["has_manifest"]]
    for path in paths:
        cache = os.path.join(root, path)
        if os.path.lexists(os.path.join(cache, "freeze.json")):
            from smart_context.frozen import provenance
            from smart_context.plain import line as safe

            if question := provenance.question_of(cache):
                say(f"{safe(path)}: frozen from {safe(question)}")


def _say_provenance(cache: str) -> None:
    import os

    if not os.path.lexists(os.path.join(cache, "freeze.json")):
        return
    from smart_context.cli.show import plural
    from smart_context.errors import ContextError
    from smart_context.frozen import provenance
    from smart_context.plain import line as safe

    try:
        found = provenance.read(cache)
    except ContextError as error:
        say(f"warning: {safe(error.in_one_line)}")
        return
    say(
        f"frozen from {safe(found.question.query or plural(len(found.question.paths), 'path'))}",
        f"at {found.created_at} by version {safe(found.program)}, {'redacted' if found.rules else 'not redacted'}, "
        f"{plural(len(found.documents), 'file' if found.whole_files else 'passage')} of "
        f"{plural(len({one.source for one in found.documents}), 'file')}",
    )


def _say_built(built: Built, left_out: int) -> None:
    from smart_context.cli.show import plural

    documents = "document" if built.document_count == 1 else "documents"
    say(f"{built.document_count} {documents}, {built.cache_version}")
    if left_out:
        say(f"left out {plural(left_out, 'file')} of other formats; --formats all takes them too")
    if not built.document_count:
        say("warning: THE CACHE IS EMPTY: it is valid, and answers every query with nothing")
        say("hint: look at --sources and --formats; with --fail-if-empty such a build fails")


def _skipped(path: str, why: str) -> None:
    say(f"skipped {path!r}: {why}")


def print_bytes(data: bytes) -> None:
    """Write data to stdout as it is. Raises: IoError."""
    if sys.stdout is None:
        raise IoError("standard output is closed")
    sys.stdout.buffer.write(data)
