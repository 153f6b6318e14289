"""Connections to the database, and their errors.

In: an address.  Out: rows, transactions; failures as errors of ours, which say what to do.
Always: the caller sets the deadline: when a stopped server does not answer in time, its connection is dropped; an idle
connection that turns out to be dead is replaced once, unnoticed by the caller. No message shows a password.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from smart_context.engine.postgres.paths import PathMap
from smart_context.errors import (
    ConfigError,
    Conflict,
    ContextError,
    NotFound,
    SearchFailed,
    StorageFailed,
    Unreachable,
    how_to_add,
)

try:
    import psycopg
    from psycopg.abc import RV, PQGen
except ImportError as error:
    raise ConfigError("the setting `engine` needs the extra postgres", hint=how_to_add("postgres")) from error

OLDEST = 15  # the oldest supported major version of the server
CONNECT_SECONDS = 5  # for each host of an address
READ_SECONDS = 10.0  # for one answer
WRITE_SECONDS = 120.0
_IDLE = 4  # idle connections that are kept
_LIBRARY_SECONDS = 0.1


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection on which nothing waits longer than `seconds` (None: for ever)."""

    seconds: float | None = READ_SECONDS

    def wait(self, gen: PQGen[RV], interval: float = _LIBRARY_SECONDS, timeout: float | None = None) -> RV:
        """Wait for the server, and drop the connection when it takes too long."""
        try:
            return super().wait(gen, interval, self.seconds if timeout is None else timeout)
        except psycopg.OperationalError:
            if timeout is None:
                self.pgconn.finish()
            raise


