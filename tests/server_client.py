"""A client of our own for what no well-behaved client would send: raw lines in, frames out, over a real pipe."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import ready
from conftest import PATIENCE, clean_env

TOY = (sys.executable, str(Path(__file__).parent / "clients" / "toy_server.py"))
CONTEXT_SERVER = (sys.executable, "-c", "from smart_context.server import main; main()")
SERVE = (sys.executable, "-m", "smart_context", "serve")
# For a server whose search waits until the roots are read, which is done at low priority: however busy the machine, it comes to its end.
PATIENT = {"SMART_CONTEXT_INDEX_FIRST_WAIT": str(PATIENCE), "CONTEXT_TOOL_TIMEOUT_SECS": str(PATIENCE)}

Frame = dict[str, Any]


class Peer:
    """A server in a process of its own, and our ends of its pipes."""

    def __init__(
        self,
        argv: Sequence[str],
        home: Path,
        env: Mapping[str, str] | None = None,
        start: type[subprocess.Popen[bytes]] = ready.Popen,
    ) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the peer
        self.process = start(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**clean_env(home), **(env or {})},
            cwd=home,
        )
        self._last_id = 0

    def initialize(self, version: str = "2025-11-25") -> Frame:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "peer", "version": "1"}}
        answer = self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Frame:
        """Send a request and read the next frame, which must be its answer."""
        request_id = self.post(method, params)
        answer = self.read()
        assert answer["id"] == request_id, answer
        return answer

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request, and do not wait."""
        self._last_id += 1
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, **({"params": params} if params else {})})
        return self._last_id

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> Frame:
        """Call a tool and return its result."""
        return self.ask("tools/call", call(name, arguments))["result"]

    def send(self, message: object) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> Frame:
        assert self.process.stdout
        frame: Frame = json.loads(self.process.stdout.readline())
        assert frame["jsonrpc"] == "2.0"
        return frame

    def finish(self) -> list[Frame]:
        """End the input; return what was still answered."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.rest()

    def rest(self) -> list[Frame]:
        """Read frames until the server has closed its output and ended."""
        assert self.process.stdout
        left = [json.loads(line) for line in self.process.stdout]
        self.process.wait()
        return left

    @property
    def log(self) -> str:
        """What the server wrote to standard error so far."""
        self._log.seek(0)
        return self._log.read().decode()

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self._log.close()


def call(name: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, **({} if arguments is None else {"arguments": arguments})}


def text_of(result: Frame) -> str:
    (block,) = result["content"]
    assert block["type"] == "text"
    return str(block["text"])
