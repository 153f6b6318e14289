"""Report the health of the index to operators.

In: the open application.  Out: `Health`: counts, sizes, ages.
Always: an index that cannot be read is reported as such; what is known without it is still reported.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from smart_context.data import replace
from smart_context.errors import ContextError, Unreachable
from smart_context.index.model import Health

if TYPE_CHECKING:
    from smart_context.api import App


def of(app: App, now: datetime | None = None) -> Health:
    """Report the health of an application's index."""
    known = Health(
        roots=len(app.roots.names),
        roots_available=sum(app.roots.state(root) == "available" for root in app.roots.names),
        queued=len(app.jobs.states()),
    )
    try:
        known = _following(known, app)
        found = app.status(compare=False)
    except Unreachable:
        return replace(known, is_sound=known.has_index, record_away=True)
    except ContextError:
        return replace(known, is_sound=False)
    runs = [root.last_run for root in found.roots]
    kinds: dict[str, int] = {}
    for root in found.roots:
        for tally in root.kinds:
            kinds[tally.kind or "unknown"] = kinds.get(tally.kind or "unknown", 0) + tally.files
    return replace(
        known,
        has_index=found.generation > 0 or any(runs),
        files=sum(root.files for root in found.roots),
        segments=sum(root.segments for root in found.roots),
        failures=sum(root.failed for root in found.roots),
        without_text=sum(root.no_text for root in found.roots),
        index_bytes=found.size,
        vectors=found.meaning.embedded if found.meaning else 0,
        generation=found.generation,
        oldest_run_seconds=_age(min(runs), now or datetime.now(UTC)) if runs and all(runs) else None,
        kinds=kinds,
    )


def _following(known: Health, app: App) -> Health:
    """How far a server's ranking is behind a record that others write; a server that has one can answer."""
    if not app.settings.engine or not app.has_index():
        return known
    state = app.index.following()
    return replace(known, has_index=True, record_away=state.is_away, files_to_take_in=max(0, state.total - state.taken))


def _age(when: str, now: datetime) -> float:
    return (now - datetime.fromisoformat(when)).total_seconds()
