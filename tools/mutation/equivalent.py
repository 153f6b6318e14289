"""Changes that no test noticed, after which the program does the same: each with the reason, found by reading it."""

from __future__ import annotations

EQUIVALENT: dict[str, str] = {}
