"""Change the source a little, again and again, and see whether the tests notice: `python -m tools.mutation [--rooms …] [--each N] [--seed N]`.

In: the rooms `find`, `redact`, `cache` and `access`, and their tests.  Out: `bench/runs/mutation.json`, with each change that no test noticed.
Always: the changes are cosmic-ray's; a seed decides which are drawn: first a place in the source, then one change of it. The checkout is not
touched, each change is made in a copy. A test that takes more than a second by itself is left out, and said to be.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RUN = ROOT / "bench/runs/mutation.json"
ROOMS = ("access", "cache", "find", "redact")
_SLOW = 1.0  # seconds of CPU from which a test is left out
_CPU_LIMIT, _TIME_LIMIT = (
    60,
    900,
)  # seconds a change may take the tests, of one process and by the clock; a change that takes longer is noticed
_BROKEN = 70  # the status of a process that could not run the tests
# Changes after which the program does the same, by what they change, with the reason.
EQUIVALENT: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where it is, the whole text of the module after it, and the lines that differ."""

    path: str
    line: int
    text: str
    change: str


@dataclass(slots=True)
class Room:
    """What is known of a room's mutants so far."""

    places: int
    left_out: list[str]
    tried: int = 0
    slow: int = 0
    survived: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Counts, and who survived."""
        alive = [one for one in self.survived if "same" not in one]
        counted = self.tried - (len(self.survived) - len(alive))
        killed = counted - len(alive)
        return {
            "places": self.places,
            "drawn": self.tried,
            "equivalent": self.tried - counted,
            "killed": killed,
            "killed_by_the_time_limit": self.slow,
            "share_killed": round(killed / counted, 3) if counted else None,
            "tests_left_out": self.left_out,
            "survived": sorted(self.survived, key=lambda one: (one["file"], one["line"], one["change"])),
        }


def drawn(room: str, each: int, seed: int) -> tuple[int, list[Mutant]]:
    """Draw mutants of a room; how many places it has that could have been drawn, and the mutants in their order."""
    from cosmic_ray.plugins import get_operator, operator_names

    operators = {name: get_operator(name) for name in operator_names() if not get_operator(name).arguments()}
    places: dict[tuple[str, int, int], list[tuple[str, int]]] = {}
    for path in sorted((ROOT / "src/smart_context" / room).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for start, operator, occurrence in _positions(path, operators):
            places.setdefault((name, *start), []).append((operator, occurrence))
    dice = random.Random(f"{seed} {room}")  # noqa: S311  # the same draw on every machine
    order = sorted(places)
    dice.shuffle(order)
    found: list[Mutant] = []
    for place in order:
        if len(found) == each:
            break
        mutant = _mutant(place[0], place[1], *dice.choice(places[place]), operators)
        found += [mutant] if mutant else []
    return len(places), found


def _positions(path: Path, operators: dict[str, Any]) -> Iterator[tuple[tuple[int, int], str, int]]:
    """Every change that can be made in a module, but for annotations, which are not evaluated."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path

    silent = list(_not_evaluated(path.read_text(encoding="utf-8")))
    nodes = list(ast_nodes(get_ast_from_path(path)))
    for name, operator in operators.items():
        spots = [start for node in nodes for start, _ in operator().mutation_positions(node)]
        for occurrence, start in enumerate(spots):
            if not any(begin <= start < end for begin, end in silent):
                yield start, name, occurrence


def _not_evaluated(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(ast.parse(text)):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            parts.append(node)
        for part in parts:
            if isinstance(part, ast.AST):
                yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)  # type: ignore[attr-defined]


def _mutant(path: str, line: int, operator: str, occurrence: int, operators: dict[str, Any]) -> Mutant | None:
    """The mutant; None where the change gives no other program, or none at all."""
    from cosmic_ray.mutating import mutate_code

    before = (ROOT / path).read_text(encoding="utf-8")
    after = mutate_code(before, operators[operator](), occurrence)
    try:
        if after is None or ast.dump(ast.parse(after)) == ast.dump(ast.parse(before)):
            return None
    except SyntaxError:
        return None
    was, now = before.splitlines(), after.splitlines()
    changed = [number for number, (a, b) in enumerate(zip(was, now, strict=False)) if a != b] or [line - 1]
    at = changed[0]
    return Mutant(path, at + 1, after, f"{was[at].strip()}  →  {now[at].strip()}")


