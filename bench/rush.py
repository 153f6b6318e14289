"""Clients that do not pause, at servers of several kinds by turns: requests a second, errors, and what a request costs. Loopback only.

    python -m bench rush [--clients 200] [--seconds 10] [--rounds 3] [--processes 2] [--other SRC] [--out FILE]

Half of the clients speak with a session (2025-11-25), half without (2026-07-28). `--other` is the `src` folder of another version, which answers by one
process. The clients take processor time of the same machine: `server_cpu_ms` is what a request costs all processes of the server, beside that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench import _server
from bench.load import Tally, _client, _write


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench rush")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--other", type=Path, help="the src folder of another version")
    parser.add_argument("--out", type=Path, help="write the result here, as JSON")
    args = parser.parse_args(argv)
    result = _measured(args)
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


def _measured(args: argparse.Namespace) -> dict[str, object]:
    kinds: dict[str, tuple[str, list[str]]] = {
        **({"before": (str(args.other.resolve()), [])} if args.other else {}),
        "1 process": ("", []),
        f"{args.processes} processes": ("", ["--processes", str(args.processes)]),
    }
    found: dict[str, list[dict[str, object]]] = {name: [] for name in kinds}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write(home / "old", args.files)
        (home / "config.toml").write_text("[rate_limits]\nsearchFiles = 0\n[index]\nat_start = false\n")
        for source in {source for source, _ in kinds.values()}:
            index = [sys.executable, "-m", "smart_context", "index", str(home / "old"), *_where(home, source)]
            subprocess.run(index, check=True, capture_output=True, env=_env(source))
        for _ in range(args.rounds):
            for name, (source, options) in kinds.items():
                with _server.started([*_where(home, source), *options], _env(source)) as (server, port):
                    found[name].append(asyncio.run(_rush(server.pid, port, args)))
    rates = {name: median(float(str(one["per_second"])) for one in rounds) for name, rounds in found.items()}
    about = {"python": platform.python_version(), "processors": os.cpu_count(), "load_average": os.getloadavg()[0]}
    asked = {"clients": args.clients, "seconds": args.seconds, "files": args.files}
    return {**about, **asked, "median_per_second": rates, "rounds": found}


def _where(home: Path, source: str) -> list[str]:
    data = home / ("data-before" if source else "data")
    return ["--config", str(home / "config.toml"), "--data-dir", str(data), "--root", str(home / "old")]


def _env(source: str) -> dict[str, str]:
    return {**os.environ, **({"PYTHONPATH": source} if source else {})}


async def _rush(pid: int, port: int, args: argparse.Namespace) -> dict[str, object]:
    # Some searches first, so that what is opened once is not counted.
    await asyncio.gather(*(_client(port, n, time.monotonic() + 1.0, 0, Tally()) for n in range(8)))
    tally = Tally()
    own, servers = os.times(), _server.tree_cpu(pid)
    began = time.monotonic()
    await asyncio.gather(*(_client(port, n, began + args.seconds, 0, tally) for n in range(args.clients)))
    took = time.monotonic() - began
    times, count = sorted(tally.answered), max(1, len(tally.answered))
    ended = os.times()
    return {
        "answered": len(times),
        "per_second": round(len(times) / took, 1),
        "errors": tally.errors,
        "p50_ms": _server.at(times, 0.5),
        "p99_ms": _server.at(times, 0.99),
        "server_cpu_ms": round((_server.tree_cpu(pid) - servers) / count * 1000, 2),
        "client_cpu_ms": round((ended.user + ended.system - own.user - own.system) / count * 1000, 2),
    }
