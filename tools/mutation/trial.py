"""Run tests on a changed copy of the checkout.

In: a `Mutant` and its tests.  Out: whether they noticed it, and which one did.
Always: the checkout is not touched. The tests of one change run in one process, and the first that fails ends it. No process is left. A change
with which a test takes five times as long as without it, and two seconds more, is noticed.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .draw import ROOT, Mutant
from .reach import CHILD, Noted, Noting, Reach, read, together

KEPT = ROOT / ".mutation"  # what was noted of each file of tests
_BROKEN = 70  # the status of a process that could not run the tests
_MEMORY = 6 << 30  # bytes: a change that never stops collecting is stopped
_WITHOUT = (
    "-p",
    "no:xdist",
    "-p",
    "no:xdist.looponfail",
    "-p",
    "no:anyio",
)  # they take longer to load than most tests to run
_MOST_SECONDS = 120.0  # of CPU, for the tests of files that are named
TOO_LONG = "the time limit"
_NO_TEST = 5  # pytest's status when nothing was run


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which test noticed a change; None if none did."""

    noticed_by: str | None


class Copy:
    """A copy of the checkout, in which one change at a time is made and tested."""

    def __init__(self, place: Path) -> None:
        self.place = place
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)
        (place / "noting").mkdir()
        (place / "noting/sitecustomize.py").write_text(CHILD, encoding="utf-8")
        self._clock = 2_000_000_000  # each change has a time of its own, so that nothing compiled is taken for it

    def note(self, room: str) -> Reach:
        """Run a room's tests once without a change, noting which lines each runs. What was noted before of the same files is kept."""
        files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / room).glob("test_*.py"))
        at = {file: KEPT / f"{_print(room, file)}.json" for file in files}
        new = [file for file in files if not at[file].exists()]

        def tests() -> int:
            os.environ["PYTHONPATH"] += f"{os.pathsep}{self.place}/noting"
            return _pytest(self.place, new, Noting(self.place, room), quiet=self.place / "log")

        if new:
            _ended(self._fork(tests), limit=7200)
            if not (self.place / "noting/done.json").exists():
                raise SystemExit((self.place / "log").read_text(encoding="utf-8")[-3000:])
            KEPT.mkdir(exist_ok=True)
            ran = {noted.file: noted for noted in read(self.place)}
            for file in new:  # of one that is skipped as a whole, nothing was noted
                noted = ran.get(file) or Noted(file, {}, 0.0, [], {})
                at[file].write_text(json.dumps(noted.__dict__), encoding="utf-8")
        return together(Noted(**json.loads(at[file].read_text(encoding="utf-8"))) for file in files)

    def test(self, mutant: Mutant, reach: Reach) -> Verdict:
        """Make a change and run the tests that reach it."""
        chosen = reach.tests(mutant.path, mutant.line, ROOT)
        if not chosen:
            return Verdict(None)
        files = sorted({one.partition("::")[0] for one in chosen})
        usual = {one: reach.seconds([one]) for one in chosen}
        return self._noticed(mutant, files, usual, 5 + 3 * reach.seconds(chosen))

    def check(self, files: list[str]) -> None:
        """Run all tests of some files without a change: what fails anyway notices nothing.

        Raises: SystemExit with the test that fails.
        """
        failed = self.place / "failed"
        failed.unlink(missing_ok=True)
        status = _ended(self._fork(lambda: _pytest(self.place, ["-x", *files], _Order(None, failed))), limit=7200)
        if status != 0:
            first = failed.read_text(encoding="utf-8") if failed.exists() else "no test was run"
            raise SystemExit(f"without a change these tests fail: {first}")

    def test_with(self, mutant: Mutant, files: list[str]) -> Verdict:
        """Make a change and run all tests of some files."""
        return self._noticed(mutant, files, None, _MOST_SECONDS)

    def _noticed(self, mutant: Mutant, files: list[str], chosen: dict[str, float] | None, limit: float) -> Verdict:
        failed = self.place / "failed"
        failed.unlink(missing_ok=True)

        def tests() -> int:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
            return _pytest(self.place, ["-x", *files], _Order(chosen, failed))

        self._write(mutant.path, mutant.text)
        status = _ended(self._fork(tests), limit=20 * limit)
        self._write(mutant.path, (ROOT / mutant.path).read_text(encoding="utf-8"))
        if status is None or os.WIFSIGNALED(status):
            return Verdict(TOO_LONG)
        if os.waitstatus_to_exitcode(status) == _NO_TEST:
            raise SystemExit(f"no test was run for {mutant.path}:{mutant.line}")
        if status == 0:
            return Verdict(None)
        return Verdict(failed.read_text(encoding="utf-8") if failed.exists() else "the module cannot be loaded")

    def _fork(self, tests: Callable[[], int]) -> int:
        process = os.fork()
        if process == 0:
            status = _BROKEN
            try:
                os.setpgid(0, 0)
                _end_with_parent()
                os.chdir(self.place)
                os.environ["PYTHONPATH"] = str(self.place / "src")
                sys.path.insert(0, str(self.place / "src"))
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                status = tests()
            finally:
                if status == _BROKEN:
                    traceback.print_exc()
                sys.stderr.flush()
                sys.stdout.flush()
                os._exit(status)
        return process

    def _write(self, path: str, text: str) -> None:
        self._clock += 10
        (self.place / path).write_text(text, encoding="utf-8", newline="")
        os.utime(self.place / path, (self._clock, self._clock))


