"""Changes that no test noticed, after which the program does the same: each with the reason, found by reading it."""

from __future__ import annotations

EQUIVALENT: dict[str, str] = {
    "redact/mail.py: break  →  continue": "what comes later begins later still: each is passed over, which takes longer",
    "redact/view.py: if len(folded) > _FEW:  →  if len(folded) >= _FEW:": "both ways fold alike; the bound says which is quicker",
    "cache/resident.py: while not lock.acquire(timeout=0.1):  →  while not lock.acquire(timeout= 1.1):": (
        "a call that is stopped while it waits notices so a second later"
    ),
}
