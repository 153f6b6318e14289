"""The tokens of a shared record, by which the database itself decides which texts a call may see.

In: tokens as `access.tokens` keeps them.  Out: the same, for every machine.
Always: only hashes are kept; a name is given once.
"""

from __future__ import annotations

from smart_context.access.tokens import Token
from smart_context.engine.postgres import schema
from smart_context.engine.postgres.database import Database


class SharedTokens:
    """The table of tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Token]:
        """Every token, by name."""
        if schema.version(self._database) == 0:
            return []
        schema.check(self._database)
        query = (
            """SELECT name, sha256, roots, is_admin, made, ends FROM smart_context.tokens ORDER BY name COLLATE "C" """
        )
        return [
            Token(
                name,
                sha256,
                None if roots is None else tuple(map(self._database.places.outward, roots)),
                is_admin,
                made,
                ends,
            )
            for name, sha256, roots, is_admin, made, ends in self._database.rows(query)
        ]

    def add(self, token: Token) -> bool:
        """Keep a token; False where its name is taken."""
        roots = (
            None if token.roots is None else [self._database.places.inward(root.rstrip("/")) for root in token.roots]
        )
        query = "INSERT INTO smart_context.tokens VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING 1"
        values = (token.name, token.sha256, roots, token.is_admin, token.made, token.ends)
        schema.check(self._database)
        return bool(self._database.rows(query, values))

    def remove(self, name: str) -> bool:
        """End a token; False where there is none of that name."""
        schema.check(self._database)
        return bool(self._database.rows("DELETE FROM smart_context.tokens WHERE name = %s RETURNING 1", (name,)))
