"""How soon commands answer: processor time of a search in a small index, of `--help`, `resolve`, `doctor`, and of a server's first answer.

    python -m bench start [--rounds 9] [--other SRC] [--out FILE]

`--other` is the `src` folder of another version: both take turns, so that what else the machine does meets both. The least of all rounds
counts: start-up is short, and whatever disturbs it only adds to it. A server's first answer is the time of its main thread until
`initialize` is answered; what it loads afterwards, while nobody waits, is not counted. Modules are compiled by the first round, as an installer or
the first use compiles them, whatever the environment says of that.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

_WHO = {"name": "bench", "version": "1"}
_GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _WHO}
_LINE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _GREETING}).encode() + b"\n"
_CONTEXT = [sys.executable, "-m", "smart_context"]
_FILES = 60


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench start")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--other", type=Path, help="the src folder of another version, to be compared with")
    parser.add_argument("--out", type=Path, help="write the result here, as JSON")
    args = parser.parse_args(argv)
    versions = {"now": "", **({"before": str(args.other.resolve())} if args.other else {})}
    with tempfile.TemporaryDirectory() as folder:
        commands = _prepared(Path(folder))
        spent: dict[str, dict[str, float]] = {name: {} for name in [*commands, "initialize, serve", "python -c pass"]}
        for _ in range(args.rounds):
            for version, source in versions.items():
                env = {**os.environ, "HOME": folder, **({"PYTHONPATH": source} if source else {})}
                env.pop("PYTHONDONTWRITEBYTECODE", None)
                serving = [*_CONTEXT, "serve", *commands["search"][-4:]]
                times = {name: _cpu(command, env, may_fail=name == "doctor") for name, command in commands.items()}
                times["initialize, serve"] = _greeted(serving, env)
                times["python -c pass"] = _cpu([sys.executable, "-c", "pass"], env)
                for name, seconds in times.items():
                    spent[name][version] = min(seconds, spent[name].get(version, seconds))
    result = {
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "rounds": args.rounds,
        "cpu_ms": {name: {v: round(s * 1000, 1) for v, s in each.items()} for name, each in spent.items()},
    }
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _prepared(folder: Path) -> dict[str, list[str]]:
    """The commands, with an index and a cache for them."""
    notes, data, cache = folder / "notes", folder / "data", folder / "notes.cache"
    notes.mkdir()
    for number in range(_FILES):
        text = f"# Note {number}\n\nThe walrus number {number} sleeps on the ice and dreams of herring.\n\n" * 5
        (notes / f"note-{number}.md").write_text(text, encoding="utf-8")
    where = ["--root", str(notes), "--data-dir", str(data)]
    subprocess.run([*_CONTEXT, "index", str(notes), *where], check=True, capture_output=True)
    subprocess.run([*_CONTEXT, "build", "--sources", notes, "--cache", cache], check=True, capture_output=True)
    return {
        "search": [*_CONTEXT, "search", "walrus herring", *where],
        "search, a sentence": [*_CONTEXT, "search", "which walrus dreams of herring on the ice", *where],
        "--help": [*_CONTEXT, "--help"],
        "resolve": [*_CONTEXT, "resolve", "--cache", str(cache), "--query", "walrus", "--budget", "100"],
        "pack": [*_CONTEXT, "pack", "--cache", str(cache), "--query", "walrus", "--budget", "100"],
        "doctor": [*_CONTEXT, "doctor", *where],
    }


def _cpu(command: list[str], env: dict[str, str], *, may_fail: bool = False) -> float:
    """Processor time of a command with all that it starts, in seconds. One that fails is no measure: another version may refuse the index."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode and not may_fail:
        sys.exit(f"{' '.join(command[1:4])} failed: {done.stderr.decode(errors='replace').strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _greeted(command: list[str], env: dict[str, str]) -> float:
    """Processor time of a server's main thread until it has answered the greeting, in seconds."""
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(_LINE)
        server.stdin.flush()
        server.stdout.readline()
        with open(f"/proc/{server.pid}/task/{server.pid}/schedstat", encoding="ascii") as stat:
            spent = int(stat.read().split()[0])
        server.stdin.close()
    return spent / 1e9


if __name__ == "__main__":
    main(sys.argv[1:])
