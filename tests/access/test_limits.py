"""Rate limits: exact in any minute, for every process of a client together."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.access.rates import RateLimits
from smart_context.errors import RateLimited

SCRIPT = """
import sys
from smart_context.errors import RateLimited
from smart_context.access.rates import RateLimits
limits = RateLimits(sys.argv[1], {"searchFiles": 60})
served = 0
for _ in range(40):
    try:
        limits.take("client", "searchFiles")
        served += 1
    except RateLimited:
        pass
print(served)
"""


class Clock:
    def __init__(self, at: float = 1000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def served(limits: RateLimits, client: str = "c", tool: str = "t") -> bool:
    try:
        limits.take(client, tool)
    except RateLimited:
        return False
    return True


def test_the_call_after_the_last_allowed_one_is_refused_until_the_first_is_a_minute_old(tmp_path: Path) -> None:
    clock = Clock()
    limits = RateLimits(str(tmp_path), {"t": 3}, clock)
    for _ in range(3):
        limits.take("c", "t")
        clock.at += 5
    with pytest.raises(RateLimited) as raised:
        limits.take("c", "t")
    assert (raised.value.code, raised.value.retry_after) == ("RATE_LIMITED", 45.0)
    assert raised.value.hint == "try again in 46 seconds"
    clock.at += 44.9
    assert not served(limits)
    clock.at += 0.1
    assert served(limits)
    assert not served(limits)


def test_clients_and_tools_are_counted_apart_and_zero_is_no_bound(tmp_path: Path) -> None:
    limits = RateLimits(str(tmp_path), {"t": 1, "u": 1, "free": 0}, Clock())
    assert [served(limits, *who) for who in (("c", "t"), ("c", "u"), ("d", "t"), ("c", "t"), ("d", "t"))] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert all(served(limits, "c", tool) for tool in ("free", "unknown") for _ in range(100))


def test_processes_started_at_once_and_one_after_the_other_share_the_limit(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=env
        )

    began = time.monotonic()
    counts = [int(process.communicate()[0]) for process in [start(), start(), start()]]
    counts += [int(start().communicate()[0])]
    if time.monotonic() - began < 60:  # on a machine so slow that the minute is over, more are right
        assert sum(counts) == 60


def test_a_clock_that_starts_anew_forgets_what_lies_in_its_future(tmp_path: Path) -> None:
    clock = Clock(500_000.0)
    limits = RateLimits(str(tmp_path), {"t": 1}, clock)
    assert served(limits)
    clock.at = 10.0  # the machine was started again
    assert served(limits)
    assert not served(limits)


def test_a_damaged_count_does_not_stop_the_service(tmp_path: Path) -> None:
    limits = RateLimits(str(tmp_path), {"t": 2}, Clock())
    assert served(limits)
    (file,) = (tmp_path / "rates").iterdir()
    file.write_bytes(b"\xff" * 13)
    assert [served(limits) for _ in range(3)] == [True, True, False]


def test_a_folder_that_cannot_be_written_leaves_the_process_its_own_count(tmp_path: Path) -> None:
    (tmp_path / "rates").write_text("a file in the way")
    limits = RateLimits(str(tmp_path), {"t": 2}, Clock())
    assert [served(limits) for _ in range(3)] == [True, True, False]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_FSIZE with SIGXFSZ ignored")
def test_a_full_disk_leaves_the_process_its_own_count(tmp_path: Path) -> None:
    script = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n" + SCRIPT.replace("60", "30")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "30\n"


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_what_is_kept_is_private_and_names_nobody(tmp_path: Path) -> None:
    RateLimits(str(tmp_path / "data"), {"t": 2}, Clock()).take("../../client", "t")
    folder = tmp_path / "data" / "rates"
    (file,) = folder.iterdir()
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "data", folder, file)] == [0o700, 0o700, 0o600]
    assert file.name.isalnum()


def test_files_of_clients_long_gone_are_removed(tmp_path: Path) -> None:
    RateLimits(str(tmp_path), {"t": 2}, Clock()).take("old", "t")
    (old,) = (tmp_path / "rates").iterdir()
    os.utime(old, (1, 1))
    RateLimits(str(tmp_path), {"t": 2}, Clock()).take("new", "t")
    assert [file for file in (tmp_path / "rates").iterdir() if file == old] == []


@given(st.lists(st.floats(0, 40), max_size=40), st.integers(1, 5))
def test_no_minute_ever_holds_more_calls_than_allowed(
    tmp_path_factory: pytest.TempPathFactory, steps: list[float], most: int
) -> None:
    clock = Clock()
    limits = RateLimits(str(tmp_path_factory.mktemp("rates")), {"t": most}, clock)
    times = []
    for step in steps:
        clock.at += step
        if served(limits):
            times.append(clock.at)
    assert all(len([t for t in times if end - 60 < t <= end]) <= most for end in times)


def test_the_files_of_clients_are_looked_through_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smart_context.access.rates._SWEEP_EVERY", 3)
    limits = RateLimits(str(tmp_path), {"t": 9}, Clock())
    limits.take("old", "t")
    (old,) = (tmp_path / "rates").iterdir()
    now = time.time()
    seen = []
    for _ in range(3):
        os.utime(old, (now - 3700, now - 3700))
        limits.take("new", "t")
        seen.append(old.exists())
    assert seen == [True, True, False]
    limits.take("old", "t")
    os.utime(old, (now - 3500, now - 3500))
    for _ in range(3):
        limits.take("new", "t")
    assert old.exists()  # not gone for an hour yet


def test_a_count_with_more_than_it_needs_is_cut_to_what_counts(tmp_path: Path) -> None:
    clock = Clock()
    limits = RateLimits(str(tmp_path), {"t": 3}, clock)
    for _ in range(3):
        limits.take("c", "t")
    (file,) = (tmp_path / "rates").iterdir()
    assert file.stat().st_size == 24
    clock.at += 60
    limits.take("c", "t")
    assert file.stat().st_size == 8
