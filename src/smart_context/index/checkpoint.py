"""The steps of a run between two files: report progress, commit when due, stop when asked to.

In: the progress of the run, whether a commit is due.  Out: nothing, or what `stop` raises.
Always: what was done is committed before a run stops.
"""

from __future__ import annotations

from collections.abc import Callable

from smart_context.model import OnProgress, Progress, Stop


def tick(step: Progress, on_progress: OnProgress, *, is_due: bool, commit: Callable[[], None], stop: Stop) -> None:
    """Go on, or stop with everything committed."""
    on_progress(step)
    if is_due:
        commit()
    try:
        stop()
    except BaseException:
        commit()
        raise
