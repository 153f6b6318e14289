"""The audit lines of all machines, in the record's database.

In: lines of a chain, with their numbers.  Out: the same, for users that may read them.
Always: lines are added and never changed by us; a search node adds to chains of its own user alone, and reads none (`schema`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smart_context.access.ledger import Line
from smart_context.engine.postgres import schema
from smart_context.engine.postgres.database import Database

_SOME = 1000


class SharedLedger:
    """The table of lines."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last(self, chain: str) -> Line | None:
        """The last line of a chain."""
        schema.check(self._database)
        rows = self._database.rows("SELECT seq, line FROM smart_context.last_line(%s)", (chain,))
        return Line(rows[0][0], bytes(rows[0][1])) if rows else None

    def add(self, chain: str, lines: Sequence[Line]) -> int:
        """Keep lines; how many of them are there now, as they were given."""
        values = (chain, [line.seq for line in lines], [line.data for line in lines])
        query = "SELECT smart_context.add_lines(%s, %s::bigint[], %s::bytea[])"
        return int(self._database.rows(query, values)[0][0])

    def chains(self) -> list[str]:
        """The name of every chain."""
        schema.check(self._database)
        query = """SELECT DISTINCT chain COLLATE "C" FROM smart_context.audit ORDER BY 1"""
        return [row[0] for row in self._database.rows(query)]

    def lines(self, chain: str) -> Iterator[Line]:
        """The lines of a chain, in order."""
        query = "SELECT seq, line FROM smart_context.audit WHERE chain = %s AND seq > %s ORDER BY seq LIMIT %s"
        last = -1
        while rows := self._database.rows(query, (chain, last, _SOME)):
            yield from (Line(seq, bytes(line)) for seq, line in rows)
            last = rows[-1][0]
