"""How long a process has been working, and for how long without progress."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from smart_context.sources import stall

Look = tuple[float, tuple[float, str] | None]


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ([], (0.0, 0.0)),
        ([(5.0, (1.0, "S"))], (0.0, 0.0)),  # the time before the first look is unknown
        ([(0.0, (1.0, "S")), (0.5, (1.0, "S")), (1.0, (1.0, "S"))], (1.0, 1.0)),  # sleeps
        ([(0.0, (1.0, "D")), (0.5, (1.0, "D"))], (0.5, 0.5)),  # waits for a disk
        ([(0.0, (1.0, "S")), (0.5, (1.0, "S")), (1.0, (1.01, "S"))], (1.0, 0.0)),  # used CPU time at last
        ([(0.0, (1.0, "R")), (0.5, (1.5, "R")), (1.0, (2.0, "R"))], (1.0, 0.0)),  # runs
        ([(float(at), (1.0, "R")) for at in range(1000)], (0.0, 0.0)),  # waits for a processor all the time
        (
            [(0.0, (1.0, "S")), (0.5, (1.0, "S")), (1.0, (1.0, "R")), (1.5, (1.0, "S"))],
            (1.0, 1.0),
        ),  # waits for one once
        ([(0.0, (1.0, "S")), (900.0, (1.0, "S"))], (1.0, 1.0)),  # nobody looked for 15 minutes
        ([(0.0, None), (0.5, None)], (0.5, 0.0)),  # a system that does not show CPU time
    ],
)
def test_only_time_in_which_the_process_could_run_counts(looks: list[Look], expected: tuple[float, float]) -> None:
    clock = stall.Clock()
    for now, seen in looks:
        clock.look(now, seen)
    assert (clock.working, clock.stalled) == expected


def test_a_process_with_something_new_to_do_starts_at_zero() -> None:
    clock = stall.Clock()
    for now in (0.0, 0.5, 1.0):
        clock.look(now, (1.0, "S"))
    clock.restart()
    clock.look(1.5, (1.0, "S"))
    assert (clock.working, clock.stalled) == (0.0, 0.0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")
def test_a_process_is_seen_to_run_or_to_wait() -> None:
    own = stall.of(os.getpid())
    assert own is not None
    assert own[0] > 0
    assert own[1] == "R"
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as waiting:
        while (seen := stall.of(waiting.pid)) is None or seen[1] != "S":
            pass
    assert stall.of(0) is None
