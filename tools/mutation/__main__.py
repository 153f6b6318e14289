"""Change the source a little, again and again, and see whether the tests notice: `python -m tools.mutation [--rooms …] [--each N] [--seed N]`.

In: the rooms `find`, `redact`, `cache` and `access`, and their tests.  Out: `bench/runs/mutation-SEED.json`: each change that no test
noticed, and which test noticed the others.
Always: the seed decides which changes are drawn. `--again` tries those once more that no test noticed, and keeps the rest;
with `--tests` on files of tests that are named.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import pkgutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from .draw import ROOT, Mutant, drawn
from .equivalent import EQUIVALENT
from .reach import Reach
from .trial import TOO_LONG, Copy

_OTHERS = ("_hypothesis_pytestplugin", "click", "hypothesis.strategies", "lxml.etree", "numpy", "phonenumbers")
_OTHERS += ("pytest_timeout", "starlette.applications", "tantivy", "uvicorn")
ROOMS = ("access", "cache", "find", "redact")


def main() -> None:
    """Examine the rooms and write what was found, after each change."""
    parser = argparse.ArgumentParser(prog="tools.mutation")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--each", type=int, default=75, help="changes a room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="only those that no test noticed the last time")
    parser.add_argument(
        "--tests", nargs="+", metavar="FILE", help="try them on all tests of these files, reached or not"
    )
    given = parser.parse_args()
    _load()
    for room in given.rooms:
        _examine(room, given.each, given.seed, again=given.again, files=given.tests)


def _load() -> None:
    """Load what no change is made in, once, and not in each process that is forked."""
    import _pytest

    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parts = [f"_pytest.{one.name}" for one in pkgutil.iter_modules(_pytest.__path__)]
    for name in (*parts, *_OTHERS):
        importlib.import_module(name)
    gc.freeze()  # what is loaded is not looked through for waste, again and again


def _examine(room: str, each: int, seed: int, *, again: bool, files: list[str] | None) -> None:
    out = ROOT / f"bench/runs/mutation-{seed}.json"
    rooms: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    places, mutants = drawn(room, each, seed)
    last = rooms.get(room, {}).get("noticed", {}) if again else {}
    noticed = {_said(one): last[_said(one)] for one in mutants if _said(one) in last}
    survived: list[str] = []
    before = rooms.get(room, {})
    first = {"at_first": before.get("at_first") or _first(before)} if again and before else {}
    _say(f"{room}: {len(mutants)} changes drawn, of {places} places; {len(mutants) - len(noticed)} to try")
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder).resolve())
        if files:
            copy.check(files)
        reach = Reach({}, {}, {}, before.get("tests_left_out", [])) if files else copy.note(room)
        _say(
            f"{room}: {len(reach.taken)} tests take {reach.seconds(reach.taken):.0f} s; {len(reach.left_out)} left out"
        )
        for mutant in mutants:
            said = _said(mutant)
            if said not in noticed:
                verdict = copy.test_with(mutant, files) if files else copy.test(mutant, reach)
                test = verdict.noticed_by
                if test is None:
                    survived.append(said)
                    _say(f"survived: {said}")
                else:
                    noticed[said] = test
            rooms[room] = {**first, **_result(places, noticed, survived, reach.left_out)}
            out.write_text(json.dumps(rooms, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
            _say(f"{room}: {rooms[room]['share_noticed']:.1%} of {rooms[room]['tried']} noticed")


def _said(mutant: Mutant) -> str:
    return f"{mutant.path.removeprefix('src/smart_context/')}: {mutant.change}"


def _first(room: dict[str, Any]) -> str:
    """What was noticed before tests were written for the rest."""
    return f"{len(room['noticed'])} of {len(room['noticed']) + len(room['survived'])}"


def _result(places: int, noticed: dict[str, str], survived: list[str], left_out: list[str]) -> dict[str, Any]:
    same = {said: EQUIVALENT[said] for said in survived if said in EQUIVALENT}
    counted = len(noticed) + len(survived) - len(same)
    return {
        "places": places,
        "tried": len(noticed) + len(survived),
        "equivalent": same,
        "noticed": noticed,
        "noticed_by_the_time_limit": sum(test == TOO_LONG for test in noticed.values()),
        "share_noticed": round(len(noticed) / counted, 3) if counted else 0.0,
        "survived": [said for said in survived if said not in same],
        "tests_left_out": left_out,
    }


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
