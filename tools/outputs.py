"""Run the commands that the pages show, and write down what they print: `python -m tools.outputs [--check]`.

In: the README and guides, with commands behind `$` in their console blocks.  Out: the same pages with what the commands print.
Always: a page is written only if something else than the numbers that no two runs share (times, sizes) has changed. With `--check` nothing
is written, and the exit status says whether the pages are true.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)$", re.MULTILINE)
_CURL = re.compile(r"""curl -s -H "Authorization: Bearer \$TOKEN" http://127\.0\.0\.1:8765(/\w+)( \| grep -v '\^#')?""")
_VARIES = re.compile(
    r"""in\ \d+\.\d\ s | (?<=Python\ )[\d.]+ | [\d.,]+\ [kM]?B(?=\ (?:before|now)) | \ +[\d.]+\ ms | \d{4}-\d\d-\d\dT[\d:.]+Z
    | (?<="index_bytes":\ )\d+ | (?<="oldest_run_seconds":\ )[\d.]+ | (?<=_bytes\ )\d+ | (?<=_staleness_seconds\ )[\d.]+
    | (?<="generation":\ )\d+ | (?<=_generation\ )\d+  # how often a run makes lasting what it has read depends on its time
    | ·\ installation.*\n.*\n""",  # the last: extras that are not installed here
    re.VERBOSE,
)
_WRITTEN = datetime(2026, 11, 16, 12, tzinfo=UTC).timestamp()


def main() -> None:
    """Bring the pages up to date, or check them."""
    pages: dict[str, Callable[[Stage], None]] = {
        "README.md": lambda _stage: None,
        "docs/guides/upkeep.md": _in_use,
        "docs/guides/team-server.md": lambda stage: stage.serve(),
    }
    stale = [name for name, prepare in pages.items() if not _is_true(ROOT / name, prepare)]
    if stale and "--check" in sys.argv:
        sys.exit(f"{', '.join(stale)}: the commands print something else; run `make docs`")


def _is_true(page: Path, prepare: Callable[[Stage], None]) -> bool:
    before = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder).resolve())
        try:
            prepare(stage)
            after = _BLOCK.sub(lambda block: "\n".join(map(stage.shown, _COMMAND.findall(block[0]))), before)
        finally:
            stage.close()
    if _VARIES.sub("", before) == _VARIES.sub("", after):
        return True
    if "--check" not in sys.argv:
        page.write_text(after, encoding="utf-8")
    return False


class Stage:
    """A home with the sample folder in it, where commands run; perhaps with a server."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = self.home / "smart-context"
        self.home.mkdir()
        shutil.copytree(ROOT / "examples/handbook", self.work / "examples/handbook")
        for file in (self.work / "examples/handbook").rglob("*"):
            os.utime(file, (_WRITTEN, _WRITTEN))  # not the day on which it was checked out
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0

    def shown(self, command: str) -> str:
        """Run a command as a reader would, and tell what it prints, with the places of an example."""
        asked = _CURL.fullmatch(command)
        text = self._ask(asked[1]) if asked else self.run(*shlex.split(command)[1:])
        text = text.replace(str(self.home), "/home/you")
        text = re.sub(r"\b\w+/python[\d.]+", "you/python", text)  # who calls: the user, and what started the server
        return f"$ {command}\n{text.rstrip()}\n"

    def run(self, *args: str, stdin: str = "") -> str:
        """Give what `context …` prints, on both its outputs; only one that names a problem may fail."""
        done = subprocess.run(
            self._context(*args),
            cwd=self.work,
            env=self._env(),
            input=stdin.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        text = done.stdout.decode()
        if done.returncode and "✗" not in text:
            sys.exit(f"context {shlex.join(args)} failed:\n{text}")
        return text

    def serve(self) -> None:
        """Start a server for many clients over the sample folder, and wait until it has read it."""
        command = self._context("serve", "--http", "--port", "0", "--watch", "--root", "examples/handbook")
        self._server = subprocess.Popen(command, cwd=self.work, env=self._env(), stderr=subprocess.PIPE)
        assert self._server.stderr
        while not (said := re.search(rb":(\d+)/mcp", self._server.stderr.readline())):
            assert self._server.poll() is None
        self._port = int(said[1])
        while (health := json.loads(self._ask("/healthz")))["oldest_run_seconds"] is None or health["queued"]:
            time.sleep(0.1)

    def close(self) -> None:
        """End the server."""
        if self._server:
            self._server.terminate()
            self._server.communicate(timeout=30)

    def _ask(self, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        token = (self.home / ".local/share/smart-context/http-token").read_text().strip()
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return "\n".join(line for line in lines if not line.startswith("#"))

    def _context(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "smart_context", *args]

    def _env(self) -> dict[str, str]:
        programs = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        return {"HOME": str(self.home), "PATH": programs, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT / "src")}


def _in_use(stage: Stage) -> None:
    """An index that has shrunk, that a client has asked, and that others may enter."""
    documents = stage.home / "Documents"
    shutil.copytree(ROOT / "examples/handbook", documents)
    (documents / "log.txt").write_text("".join(f"{n}: {n * n} bytes were sent\n" for n in range(10_000)))
    stage.run("roots", "add", str(documents))
    stage.run("index")
    (documents / "log.txt").unlink()
    stage.run("index")
    calls: list[dict[str, object]] = [
        {"name": "searchFiles", "arguments": {"query": "lost laptop", "k": 3}},
        {"name": "openFile", "arguments": {"path": "/etc/passwd"}},
    ]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "Example", "version": "1"}}
    frames: list[dict[str, object]] = [{"id": 0, "method": "initialize", "params": hello}]
    frames += [{"method": "notifications/initialized"}]
    frames += [{"id": n, "method": "tools/call", "params": call} for n, call in enumerate(calls, 1)]
    stage.run("serve", stdin="".join(json.dumps({"jsonrpc": "2.0", **frame}) + "\n" for frame in frames))
    (stage.home / ".local/share/smart-context").chmod(0o755)


if __name__ == "__main__":
    main()
