"""A real server that speaks the chat API, and misbehaves on request. It records every byte that it is sent."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

Act = Callable[[BinaryIO], None]


class ChatServer(socketserver.ThreadingTCPServer):
    """Answers each request by the next of its acts; the last one is repeated."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, *acts: Act) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._acts = list(acts)
        self._lock = threading.Lock()
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.over = threading.Event()  # set when the test is done, so that nothing waits for ever

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def take(self, request: tuple[str, dict[str, str], bytes]) -> Act:
        with self._lock:
            self.requests.append(request)
            return self._acts.pop(0) if len(self._acts) > 1 else self._acts[0]

    def bodies(self) -> list[dict[str, object]]:
        return [json.loads(body) for _, _, body in self.requests]

    def sent_text(self) -> str:
        """Everything that the messages of all requests held."""
        return "\n".join(message["content"] for body in self.bodies() for message in body["messages"])  # type: ignore[attr-defined]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is what these tests are about."""


class _Handler(socketserver.StreamRequestHandler):
    server: ChatServer

    def handle(self) -> None:
        while True:
            line = self.rfile.readline().decode("latin-1")
            if not line.strip():
                return
            headers: dict[str, str] = {}
            while (header := self.rfile.readline().decode("latin-1").strip()) != "":
                name, _, value = header.partition(":")
                headers[name.lower()] = value.strip()
            body = self.rfile.read(int(headers.get("content-length", "0")))
            act = self.server.take((line.split()[1], headers, body))
            act(self.wfile)  # type: ignore[arg-type]
            self.wfile.flush()
            if getattr(act, "closes", False):
                return


@contextmanager
def serving(*acts: Act) -> Iterator[ChatServer]:
    with ChatServer(*acts) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def answer(text: str, usage: dict[str, int] | None = None, ended: str = "stop") -> Act:
    """A good answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": ended}
    told: dict[str, object] = {"id": "x", "object": "chat.completion", "choices": [choice]}
    if usage is not None:
        told["usage"] = usage
    return raw(200, json.dumps(told).encode())


def raw(status: int, body: bytes, *headers: str) -> Act:
    """Any status and body."""

    def act(out: BinaryIO) -> None:
        lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
        out.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return act


def silence(until: Callable[[], threading.Event]) -> Act:
    """No answer at all until the test is over."""

    def act(out: BinaryIO) -> None:
        until().wait(300)

    return _closing(act)


def drip(until: Callable[[], threading.Event], *, in_headers: bool) -> Act:
    """A byte now and then: each read succeeds, and the answer never ends."""

    def act(out: BinaryIO) -> None:
        out.write(b"HTTP/1.1 200 OK\r\n" if in_headers else b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not until().wait(0.02):
            out.write(b"X" if in_headers else b" ")
            out.flush()

    return _closing(act)


def cut_off(body: bytes, promised: int) -> Act:
    """The connection is dropped in the middle of the body."""

    def act(out: BinaryIO) -> None:
        out.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {promised}\r\n\r\n".encode() + body
        )

    return _closing(act)


def hang_up() -> Act:
    """The connection is dropped before any answer."""
    return _closing(lambda out: None)


def flood(megabytes: int, counted: list[int], status: int = 200) -> Act:
    """An answer of so many megabytes; what was really taken off our hands is counted."""

    def act(out: BinaryIO) -> None:
        out.write(f"HTTP/1.1 {status} X\r\nContent-Length: {megabytes * 1024 * 1024}\r\n\r\n".encode())
        chunk = b" " * 65536
        for _ in range(megabytes * 16):
            out.write(chunk)
            counted[0] += len(chunk)

    return _closing(act)


def _closing(act: Act) -> Act:
    act.closes = True  # type: ignore[attr-defined]
    return act