def _print(room: str, file: str) -> str:
    """A hash of a file of tests, of what it shares with others, and of the room."""
    said = hashlib.sha256()
    for path in sorted([ROOT / file, *_helpers(ROOT / file), *(ROOT / "src/smart_context" / room).rglob("*.py")]):
        said.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return said.hexdigest()[:32]


def _helpers(file: Path) -> set[Path]:
    """The modules beside the tests that a file of tests imports, by itself or through others."""
    found: set[Path] = set()
    left = [file, ROOT / "tests/conftest.py"]
    while left:
        for node in ast.walk(ast.parse(left.pop().read_text(encoding="utf-8"))):
            named = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            new = {ROOT / f"tests/{name}.py" for name in named} - found
            found |= {path for path in new if path.exists()}
            left += [path for path in new if path.exists()]
    return found | {ROOT / "tests/conftest.py"}


class _Order:
    """A plugin that runs the chosen tests in their order, ends one that takes far longer than it did, and notes the first that fails."""

    def __init__(self, chosen: dict[str, float] | None, failed: Path) -> None:
        self._usual = chosen
        self._failed = failed
        signal.signal(signal.SIGVTALRM, _takes_too_long)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._usual is not None:
            rank = {test: number for number, test in enumerate(self._usual)}
            items[:] = sorted((one for one in items if one.nodeid in rank), key=lambda one: rank[one.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self._usual is not None:
            signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 5 * self._usual[nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self._failed.exists():
            self._failed.write_text(report.nodeid, encoding="utf-8")


def _takes_too_long(_signal: int, _frame: object) -> None:
    import pytest

    pytest.fail("takes too long")


def _end_with_parent() -> None:
    """Whatever ends the run ends its tests too, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _pytest(place: Path, arguments: list[str], plugin: object, quiet: Path = Path(os.devnull)) -> int:
    import pytest

    out = os.open(quiet, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    own = [
        f"--rootdir={place}",
        f"--basetemp={place}/made",
    ]  # what others make and remove at the same time is no matter
    own += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # some modules are loaded already
    return int(pytest.main(["-q", *_WITHOUT, *own, *arguments], plugins=[plugin]))


def _ended(process: int, *, limit: float) -> int | None:
    """Wait for the tests; their status, or None where they took too long. Nothing of them is left."""
    end = time.monotonic() + limit
    status = None
    while status is None and time.monotonic() < end:
        waited, code = os.waitpid(process, os.WNOHANG)
        status = code if waited else time.sleep(0.05)
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if status is None:
        os.waitpid(process, 0)
    return status