class Copy:
    """A copy of the checkout, in which one change at a time is made and tested."""

    def __init__(self, place: Path) -> None:
        self.place = place
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)
        self._clock = (
            2_000_000_000  # each change has a time of its own, so that nothing compiled before is taken for it
        )

    def start(self, room: str, mutant: Mutant | None, known: dict[str, float]) -> int:
        """Run a room's tests in a process of their own; its id. Without a mutant, what each test takes is written down."""
        if mutant:
            self._write(mutant.path, mutant.text)
        process = os.fork()
        if process == 0:
            status = _BROKEN
            try:
                os.setpgid(0, 0)
                status = _tests(self.place, room, mutant, known)
            finally:
                if status == _BROKEN:
                    traceback.print_exc()
                sys.stderr.flush()
                sys.stdout.flush()
                os._exit(status)
        return process

    def restore(self, mutant: Mutant) -> None:
        """Take a change back."""
        self._write(mutant.path, (ROOT / mutant.path).read_text(encoding="utf-8"))

    def _write(self, path: str, text: str) -> None:
        self._clock += 10
        (self.place / path).write_text(text, encoding="utf-8", newline="")
        os.utime(self.place / path, (self._clock, self._clock))


def _tests(place: Path, room: str, mutant: Mutant | None, known: dict[str, float]) -> int:
    """In the child: the room's tests, those first that name the module."""
    import pytest

    os.chdir(place)
    os.environ["PYTHONPATH"] = str(place / "src")
    sys.path.insert(0, str(place / "src"))
    quiet = os.open("log" if mutant is None else os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if mutant:
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_LIMIT, _CPU_LIMIT))
    watch = _Watch(Path(mutant.path).stem if mutant else "", known, place / "taken.json" if mutant is None else None)
    more = [
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        *(["-x"] if mutant else []),
    ]  # modules are loaded already
    return int(pytest.main(["-q", "-p", "no:xdist", *more, f"tests/{room}"], plugins=[watch]))


class _Watch:
    """A plugin that puts the tests in order, leaves out what is slow, and writes down what each takes."""

    def __init__(self, module: str, known: dict[str, float], out: Path | None) -> None:
        self._module, self._known, self._out = module, known, out
        self._taken: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._known:
            items[:] = [one for one in items if self._known.get(one.nodeid, _SLOW) < _SLOW]
            names = {one.path: self._module in one.path.read_text(encoding="utf-8") for one in items}
            items.sort(key=lambda one: not names[one.path])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._taken[nodeid] = -_cpu()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._taken[nodeid] += _cpu()

    def pytest_sessionfinish(self) -> None:
        if self._out:
            self._out.write_text(json.dumps(self._taken), encoding="utf-8")


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


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


def examine(room: str, mutants: Sequence[Mutant], places: int, copy: Copy) -> Iterator[Room]:
    """Try each mutant; what is known after each."""
    log = copy.place / "log"
    if _ended(copy.start(room, None, {}), limit=3600) != 0:
        raise SystemExit(f"the tests of {room} fail without a change:\n{log.read_text(encoding='utf-8')[-3000:]}")
    known: dict[str, float] = json.loads((copy.place / "taken.json").read_text(encoding="utf-8"))
    so_far = Room(places, sorted(name for name, taken in known.items() if taken >= _SLOW))
    for mutant in mutants:
        status = _ended(copy.start(room, mutant, known), limit=_TIME_LIMIT)
        copy.restore(mutant)
        so_far.tried += 1
        so_far.slow += status is None or os.WIFSIGNALED(status)
        if status == 0:
            one = {"file": mutant.path, "line": mutant.line, "change": mutant.change}
            why = EQUIVALENT.get(mutant.change)
            so_far.survived.append({**one, "same": why} if why else one)
            _say(f"survived: {mutant.path}:{mutant.line}: {mutant.change}")
        yield so_far


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Examine the rooms and write what was found, after each change."""
    parser = argparse.ArgumentParser(prog="tools.mutation")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--each", type=int, default=75, help="mutants a room")
    parser.add_argument("--seed", type=int, default=10)
    given = parser.parse_args()
    os.nice(19)
    for name in ("hypothesis", "lxml", "numpy", "pytest", "tantivy"):
        importlib.import_module(name)  # once, and not in each process that is forked
    found: dict[str, Any] = json.loads(RUN.read_text(encoding="utf-8")) if RUN.exists() else {}
    for room in given.rooms:
        places, mutants = drawn(room, given.each, given.seed)
        _say(f"{room}: {len(mutants)} changes drawn, of {places} places")
        with tempfile.TemporaryDirectory() as folder:
            for so_far in examine(room, mutants, places, Copy(Path(folder))):
                found[room] = {"seed": given.seed, **so_far.as_json()}
                RUN.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
        _say(f"{room}: {found[room]['share_killed']:.0%} noticed")


if __name__ == "__main__":
    main()
