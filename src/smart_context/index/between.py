"""What a run over files does between two of them: tell how far it is, commit when it is time, stop when asked to.

In: how far the run is, whether a commit is due.  Out: nothing, or what `stop` raises.
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
