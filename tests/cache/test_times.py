"""The time of a cache: what RFC 3339 allows, and nothing else."""

from __future__ import annotations

import pytest

from smart_context.cache import manifest

DAY, CLOCK = "2024-02-29", "23:59:60"


@pytest.mark.parametrize(
    "text",
    [
        f"{DAY}T{CLOCK}Z", f"{DAY}t{CLOCK}z", f"{DAY} {CLOCK}Z", f"{DAY}T{CLOCK}.5Z", f"{DAY}T{CLOCK}.123456789+23:59", f"{DAY}T00:00:00-00:00",
        "2000-02-29T00:00:00Z", "2023-12-31T00:00:00Z", "2023-01-01T00:00:00Z", "2023-04-30T00:00:00Z", "0000-02-29T00:00:00Z",
    ],
)  # fmt: skip
def test_a_time_of_the_standard_is_taken(text: str) -> None:
    manifest._check_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "", DAY, f"{DAY}T{CLOCK}", f"{DAY}T{CLOCK}.Z", f"{DAY}T{CLOCK}.", f"{DAY}T{CLOCK}.5", f"{DAY}T{CLOCK}+1:00", f"{DAY}T{CLOCK}+24:00", f"{DAY}T{CLOCK}+00:60",
        f"{DAY}T{CLOCK}ZZ", f"{DAY}T{CLOCK}.5+01:00:00", f"{DAY}T24:00:00Z", f"{DAY}T00:60:00Z", f"{DAY}T00:00:61Z", f"{DAY}x{CLOCK}Z", f"{DAY}T{CLOCK}*00:00",
        "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2023-00-01T00:00:00Z", "2023-13-01T00:00:00Z", "2023-01-00T00:00:00Z", "2023-04-31T00:00:00Z", "2023-01-32T00:00:00Z",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(manifest.Malformed):
        manifest._check_time(text)
