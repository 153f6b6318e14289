"""Which tests run which lines of a room: only those can notice a change there.

In: a copy of the checkout in which a room's tests run once.  Out: a `Reach`, which names the tests for a line, the likeliest first.
Always: what a fixture of several tests runs counts for all tests of their file; a child process counts for the test that started it. A line
that runs when its module is loaded is left to the tests that run a function of that module, or of one of the room that imports it.
"""

from __future__ import annotations

import ast
import json
import resource
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SLOW = 4.0  # seconds of CPU from which a test is left out, with what it shares, measured while lines are noted
QUICK = 0.05  # seconds of CPU of a test that is tried before others
ENOUGH = 12.0  # seconds of CPU that the tests of one change may take together
# What a child process of a test is given to run first. It says what it ran when it ends.
CHILD = """
import atexit, json, os, pathlib
def note():
    import coverage
    here = pathlib.Path(__file__).parent
    test = (here / "current").read_text()
    watch = coverage.Coverage(data_file=None, config_file=False, include=[(here / "room").read_text()])
    watch._warn_no_data = False
    def tell():
        watch.stop()
        data = watch.get_data()
        lines = {name: sorted(data.lines(name) or ()) for name in data.measured_files()}
        with open(here / "children", "ab", buffering=0) as out:
            out.write(json.dumps([test, lines]).encode() + b"\\n")
    watch.start()
    atexit.register(tell)
try:
    note()
except Exception:
    pass
"""


@dataclass(frozen=True)
class Noted:
    """What the tests of one file took and ran, and what they share. lines: file → line → the tests, or the file of tests for what they share."""

    file: str
    taken: dict[str, float]
    shared: float
    failed: list[str]
    lines: dict[str, dict[int, list[str]]]


@dataclass(frozen=True, slots=True)
class Reach:
    """What each test took, and what those of a file share; which lines each ran, and which tests are left out."""

    taken: dict[str, float]
    shared: dict[str, float]  # file of tests → seconds
    lines: dict[str, dict[int, set[str]]]  # file → line → tests
    left_out: list[str]

    def tests(self, path: str, line: int, source: Path) -> list[str]:
        """The tests for a line, in the order in which to run them."""
        spans, loaded = _statement(ast.parse((source / path).read_text(encoding="utf-8")), line)
        if loaded:
            near = [path, *_importers(path, source)]
            able = set().union(*(tests for one in near for tests in self._in_functions(one, source)))
        else:
            able = set().union(*(self.lines.get(path, {}).get(one, set()) for one in spans))
        chosen: list[str] = []
        spent, shared = 0.0, set[str]()
        for test in self._ordered(able & self.taken.keys(), Path(path).stem):
            cost = self.taken[test] + (0.0 if _file(test) in shared else self.shared[_file(test)])
            if spent + cost <= ENOUGH or not chosen:
                chosen.append(test)
                spent += cost
                shared.add(_file(test))
        return chosen

    def seconds(self, tests: Iterable[str]) -> float:
        """What some tests take together."""
        several = list(tests)
        return sum(map(self.taken.__getitem__, several)) + sum(self.shared[one] for one in {*map(_file, several)})

    def _ordered(self, tests: set[str], stem: str) -> list[str]:
        """Those whose file is called as the module is; then quick ones, one case of each test before its others, which mostly notice the same.

        The rest file by file, because what the tests of a file share is made anew each time: those of which a test takes least first.
        """
        several: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            several[_file(test)].append(test)
        each = {file: self.seconds(some) / len(some) for file, some in several.items()}
        seen: set[str] = set()
        keys: dict[str, tuple[Any, ...]] = {}
        for test in sorted(tests, key=lambda one: (self.taken[one], one)):
            function, file = test.partition("[")[0], _file(test)
            taken, far = self.taken[test], stem not in file
            is_slow = taken + self.shared[file] > QUICK
            first = (each[file], file) if is_slow else ()
            keys[test] = (far, is_slow, *first, function in seen, taken, test)
            seen.add(function)
        return sorted(tests, key=keys.__getitem__)

    def _in_functions(self, path: str, source: Path) -> Iterator[set[str]]:
        tree = ast.parse((source / path).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                body = node.body if isinstance(node.body, list) else [node.body]
                for line in range(body[0].lineno, (node.end_lineno or body[0].lineno) + 1):
                    yield self.lines.get(path, {}).get(line, set())


def _file(test: str) -> str:
    return test.partition("::")[0]


def _statement(tree: ast.Module, line: int) -> tuple[range, bool]:
    """The lines of the innermost statement around a line, and whether it runs when the module is loaded."""
    best, loaded = range(line, line + 1), True
    bodies: list[tuple[list[ast.stmt], bool]] = [(tree.body, True)]
    while bodies:
        body, outside = bodies.pop()
        for node in body:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            if not first <= line <= (node.end_lineno or first):
                continue
            inner = [
                part
                for name in ("body", "orelse", "finalbody")
                if isinstance(part := getattr(node, name, None), list) and part and isinstance(part[0], ast.stmt)
            ]
            inner += [one.body for one in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]]
            starts = [part[0].lineno for part in inner]
            best = range(first, max(first, min(starts) - 1) + 1 if starts else (node.end_lineno or first) + 1)
            loaded = outside
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            bodies += [(part, outside and not function) for part in inner]
            if line not in best and not any(part[0].lineno <= line <= (part[-1].end_lineno or 0) for part in inner):
                best = range(line, line + 1)  # the head of a handler or of a case
    return best, loaded


