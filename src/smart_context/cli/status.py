"""`context status`: what is indexed, what could not be read, and what has changed since."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from smart_context import plain
from smart_context.cli import GivenOptions, layout, say
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import home, json_of, plural, size, waiting

if TYPE_CHECKING:
    from smart_context.index.model import Elsewhere, RootStatus, Status
    from smart_context.settings.config import Settings

_CLIP = 160  # characters of a reason that is shown: an archive may have thousands of notes
_FOLDERS = 3  # folders in no root that are named
_LISTED = 20  # files without text that are named


@click.command(cls=Command)
@settings_options
@json_option
def status(settings: Settings, as_json: bool) -> None:
    """Show what is indexed of each root, what could not be read and why, and what has changed since.

    \b
    Examples:
      context status
      context status --json
    """
    with waiting("comparing the index with the folders"):
        from smart_context.api import App

        with App(settings) as app:
            found = app.status()
    if as_json:
        click.echo(json_of(_as_json(found)))
        return
    room = layout.columns(sys.stdout)
    for root in found.roots:
        click.echo("\n".join(layout.fitted(line, room) for line in _root_lines(root, room)) + "\n")
    if not found.roots:
        say("no roots are configured; add one with: context roots add DIR")
    if found.elsewhere:
        click.echo("\n".join(layout.fitted(line, room) for line in _elsewhere_lines(found.elsewhere)))
    if found.meaning:
        of = found.meaning
        left = of.segments - of.embedded
        more = f"; {left:,} left for the next run or server" if left else ""
        told = f"meaning: {of.embedded:,} of {plural(of.segments, 'segment')} embedded with {of.model}{more}"
        click.echo(layout.fitted(told, room))
    click.echo(layout.fitted(f"index: {size(found.size)} in {home(found.data_dir)}", room))
    if found.writer:
        click.echo(layout.fitted(f"being written by {found.writer}", room))


def _as_json(found: Status) -> dict[str, Any]:
    from smart_context.access.roots import shown

    whole = asdict(found)
    if whole["elsewhere"]:
        whole["elsewhere"]["folders"] = [shown(folder) for folder in whole["elsewhere"]["folders"]]
    for root in whole["roots"]:
        root["root"] = shown(root["root"])
        if root["changes"]:
            root["changes"]["hidden"] = [shown(path) for path in root["changes"]["hidden"]]
    return whole


def _root_lines(root: RootStatus, room: int) -> list[str]:
    from smart_context.access.roots import shown

    lines = [plain.line(home(shown(root.root))) + ("" if root.is_available else f"  ({_absence(root)})")]
    lines.append(f"  {plural(root.files, 'file')}, {plural(root.segments, 'segment')}, {size(root.chars)} of text")
    lines.append(f"  {_staleness(root)}")
    if root.read_pages or root.unread_pages:
        wait = (
            f"; {plural(root.unread_pages, 'page')} to read: context index --ocr{GivenOptions.options}"
            if root.unread_pages
            else ""
        )
        lines.append(f"  OCR: {plural(root.read_pages, 'page')} read{wait}")
    reasons: dict[str, int] = {}
    for tally in root.kinds:
        if tally.state != "ok":
            reasons[tally.reason] = reasons.get(tally.reason, 0) + tally.files
    if reasons:
        lines.append(f"  failed {root.failed:,}, without text {root.no_text:,}:")
        lines += [
            f"    {count:>6,}  {reason}" for reason, count in sorted(reasons.items(), key=lambda r: (-r[1], r[0]))
        ]
        lines += _trouble_lines(root, room)
    return lines


def _elsewhere_lines(found: Elsewhere) -> Iterator[str]:
    """What is in no root: searches do not find it, and it may have been indexed by mistake."""
    from smart_context.access.roots import shown

    named = ", ".join(plain.line(home(shown(folder))) for folder in found.folders[:_FOLDERS])
    more = f" and {len(found.folders) - _FOLDERS:,} more" if len(found.folders) > _FOLDERS else ""
    yield f"in no root: {plural(found.files, 'file')}, in {named}{more}"
    yield f"  search them with --root DIR, or remove them with: context forget DIR{GivenOptions.place}"


def _trouble_lines(root: RootStatus, room: int) -> Iterator[str]:
    """Files that gave no text, each with the reason below it."""
    from smart_context.access.roots import shown

    for trouble in root.troubles[:_LISTED]:
        why = f"{trouble.reason} ({trouble.detail})" if trouble.detail else trouble.reason
        below = plain.line(os.path.relpath(trouble.path, shown(root.root)))
        yield f"    {layout.shortened_path(below, max(8, room - 4)) if room else below}"
        yield f"      {plain.line(_clipped(why))}"
    if len(root.troubles) > _LISTED:
        yield "    … (--json lists more)"


def _absence(root: RootStatus) -> str:
    if root.last_run or root.files:
        return "not there now; searched as it was indexed last"
    return "not there, and never indexed"


def _staleness(root: RootStatus) -> str:
    when = f"indexed {root.last_run.replace('T', ' ').replace('Z', ' UTC')}" if root.last_run else "no run has finished"
    if root.changes is None:
        return when
    parts = [
        f"{n:,} {word}"
        for n, word in ((root.changes.new, "new"), (root.changes.changed, "changed"), (root.changes.gone, "gone"))
        if n
    ]
    return f"{when}; {', '.join(parts) + ' since' if parts else 'up to date'}"


def _clipped(text: str) -> str:
    return text if len(text) <= _CLIP else f"{text[:_CLIP].rsplit(' ', 1)[0]} …"
