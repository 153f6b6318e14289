"""A great many calls over one pipe: memory and descriptors of the server must stay where they are, and no process may be left.

    python -m bench soak [--calls 100000] [--out FILE]

Searches, previews (from the index, and of a file that changes, so that reading processes come and go), listings, errors, lookups in a cache.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.load import WEIGHTS, WORDS, _write

_AT_ONCE = 32  # calls on their way
_SAMPLES = 20


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench soak")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="write the result here, as JSON")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write(home / "share", 500)
        (home / "share/changing.md").write_text("It changes.")
        context = [sys.executable, "-m", "smart_context"]
        (home / "caches").mkdir()
        build = ["build", "--sources", str(home / "share"), "--cache", str(home / "caches/docs")]
        subprocess.run([*context, *build], check=True, capture_output=True)
        none = "\n".join(f"{tool} = 0" for tool in ("searchFiles", "openFile", "summarizeResults"))
        (home / "config.toml").write_text(f"[rate_limits]\n{none}\n")
        options = ["--config", home / "config.toml", "--data-dir", home / "data", "--root", home / "share"]
        options += ["--cache-root", home / "caches"]
        subprocess.run([*context, "index", *map(str, options[:6])], check=True, capture_output=True)
        result = _measure([*context, "serve", *map(str, options)], home, args.calls)
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


def _measure(command: list[str], home: Path, calls: int) -> dict[str, Any]:
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert server.stdin
    assert server.stdout
    assert server.stderr
    stdin, stdout = server.stdin, server.stdout
    room = threading.Semaphore(_AT_ONCE)

    def send() -> None:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        frames: list[dict[str, Any]] = [{"id": -1, "method": "initialize", "params": hello}]
        frames.append({"method": "notifications/initialized"})
        for frame in frames:
            stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
        rnd = random.Random(5)
        for number in range(calls):
            room.acquire()
            params = _call(rnd, home, number)
            frame = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            stdin.write(json.dumps(frame).encode() + b"\n")
            stdin.flush()
        stdin.close()

    sender = threading.Thread(target=send)
    began = time.monotonic()
    sender.start()
    answered = 0
    samples: list[dict[str, float]] = []
    outcomes: dict[str, int] = {}
    for line in stdout:
        frame = json.loads(line)
        if not isinstance(frame.get("id"), int) or frame["id"] < 0:
            continue
        room.release()
        answered += 1
        outcome = "protocol error" if "error" in frame else "error" if frame["result"]["isError"] else "ok"
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if answered % max(1, calls // _SAMPLES) == 0 and answered < calls:
            samples.append({"calls": answered, **_look(server.pid)})
    said = server.stderr.read().decode()
    status = server.wait()
    sender.join()
    seconds = time.monotonic() - began
    return {
        "python": platform.python_version(),
        "load_average": os.getloadavg()[0],
        "calls": calls,
        "answered": answered,
        "outcomes": outcomes,
        "calls_per_second": round(answered / seconds, 1),
        "exit_status": status,
        "stderr_lines": len(said.splitlines()),
        "processes_left": _of_session(home),
        "samples": samples,
    }


def _call(rnd: random.Random, home: Path, number: int) -> dict[str, Any]:
    kind = rnd.random()
    if number % 1000 == 500:
        (home / "share/changing.md").write_text(f"It changes: {number}.")
        return {"name": "openFile", "arguments": {"path": str(home / "share/changing.md")}}
    if kind < 0.5:
        return {"name": "searchFiles", "arguments": {"query": " ".join(rnd.choices(WORDS, WEIGHTS, k=2)), "k": 5}}
    if kind < 0.65:
        file = f"{home}/share/{rnd.randrange(2):03}/{rnd.randrange(200):05}.md"
        return {"name": "openFile", "arguments": {"path": file, "pointer": "lines 1-3"}}
    if kind < 0.8:
        arguments = {"cache": "docs", "query": rnd.choice(WORDS), "budget": rnd.randrange(2000)}
        return {"name": "context.resolve", "arguments": arguments}
    if kind < 0.9:
        return {"name": "listRoots", "arguments": {}}
    return {"name": "openFile", "arguments": {"path": "/etc/passwd"}}


def _look(pid: int) -> dict[str, float]:
    with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
        pages = int(statm.read().split()[1])
    return {
        "memory_mb": round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": len(os.listdir(f"/proc/{pid}/task")),
    }


def _of_session(home: Path) -> int:
    """How many processes still name our folder, or work in it."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                found += str(home).encode() in cmdline.read() and int(pid) != os.getpid()
        except OSError:
            continue
    return found