def _importers(path: str, source: Path) -> Iterator[str]:
    """The modules of the same room that import a module."""
    room = (source / path).relative_to(source / "src/smart_context").parts[0]
    stem = Path(path).stem
    for other in sorted((source / "src/smart_context" / room).rglob("*.py")):
        for node in ast.walk(ast.parse(other.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (
                stem in (node.module or "").split(".") or stem in {one.name for one in node.names}
            ):
                yield other.relative_to(source).as_posix()
                break


class Noting:
    """A plugin that notes what each test takes and runs."""

    def __init__(self, place: Path, room: str) -> None:
        import coverage

        self._place, self._room = place, room
        self._taken: dict[str, float] = {}
        self._failed: set[str] = set()
        self._shared: dict[str, float] = defaultdict(float)
        self._now = ""
        only = f"{place}/src/smart_context/{room}/*"
        (place / "noting/room").write_text(only, encoding="utf-8")
        self._watch = coverage.Coverage(data_file=None, config_file=False, include=[only])
        self._watch._warn_no_data = False
        self._set("")
        signal.signal(signal.SIGVTALRM, _too_slow)

    def pytest_sessionstart(self) -> None:
        """Begin only now: what the tests themselves find measuring, when they are loaded, they stop."""
        self._watch.start()

    def _set(self, context: str) -> None:
        self._now = context
        (self._place / "noting/current").write_text(context, encoding="utf-8")

    def _switch(self, context: str) -> None:
        self._set(context)
        self._watch.switch_context(context)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._switch(nodeid)
        self._taken[nodeid] = -cpu()
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 * SLOW)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test has ended."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self._taken[nodeid] += cpu()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that fails here is left out."""
        if report.failed:
            self._failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Any:
        """What a shared fixture runs and takes counts for each test of its file."""
        if fixturedef.scope == "function" or "::" not in self._now:
            return (yield)
        before, began = self._now, cpu()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self._switch(_file(before))
        try:
            return (yield)
        finally:
            self._switch(before)
            signal.setitimer(signal.ITIMER_VIRTUAL, 2 * SLOW)
            taken = cpu() - began
            self._shared[_file(before)] += taken
            self._taken[before] -= taken

    def pytest_sessionfinish(self) -> None:
        """Write down what was noted."""
        self._watch.stop()
        data = self._watch.get_data()
        ran: dict[str, dict[int, list[str]]] = {}
        for name in data.measured_files():
            ran[name] = data.contexts_by_lineno(name)
        out = {"taken": self._taken, "shared": self._shared, "failed": sorted(self._failed), "ran": ran}
        (self._place / "noting/done.json").write_text(json.dumps(out), encoding="utf-8")


def _too_slow(_signal: int, _frame: object) -> None:
    """End a test that is left out anyway."""
    pytest.fail("too slow")


def read(place: Path) -> list[Noted]:
    """What was noted in a copy, by the file of the tests."""
    done = json.loads((place / "noting/done.json").read_text(encoding="utf-8"))
    found: dict[str, Noted] = {}
    for test, seconds in done["taken"].items():
        file = _file(test)
        lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        noted = found.setdefault(file, Noted(file, {}, done["shared"].get(file, 0.0), [], lines))
        noted.taken[test] = seconds
        noted.failed.extend([test] if test in done["failed"] else [])

    def ran(name: str, line: int, context: str) -> None:
        if _file(context) in found:
            found[_file(context)].lines[Path(name).relative_to(place).as_posix()][line].append(context)

    for name, at in done["ran"].items():
        for line, contexts in at.items():
            for context in contexts:
                ran(name, int(line), context)
    children = place / "noting/children"
    for told in children.read_text(encoding="utf-8").splitlines() if children.exists() else ():
        context, files = json.loads(told)
        for name, numbers in files.items():
            for line in numbers:
                ran(name, line, context)
    return list(found.values())


def together(noted: Iterable[Noted]) -> Reach:
    """One `Reach` of what was noted."""
    taken: dict[str, float] = {}
    shared: dict[str, float] = {}
    left_out: list[str] = []
    lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in noted:
        too_slow = SLOW - one.shared
        left_out += [test for test, seconds in one.taken.items() if seconds >= too_slow or test in one.failed]
        taken |= {test: seconds for test, seconds in one.taken.items() if test not in left_out}
        for name, at in one.lines.items():
            for line, contexts in at.items():
                for context in contexts:
                    lines[name][int(line)] |= {context} if "::" in context else one.taken.keys()
        shared[one.file] = one.shared
    return Reach(taken, shared, lines, sorted(left_out))


def cpu() -> float:
    """Seconds of CPU that this process and its ended children have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
