"""Many clients at one server over HTTP while a folder is being indexed: errors, latency, memory. Loopback only.

    python -m bench load [--clients 200] [--seconds 60] [--every 5] [--out FILE]
    python -m bench load --requests 300 [--other SRC] [--out FILE]

Half of the clients speak with a session (2025-11-25), half without (2026-07-28). Each asks every `--every` seconds on average;
0 asks without a pause. There are no rates: all of them are one caller. The clients run on the same machine.

With `--requests`, one client asks so many times and nobody else: what a request costs the server, in processor time, and how much of that is
not the search, as counted in the server by the thread that searches; beside it what the search costs in a process that does nothing else. `--other` is the `src` folder of another version; both take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench import _server

_SEED = 7
_SYLLABLES = [a + b for a in "bdfgklmnprstv" for b in ("a", "e", "i", "o", "u")]
WORDS = [a + b + c for a in _SYLLABLES[::3] for b in _SYLLABLES[::4] for c in ("n", "l", "st", "ra")]
WEIGHTS = [1 / (rank + 3) for rank in range(len(WORDS))]  # few words are common, as in any language
_ACCEPT = "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n"


@dataclass
class Tally:
    """What the clients met. latencies in milliseconds, by what came back."""

    answered: list[float] = field(default_factory=list)
    limited: int = 0
    errors: dict[str, int] = field(default_factory=dict)

    def error(self, what: str) -> None:
        self.errors[what] = self.errors.get(what, 0) + 1


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench load")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=5)
    parser.add_argument("--files", type=int, default=2000, help="in the folder that is searched")
    parser.add_argument("--new-files", type=int, default=5000, help="in the folder that is indexed meanwhile")
    parser.add_argument("--requests", type=int, default=0, help="measure what one request costs, by so many")
    parser.add_argument("--other", type=Path, help="with --requests: the src folder of another version")
    parser.add_argument("--out", type=Path, help="write the result here, as JSON")
    args = parser.parse_args(argv)
    result = _costs(args) if args.requests else _under_load(args)
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


def _under_load(args: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write(home / "old", args.files)
        _write(home / "new", args.new_files)
        rates = "[rate_limits]\nsearchFiles = 0\n"
        (home / "config.toml").write_text(rates + "[index]\nat_start = false\n")
        common = ["--config", str(home / "config.toml"), "--data-dir", str(home / "data")]
        roots = ["--root", str(home / "old"), "--root", str(home / "new")]
        index = [sys.executable, "-m", "smart_context", "index", str(home / "old"), *common, *roots]
        subprocess.run(index, check=True, capture_output=True)
        with _server.started([*common, *roots]) as (server, port):
            return asyncio.run(_measure(server.pid, port, home / "new", args))


_SEARCH = """
import sys, time
from smart_context.api import App
from smart_context.settings import config
with App(config.load({"roots": (sys.argv[1],), "data_dir": sys.argv[2]})) as app:
    for _ in range(30):
        app.search_files(sys.argv[3])
    began = time.process_time()
    for _ in range(int(sys.argv[4])):
        app.search_files(sys.argv[3])
    print((time.process_time() - began) / int(sys.argv[4]) * 1000)
"""
_ROUNDS = 5
_WARM = 30  # requests that come before


def _costs(args: argparse.Namespace) -> dict[str, object]:
    """Processor time of one search over HTTP, and of the search alone, in milliseconds: the least of several rounds."""
    versions = {"now": "", **({"before": str(args.other.resolve())} if args.other else {})}
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write(home / "old", 60)
        (home / "config.toml").write_text("[rate_limits]\nsearchFiles = 0\n[index]\nat_start = false\n")
        where = ["--config", str(home / "config.toml"), "--data-dir", str(home / "data"), "--root", str(home / "old")]
        index = [sys.executable, "-m", "smart_context", "index", str(home / "old"), *where]
        subprocess.run(index, check=True, capture_output=True)
        alone = [sys.executable, "-c", _SEARCH, str(home / "old"), str(home / "data"), WORDS[9], str(args.requests)]
        for _ in range(_ROUNDS):
            for version, source in versions.items():
                env = {**os.environ, **({"PYTHONPATH": source} if source else {})}
                searched = subprocess.run(alone, env=env, check=True, capture_output=True)
                with _server.started(where, env, home / "spent") as (server, port):
                    times = asyncio.run(_cost(server.pid, port, home / "spent", args.requests))
                for name, spent in {"the search alone": float(searched.stdout), **times}.items():
                    one = found.setdefault(name, {})
                    one[version] = round(min(spent, one.get(version, spent)), 2)
    about = {"python": platform.python_version(), "processors": os.cpu_count(), "load_average": os.getloadavg()[0]}
    return {**about, "requests": args.requests, "cpu_ms_a_request": found}


async def _cost(pid: int, port: int, spent: Path, requests: int) -> dict[str, float]:
    """What a request costs, and what of that is not the search, as the server's own thread for it counts."""
    found = {}
    for has_session in (True, False):
        link = await Link.to(port)
        session = await _initialize(link, "one") if has_session else ""
        began, inside = 0.0, 0.0
        for number in range(_WARM + requests):
            if number == _WARM:
                began, inside = _server.cpu(pid), _server.searched(spent)
            status, _ = await link.ask(*_search(WORDS[9], "one", session, has_session))
            assert status == 200
        whole, inside = _server.cpu(pid) - began, _server.searched(spent) - inside
        name = "with a session" if has_session else "without"
        found[name] = whole / requests * 1000
        found[f"{name}, beyond the search"] = (whole - inside) / requests * 1000
        link.close()
    return found


