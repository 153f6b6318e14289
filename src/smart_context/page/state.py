"""The view of the index: roots, failures by reason, what is being read now, and what is wrong with the installation.

In: the open application.  Out: data for the template.
Always: only who may see every root sees it; only the owner starts a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context.errors import Forbidden
from smart_context.page.desk import Finding

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.index.model import RootStatus, Trouble
    from smart_context.model import Caller

_EXAMPLES = 5  # files named for each reason


@dataclass(frozen=True, slots=True)
class Failure:
    """Files that gave no text for the same reason: how many, and the first of them."""

    reason: str
    count: int
    examples: tuple[Trouble, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """One root."""

    status: RootStatus
    failures: tuple[Failure, ...]
    is_running: bool


@dataclass(frozen=True, slots=True)
class Run:
    """An indexing run, waiting or at work. total: 0 where it is not known yet."""

    folder: str
    done: int
    total: int
    what: str


@dataclass(frozen=True, slots=True)
class State:
    """What the template shows. findings: None where nobody has asked for them."""

    roots: tuple[Root, ...]
    runs: tuple[Run, ...]
    writer: str
    size: str
    files: int
    segments: int
    vectors: str
    may_index: bool
    findings: Sequence[Finding] | None = None


def view(app: App, caller: Caller, findings: Sequence[Finding] | None) -> State:
    """Look at the index.

    Raises: Forbidden for a caller that sees some roots only.
    """
    if caller.roots is not None:
        raise Forbidden("this token sees some roots only", hint="ask who runs the server how the index is")
    found = app.status(compare=False)
    runs = tuple(Run(folder, step.done, step.total or 0, step.what) for folder, step in app.jobs.steps())
    roots = tuple(
        Root(root, _failures(root.troubles), any(run.folder == root.root for run in runs)) for root in found.roots
    )
    meaning = found.meaning
    return State(
        roots,
        runs,
        "" if runs else found.writer,
        _size(found.size),
        sum(root.files for root in found.roots),
        sum(root.segments for root in found.roots),
        f"{meaning.embedded:,} of {meaning.segments:,} segments, by {meaning.model}" if meaning else "",
        caller.is_owner,
        findings,
    )


def _failures(troubles: Sequence[Trouble]) -> tuple[Failure, ...]:
    by_reason: dict[str, list[Trouble]] = {}
    for trouble in troubles:
        by_reason.setdefault(trouble.reason or "no text", []).append(trouble)
    counted = sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0]))
    return tuple(Failure(reason, len(all_), tuple(all_[:_EXAMPLES])) for reason, all_ in counted)


def _size(count: int) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count //= 1000
    return f"{count} GB"
