"""The view of the index: roots, failures by reason, what is being read now, and what is wrong with the installation.

In: the open application.  Out: data for the template.
Always: only callers that may see every root see it; only the owner starts or stops a run; only the owner at this machine adds a root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context.errors import Forbidden
from smart_context.page.desk import Finding, Visit

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.index.model import Coverage, RootStatus, Trouble

_EXAMPLES = 5  # files named for each reason
_AGAIN = "Open it in its application; if it opens there, save it anew."
_LIMIT = "If its text is needed, raise the limit in the settings under [limits]."
_NOTHING = "Nothing to do: files of this kind hold no text."
_ADVICE = {
    "no text": "Often a scan: a picture of a page holds no text until somebody recognises it.",
    "cannot be opened": "Check its permissions: the server may not read it.",
    "cannot be parsed": _AGAIN,
    "changed while being read": "Nothing to do: the next run reads it again.",
    "crashed": _AGAIN,
    "damaged": _AGAIN,
    "empty": "Nothing to do: the file has no bytes.",
    "encrypted": "Save a copy without its password where it may be searched.",
    "killed": _LIMIT,
    "nested too deep": _LIMIT,
    "no text in this type": _NOTHING,
    "overlapping entries": _AGAIN,
    "reader failed": _AGAIN,
    "too large": _LIMIT,
    "too large when unpacked": _LIMIT,
    "too many entries": _LIMIT,
    "too much memory": _LIMIT,
    "too much text": _LIMIT,
    "took too long": _LIMIT,
    "unknown compression": "Pack it anew as an ordinary ZIP file.",
    "unknown type": "Nothing to do, unless it is a document: then save it in a format that is read.",
}
TOLD = {
    "added": "The folder is a root now, and is being indexed.",
    "added-here": "The folder is a root now, until this server ends: its roots come from its command line. It is being indexed.",
    "started": "The folder is being indexed.",
    "stopped": "The run stops after the file that it is reading. What it has read stays.",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Files that gave no text for the same reason: how many, what to do, and the first of them."""

    reason: str
    advice: str
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
class IndexView:
    """What the template shows. findings: None where nobody has asked for them."""

    roots: tuple[Root, ...]
    runs: tuple[Run, ...]
    writer: str
    size: str
    files: int
    segments: int
    vectors: str
    may_index: bool
    may_add: bool
    findings: Sequence[Finding] | None = None


def view(app: App, visit: Visit, findings: Sequence[Finding] | None) -> IndexView:
    """Look at the index.

    Raises: Forbidden for a caller that sees some roots only.
    """
    caller = visit.caller
    if caller.roots is not None:
        raise Forbidden("this token sees some roots only", hint="ask who runs the server how the index is")
    found = app.status(compare=False)
    runs = tuple(Run(folder, step.done, step.total or 0, step.what) for folder, step in app.jobs.steps())
    roots = tuple(
        Root(root, _failures(root.troubles), any(run.folder == root.root for run in runs)) for root in found.roots
    )
    meaning = found.meaning
    return IndexView(
        roots,
        runs,
        "" if runs else found.writer,
        _size(found.size),
        sum(root.files for root in found.roots),
        sum(root.segments for root in found.roots),
        _share(meaning),
        caller.is_owner,
        visit.is_local,
        findings,
    )


def _failures(troubles: Sequence[Trouble]) -> tuple[Failure, ...]:
    by_reason: dict[str, list[Trouble]] = {}
    for trouble in troubles:
        by_reason.setdefault(trouble.reason or "no text", []).append(trouble)
    counted = sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0]))
    return tuple(
        Failure(reason, _ADVICE.get(reason, ""), len(all_), tuple(all_[:_EXAMPLES])) for reason, all_ in counted
    )


def _share(meaning: Coverage | None) -> str:
    if meaning is None:
        return ""
    share = 100 * meaning.embedded // meaning.segments if meaning.segments else 0
    return f"{share} % of segments, by {meaning.model}"


def _size(count: int) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count //= 1000
    return f"{count} GB"