def _write(folder: Path, count: int) -> None:
    rnd = random.Random(_SEED)
    for number in range(count):
        place = folder / f"{number // 200:03}"
        place.mkdir(parents=True, exist_ok=True)
        text = " ".join(rnd.choices(WORDS, WEIGHTS, k=300))
        (place / f"{number:05}.md").write_text(f"# Note {number}\n\n{text}\n")


async def _measure(pid: int, port: int, new: Path, args: argparse.Namespace) -> dict[str, object]:
    tally = Tally()
    began = os.times()
    server_began = _server.cpu(pid)
    # One search first, so that what is opened once is not counted as growth.
    await _client(port, 0, time.monotonic() + 0.1, 0.01, Tally())
    before = await _memory(port)
    until = time.monotonic() + args.seconds
    indexing = asyncio.create_task(_index(port, new))
    watching = asyncio.create_task(_memories(port, args.seconds / 6, until))
    await asyncio.gather(*(_client(port, n, until, args.every, tally) for n in range(args.clients)))
    is_done = indexing.done()
    counted = await indexing
    after = await _memory(port)
    times = sorted(tally.answered)
    return {
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "clients": args.clients,
        "seconds": args.seconds,
        "every": args.every,
        "answered": len(times),
        "per_second": round(len(times) / args.seconds, 1),
        "errors": asdict(tally)["errors"],
        "rate_limited": tally.limited,
        "p50_ms": _server.at(times, 0.5),
        "p99_ms": _server.at(times, 0.99),
        "max_ms": _server.at(times, 1.0),
        "memory_mb_before": before,
        "memory_mb_meanwhile": await watching,
        "memory_mb_after": after,
        "indexed_meanwhile": counted,
        "indexing_ended_before_the_clients": is_done,
        "server_cpu_seconds": round(_server.cpu(pid) - server_began, 1),
        "client_cpu_seconds": round(os.times().user + os.times().system - began.user - began.system, 1),
    }


async def _client(port: int, number: int, until: float, every: float, tally: Tally) -> None:
    rnd = random.Random(number)
    has_session = bool(number % 2)
    link = await Link.to(port)
    name = f"client-{number}"
    try:
        await asyncio.sleep(rnd.random() * min(every, 5.0))
        session = await _initialize(link, name) if has_session else ""
        while time.monotonic() < until:
            query = " ".join(rnd.choices(WORDS, WEIGHTS, k=2))
            began = time.perf_counter()
            try:
                status, body = await link.ask(*_search(query, name, session, has_session))
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                tally.error(type(error).__name__)
                link = await Link.to(port)
                continue
            took = (time.perf_counter() - began) * 1000
            if status != 200:
                tally.error(f"HTTP {status}")
            elif '"isError":true' not in body.replace(" ", ""):
                tally.answered.append(took)
            elif "RATE_LIMITED" in body:
                tally.limited += 1
            else:
                tally.error(body[:200])
            await asyncio.sleep(rnd.uniform(0, 2 * every))
    finally:
        link.close()


def _search(query: str, name: str, session: str, has_session: bool) -> tuple[str, dict[str, object]]:
    params: dict[str, object] = {"name": "searchFiles", "arguments": {"query": query}}
    if has_session:
        headers = f"mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n"
    else:
        headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: searchFiles\r\n"
        params["_meta"] = meta(name)
    return headers, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def meta(name: str) -> dict[str, object]:
    return {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }


async def _initialize(link: Link, name: str) -> str:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
    await link.ask("", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    session = link.session
    headers = f"mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n"
    await link.ask(headers, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return session


async def _index(port: int, folder: Path) -> object:
    link = await Link.to(port)
    params = {"name": "indexFolder", "arguments": {"root": str(folder)}, "_meta": meta("indexer")}
    headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: indexFolder\r\n"
    status, body = await link.ask(headers, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    link.close()
    found = re.findall(r'"indexed\\*":(\d+)', body.replace(" ", ""))
    return int(found[0]) if found else f"{status}: {body[:200]}"


async def _memories(port: int, every: float, until: float) -> list[float]:
    found = []
    while time.monotonic() + every < until:
        await asyncio.sleep(every)
        found.append(await _memory(port))
    return found


async def _memory(port: int) -> float:
    link = await Link.to(port)
    page = (await link.ask("", None))[1]
    link.close()
    return round(float(re.findall(r"^smart_context_memory_bytes (\S+)", page, re.MULTILINE)[0]) / 1e6, 1)


class Link:
    """One connection, kept alive: as little work as possible, since it takes from the same processors."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.session = ""

    @classmethod
    async def to(cls, port: int) -> Link:
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=2**24))

    async def ask(self, headers: str, message: object) -> tuple[int, str]:
        body = b"" if message is None else json.dumps(message).encode()
        verb = "GET /metrics" if message is None else "POST /mcp"
        head = f"{verb} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n{_ACCEPT}{headers}\r\n"
        self._writer.write(head.encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        if found := re.search(r"mcp-session-id: (\S+)", answer):
            self.session = found[1]
        if "transfer-encoding: chunked" in answer:
            text = await self._chunks()
        else:
            length = re.search(r"content-length: (\d+)", answer)
            text = await self._reader.readexactly(int(length[1])) if length else b""
        return int(answer.split(" ", 2)[1]), text.decode()

    async def _chunks(self) -> bytes:
        found = b""
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            found += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readuntil(b"\r\n")
        return found

    def close(self) -> None:
        self._writer.close()
