"""A database that cannot be used: every command says what is wrong and what to do, and none answers from another index."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import PATIENCE, Run, clean_env
from postgres_server import Server
from smart_context import engine

WORD = "harbourmaster"  # stands in the local index that lies beside
COMMANDS = {
    "search": ("search", WORD),
    "open": ("open", "{root}/a.txt"),
    "index": ("index", "{root}"),
    "enqueue": ("index", "--enqueue", "{root}"),
    "worker": ("worker", "--once"),
    "status": ("status",),
    "token": ("token", "add", "ada", "--all-roots"),
    "tokens": ("token", "list"),
    "engine": ("engine", "status"),
    "init": ("engine", "init"),
    "migrate": ("engine", "migrate"),
    "forget": ("forget", "{root}/a.txt"),
    "serve": ("serve",),
}


@contextmanager
def server_of(version: str) -> Iterator[str]:
    """The address of what says that it is PostgreSQL of a version, as far as a client comes that asks for it."""

    def message(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack("!i", len(body) + 4) + body

    def greet() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            with client:
                client.settimeout(PATIENCE)
                while True:
                    (size,) = struct.unpack("!i", client.recv(4, socket.MSG_WAITALL))
                    (code,) = struct.unpack("!i", client.recv(size - 4, socket.MSG_WAITALL)[:4])
                    if code == 196608:  # version 3.0 of the protocol; what comes before asks for encryption
                        break
                    client.sendall(b"N")
                told = {"server_version": version, "client_encoding": "UTF8", "server_encoding": "UTF8"}
                said = [message(b"S", f"{key}\0{value}\0".encode()) for key, value in told.items()]
                client.sendall(message(b"R", struct.pack("!i", 0)) + b"".join(said) + message(b"Z", b"I"))
                client.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=greet)
        thread.start()
        try:
            yield f"postgresql://u@127.0.0.1:{listening.getsockname()[1]}/db"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture(scope="module")
def wrong(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, str]]]:
    """By what is wrong: an address, and what must be said of it."""
    base = tmp_path_factory.mktemp("wrong")

    def made(*statements: str) -> str:
        address = postgres.new()
        place = engine.shared(base / "owner", address)
        place.init()
        with place.open(writable=True) as index:
            index.commit()
        postgres.sql(address.partition("@/")[2].partition("?")[0], *statements)
        return address

    for user in ("careful", "roleless"):
        if not postgres.sql("postgres", f"SELECT 1 FROM pg_roles WHERE rolname = '{user}'"):
            postgres.sql("postgres", f"CREATE ROLE {user} LOGIN PASSWORD 'right'")
    if not postgres.sql("postgres", "SELECT 1 FROM pg_roles WHERE rolname = 'crowded'"):
        postgres.sql("postgres", "CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
    newer = made("UPDATE smart_context.meta SET value = '99' WHERE key = 'schema'")
    with server_of("14.9") as old:
        yield {
            "nobody": (f"postgresql://u@/db?host={base}", "does not answer"),
            "password": (newer.replace("tester@", "careful:wrong@"), "does not accept the password"),
            "database": (newer.replace("/test_", "/none_"), "does not exist"),
            "version": (old, "is PostgreSQL 14, which is too old"),
            "role": (made().replace("tester@", "roleless@"), "does not allow this"),
            "crowded": (newer.replace("tester@", "crowded@"), "has too many connections"),
            "newer": (newer, "newer version of this program"),
        }


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A local index that would have an answer."""
    base = tmp_path_factory.mktemp("local")
    (base / "tree").mkdir()
    (base / "tree" / "a.txt").write_text(f"the {WORD} is Ada Quill", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "smart_context",
        "index",
        "--root",
        base / "tree",
        "--data-dir",
        base / "data",
        base / "tree",
    ]
    subprocess.run(command, env=clean_env(base), check=True, capture_output=True, timeout=PATIENCE)
    return base / "tree", base / "data"


# What does not touch the tables as such: `status` of the engine shows even those of a newer program, `open` may read the file itself.
ALLOWED = {("newer", "engine"), ("role", "engine")}


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in {"open", "serve"}])
@pytest.mark.parametrize("what", ["nobody", "password", "database", "version", "role", "crowded", "newer"])
def test_every_command_says_what_is_wrong_and_uses_no_other_index(
    wrong: dict[str, tuple[str, str]], local: tuple[Path, Path], run: Run, what: str, command: str
) -> None:
    address, says = wrong[what]
    root, data = local
    env = {"SMART_CONTEXT_ENGINE": address, "SMART_CONTEXT_DATA_DIR": str(data), "SMART_CONTEXT_ROOTS": str(root)}
    done = run(*(word.replace("{root}", str(root)) for word in COMMANDS[command]), env=env)
    said = (done.stdout + done.stderr).decode()
    assert "Ada Quill" not in said
    assert "Traceback" not in said
    assert "wrong@" not in said
    if (what, command) not in ALLOWED:
        assert done.returncode != 0, said
        assert says in said
        assert "hint" in said


def test_without_the_extra_it_is_named(local: tuple[Path, Path], tmp_path: Path) -> None:
    root, data = local
    program = "import sys; sys.modules['psycopg'] = None\nfrom smart_context.__main__ import main\nsys.exit(main())"
    command = [sys.executable, "-c", program, "search", WORD, "--root", str(root), "--data-dir", str(data)]
    env = {**clean_env(tmp_path), "SMART_CONTEXT_ENGINE": "postgresql:///db"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode != 0
    assert "needs the extra postgres" in done.stderr
    assert "Ada Quill" not in done.stdout
