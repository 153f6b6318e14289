"""Many clients at two search nodes while a folder is indexed, a node is killed, and the database fails over: `python -m bench team [--clients 200] [--seconds 60] [--every 5] [--out FILE]`.

Everything is started here, on loopback: PostgreSQL with a replica that follows it, two nodes that connect as `smart_context_node`, a worker that connects as `smart_context_indexer`. Of
three tokens, one sees one folder, one another, one all. At a quarter of the time a node is killed, and started again a few seconds later; past the half the primary is stopped as by a crash, and a
moment later the replica is made the primary. Every answer is checked: what is right is known beforehand. A client whose node does not take its question asks the other node once, as a proxy in front
would. Printed: what was answered, what was wrong, errors by kind with their first and last second, latency by five seconds. Raw numbers go to bench/runs/team.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import _postgres, _server
from bench._clients import Reader, Tally, client, finds
from bench.load import WEIGHTS, WORDS
from bench.shared import RUNS
from smart_context.engine.postgres.database import Database
from smart_context.errors import ContextError

# Words of two folders have no letter but vowels in common, so that none is a slip of another folder's.
_LETTERS = {"sales": "bdfg", "people": "klmn", "new": "prtv"}
_VOWELS = "aiou"
_DOWN = 4.0  # seconds that a killed node stays away
_PROMOTED = 2.0  # seconds until somebody makes the replica the primary
_READY = 120.0


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench team", description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=5)
    parser.add_argument("--files", type=int, default=1000, help="in each of the two folders that are searched")
    parser.add_argument("--new-files", type=int, default=5000, help="in the folder that is indexed meanwhile")
    parser.add_argument("--out", type=Path, default=RUNS / "team.json")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="team-") as name, _postgres.started() as primary, ExitStack() as held:
        team = Team(Path(name).resolve(), primary)
        team.prepare(args.files, args.new_files)
        replica = held.enter_context(primary.replica())
        replica.start()
        team.hosts = f"{primary.home},{replica.home}"
        nodes = [held.enter_context(team.node(number)) for number in (1, 2)]
        result = asyncio.run(_day(team, nodes, replica, args))
    print(json.dumps(result, indent=1))
    args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


@dataclass
class Node:
    """A search node: the same data folder and port each time it is started."""

    command: list[str]
    env: dict[str, str]
    port: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.process = subprocess.Popen(
            [*self.command, "--port", str(self.port)], env=self.env, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr
        for line in self.process.stderr:
            if found := re.findall(r":(\d+)/mcp", line):
                self.port = int(found[0])
                break
        else:
            raise SystemExit("a node ended before it listened")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def stop(self, how: signal.Signals) -> None:
        """End it."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(60)
            self.process = None