class Database:
    """A connection pool for a record. Connections are made when needed and reused; threads share it."""

    def __init__(self, address: str, places: Sequence[str] = ()) -> None:
        """places: where folders of the record lie on this machine."""
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self.address = address
        self.name = shown(address)
        self.paths = PathMap(places)

    def rows(
        self, query: str, values: Sequence[Any] = (), *, key: str = "", seconds: float | None = READ_SECONDS
    ) -> list[Any]:
        """The rows that a query gives; `key`: the token of the caller for whom it is asked."""
        with self.translated():
            for is_last in (False, True):
                connection, is_new = self._take()
                connection.seconds = seconds
                try:
                    found = _asked(connection, query, values, key)
                except psycopg.OperationalError:
                    connection.close()
                    if is_new or is_last:
                        raise
                    self.drop()  # the server was restarted: the other connections are dead, too
                    continue
                except BaseException:
                    connection.close()
                    raise
                self.give(connection)
                return found
        raise AssertionError("unreachable")

    @contextmanager
    def connection(self, seconds: float | None = READ_SECONDS) -> Iterator[Connection]:
        """A connection for a transaction; it goes back to the pool unless an error occurred."""
        with self.translated():
            connection, _ = self._take(fresh=True)
            connection.seconds = seconds
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self.give(connection)

    def take(self, seconds: float | None = READ_SECONDS) -> Connection:
        """A connection for the caller alone, to be given back or closed."""
        with self.translated():
            taken, _ = self._take(fresh=True)
            taken.seconds = seconds
            return taken

    def connect(self, seconds: float | None = READ_SECONDS) -> Connection:
        """A new connection, to be closed by the caller."""
        with self.translated():
            made = _connected(self.address)
            made.seconds = seconds
            return made

    def drop(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        self.drop()

    def _take(self, *, fresh: bool = False) -> tuple[Connection, bool]:
        with self._lock:
            found = self._idle.pop() if self._idle else None
        if found is not None and fresh:
            try:
                found.seconds = READ_SECONDS
                found.execute("SELECT 1")
            except psycopg.OperationalError:
                found.close()
                found = None
        return (found, False) if found is not None else (_connected(self.address), True)

    def give(self, connection: Connection) -> None:
        """Return a connection to the pool; it has no open transaction."""
        with self._lock:
            if not connection.closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def away(self) -> Unreachable:
        """The error of a database that is known not to answer."""
        says, hint, _ = _MEANT["08"]
        return Unreachable(f"the database {self.name} {says}", hint=hint)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Translate errors of the database into ours."""
        try:
            yield
        except psycopg.Error as error:
            raise _ours(error, self.name) from error


def _asked(connection: Connection, query: str, values: Sequence[Any], key: str) -> list[Any]:
    if not key:
        return connection.execute(query, values or None, binary=True).fetchall()
    # One round trip. The setting ends with the transaction: the next one on this connection has no token.
    with connection.pipeline(), connection.transaction():
        connection.execute("SELECT set_config('smart_context.token', %s, true)", (key,))
        cursor = connection.execute(query, values or None, binary=True)
    return cursor.fetchall()


def shown(address: str) -> str:
    """An address without its secrets, for people.

    Raises: ConfigError for what is none.
    """
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise ConfigError("the setting `engine` is no address of a database", reason=str(error)) from error
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _connected(address: str) -> Connection:
    try:
        made = Connection.connect(address, autocommit=True, connect_timeout=CONNECT_SECONDS, prepare_threshold=5)
    except psycopg.ProgrammingError as error:
        raise ConfigError(
            f"{shown(address)} is no address of a database", reason=_line(error), hint="see the setting `engine`"
        ) from error
    major = made.info.server_version // 10_000
    if major < OLDEST:
        made.close()
        raise ConfigError(
            f"{shown(address)} is PostgreSQL {major}, which is too old", hint=f"use PostgreSQL {OLDEST} or newer"
        )
    return made


# By the condition's code, then by its class: what is said, what to do, and as which error.
_MEANT: dict[str, tuple[str, str, type[ContextError]]] = {
    "28P01": ("does not accept the password", "check it in the setting `engine`, or in ~/.pgpass", ConfigError),
    "28": ("does not let this user in", "check the user in the setting `engine`, and pg_hba.conf", ConfigError),
    "3D": ("does not exist", "make it with: createdb, or check the setting `engine`", ConfigError),
    "3F": ("holds no index yet", "make one with `indexFolder`", NotFound),
    "42P01": ("holds no index yet", "make one with `indexFolder`", NotFound),
    "42501": ("does not allow this", "give the user its role: context engine status", ConfigError),
    "25006": ("may only be read now", "name the primary in the setting `engine`", StorageFailed),
    "53100": ("has no room left on its disk", "make room there and index again", StorageFailed),
    "53200": ("has no memory left", "give that machine more, or try again in a moment", Unreachable),
    "53300": ("has too many connections", "raise max_connections there, or try again in a moment", Unreachable),
    "40": ("was busy with the same files", "try again in a moment", Conflict),
    "55P03": ("is being changed by somebody else", "try again in a moment", Conflict),
    "57P03": ("is starting or stopping", "try again in a moment", Unreachable),
    "57": ("has ended the connection", "try again in a moment", Unreachable),
    "08": ("does not answer", "is it running, and is the address right? See the setting `engine`", Unreachable),
}
# A connection that fails has no code, only words.
_SAID = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("too many connections", "53300"),  # before `role`, which it names
    ("role ", "28"),
    ("pg_hba.conf", "28"),
    ("could not write init file", "53100"),  # the first file that a server writes for somebody who connects
    ("No space left on device", "53100"),
    ("too many clients", "53300"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
)


def _ours(error: psycopg.Error, name: str) -> ContextError:
    code = error.sqlstate or ""
    text = str(error)
    if isinstance(error, psycopg.OperationalError) and not code:
        code = next((meant for words, meant in _SAID if words in text), "08")
        if "database" in text and "does not exist" in text:
            code = "3D"
    meant = _MEANT.get(code) or _MEANT.get(code[:2])
    if meant is None:
        return SearchFailed(
            f"the index in {name} cannot be used", reason=_line(error), hint="see: context engine status"
        )
    says, hint, kind = meant
    if kind is StorageFailed and not error.sqlstate:
        kind = Unreachable  # nobody can connect: what can be answered without it is
    return kind(f"the database {name} {says}", reason=_line(error), hint=hint)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