@dataclass
class Team:
    """What all machines share: folders, a database, tokens."""

    home: Path
    primary: Any
    hosts: str = ""
    files: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)
    readers: list[Reader] = field(default_factory=list)

    def prepare(self, old: int, new: int) -> None:
        """Write the files, index two of three folders, make tokens."""
        self.hosts = str(self.primary.home)
        self.primary.address("team")
        rnd = random.Random(7)
        for name, count in (("sales", old), ("people", old), ("new", new)):
            self.files[name] = _written(self.home / name, name, count, rnd)
        self.run("tester", "engine", "init")
        for user, role in (("node", "smart_context_node"), ("worker", "smart_context_indexer")):
            self.primary.sql("team", f"CREATE ROLE {user} LOGIN", f"GRANT {role} TO {user}")
        for name in ("sales", "people"):
            self.run("worker", "index", "--enqueue", str(self.home / name))
        self.run("worker", "worker", "--once")
        whole = [item for name in ("sales", "people") for item in self.files[name]]
        for name in ("sales", "people"):
            mine = self.files[name]
            token = self.run("worker", "token", "add", name, "--root", str(self.home / name))
            others = [item for item in whole if item not in mine] + self.files["new"]
            self.readers.append(Reader(token, (self.home / name,), mine, others))
        token = self.run("worker", "token", "add", "everybody", "--all-roots")
        nowhere = [(f"{word[::-1]}wyx", Path("/etc/passwd")) for word, _ in whole[:50]]
        self.readers.append(Reader(token, tuple(self.home / name for name in self.files), whole, nowhere))

    def env(self, user: str, data: str) -> dict[str, str]:
        """The environment of a machine."""
        wanted = "any" if user == "node" else "read-write"
        own = {
            "SMART_CONTEXT_ENGINE": f"postgresql://{user}@/team?host={self.hosts}&target_session_attrs={wanted}",
            "SMART_CONTEXT_ROOTS": os.pathsep.join(str(self.home / name) for name in self.files),
            "SMART_CONTEXT_DATA_DIR": str(self.home / "data" / data),
            "SMART_CONTEXT_INDEX_WORKERS": "1",
            "SMART_CONTEXT_SEMANTIC_ENABLED": "false",
        }
        return {**os.environ, **own}

    def run(self, user: str, *words: str) -> str:
        """Run a command to its end; what it printed."""
        command = [sys.executable, "-m", "smart_context", *words]
        done = subprocess.run(command, env=self.env(user, user), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{words} ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stdout.strip()

    @contextmanager
    def node(self, number: int) -> Iterator[Node]:
        """A search node, until the end."""
        config = self.home / f"node-{number}.toml"
        config.write_text("[rate_limits]\nsearchFiles = 0\nopenFile = 0\n[index]\nat_start = false\n", encoding="utf-8")
        command = [sys.executable, "-m", "smart_context", "serve", "--http", "--config", str(config)]
        made = Node(command, self.env("node", f"node-{number}"))
        made.start()
        try:
            yield made
        finally:
            made.stop(signal.SIGTERM)

    def recorded(self) -> int:
        """How many of the new files are in the record."""
        with_new = str(self.home / "new").encode() + b"/"
        query = "SELECT count(*) FROM smart_context.files WHERE path >= %s AND path < %s AND state = 'ok'"
        database = Database(self.env("worker", "")["SMART_CONTEXT_ENGINE"])
        return int(database.rows(query, (with_new, with_new[:-1] + b"0"))[0][0])


def _written(folder: Path, name: str, count: int, rnd: random.Random) -> list[tuple[str, Path]]:
    """So many notes, each with a word that no other file has."""
    made: list[tuple[str, Path]] = []
    taken: set[str] = set()
    for number in range(count):
        place = folder / f"{number // 200:03}"
        place.mkdir(parents=True, exist_ok=True)
        word = next(word for word in iter(lambda: _word(rnd, _LETTERS[name]), "") if word not in taken)
        taken.add(word)
        text = " ".join(rnd.choices(WORDS, WEIGHTS, k=200))
        path = place / f"{number:05}.md"
        path.write_text(f"# A common note\n\n{word} {text}\n", encoding="utf-8")
        made.append((word, path))
    return made


def _word(rnd: random.Random, letters: str) -> str:
    return "".join(rnd.choice(some) for some in (letters, _VOWELS) * 5)


async def _day(team: Team, nodes: Sequence[Node], replica: Any, args: argparse.Namespace) -> dict[str, Any]:
    ports = [node.port for node in nodes]
    for number in range(len(team.readers)):  # each node has derived its ranking, and knows the tokens
        for port in ports:
            await _until_right(port, team.readers[number])
    tally = Tally()
    events: list[tuple[float, str]] = []
    worker = subprocess.Popen(
        [sys.executable, "-m", "smart_context", "worker"],
        env=team.env("worker", "worker-1"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + args.seconds
        clients = [
            client(ports, n, team.readers[n % len(team.readers)], until, args.every, tally) for n in range(args.clients)
        ]
        await asyncio.gather(_troubles(team, nodes, replica, args.seconds, tally, events), *clients)
        recorded = await asyncio.to_thread(_all_recorded, team, len(team.files["new"]))
        seen = [await _found(port, team) for port in ports]
    finally:
        worker.terminate()
        worker.wait(60)
    return {
        "clients": args.clients,
        "seconds": args.seconds,
        "every": args.every,
        "load": round(os.getloadavg()[0], 1),
        "events": events,
        **_told(tally),
        "new_files": len(team.files["new"]),
        "new_files_recorded": recorded,
        "new_files_found_by_each_node_of_20": seen,
    }


async def _troubles(
    team: Team, nodes: Sequence[Node], replica: Any, seconds: float, tally: Tally, events: list[tuple[float, str]]
) -> None:
    """What goes wrong, and when."""

    async def happens(at: float, what: str, do: Any, *given: Any) -> None:
        await asyncio.sleep(max(0.0, at - tally.now()))
        events.append((tally.now(), what))
        await asyncio.to_thread(do, *given)

    await happens(
        0.0,
        "a walk puts the new folder into the queue",
        team.run,
        "worker",
        "index",
        "--enqueue",
        str(team.home / "new"),
    )
    await happens(seconds * 0.25, "node 1 is killed", nodes[0].stop, signal.SIGKILL)
    await happens(seconds * 0.25 + _DOWN, "node 1 is started again", nodes[0].start)
    events.append((tally.now(), "node 1 listens"))
    await happens(seconds * 0.55, "the primary is stopped", team.primary.stop, signal.SIGQUIT)
    await happens(
        seconds * 0.55 + _PROMOTED, "the replica is made the primary", replica.sql, "postgres", "SELECT pg_promote()"
    )
    events.append((tally.now(), "it has been made the primary"))


def _all_recorded(team: Team, wanted: int) -> int:
    """Wait until a worker has read everything; how many files there are then."""
    late = time.monotonic() + _READY
    found = 0
    while found < wanted and time.monotonic() < late:
        try:
            found = team.recorded()
        except ContextError:
            pass
        threading.Event().wait(0.5)
    return found


async def _until_right(port: int, reader: Reader) -> None:
    late = time.monotonic() + _READY
    while not await finds(port, reader, *reader.own[-1]):
        if time.monotonic() > late:
            raise SystemExit("a node does not find what it should")


async def _found(port: int, team: Team) -> int:
    """How many of twenty new files a node finds."""
    some = team.files["new"][:: max(1, len(team.files["new"]) // 20)][:20]
    return sum([await finds(port, team.readers[-1], *one) for one in some])


def _told(tally: Tally) -> dict[str, Any]:
    times = sorted(ms for _, ms in tally.answered)
    parts: dict[int, list[float]] = defaultdict(list)
    for at, ms in tally.answered:
        parts[int(at // 5) * 5].append(ms)
    return {
        "answered": len(times),
        "answers": dict(tally.kinds),
        "wrong": tally.wrong,
        "errors": _by_kind(tally.errors),
        "asked_the_other_node": _by_kind(tally.elsewhere),
        "p50_ms": _server.at(times, 0.5),
        "p95_ms": _server.at(times, 0.95),
        "max_ms": _server.at(times, 1.0),
        "by_5_seconds": {
            at: {"answered": len(ms), "p50_ms": _server.at(sorted(ms), 0.5), "p95_ms": _server.at(sorted(ms), 0.95)}
            for at, ms in sorted(parts.items())
        },
    }


def _by_kind(met: Sequence[tuple[float, str]]) -> dict[str, Any]:
    kinds: dict[str, list[float]] = defaultdict(list)
    for at, what in met:
        kinds[what].append(at)
    return {what: {"count": len(at), "first_s": min(at), "last_s": max(at)} for what, at in sorted(kinds.items())}
