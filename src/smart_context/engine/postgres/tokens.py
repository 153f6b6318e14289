"""The tokens of a shared record, by which the database itself decides which texts a call may see.

In: tokens as `access.tokens` keeps them; what an issuer said of a caller.  Out: the same tokens, for every machine; a ticket for that caller.
Always: only hashes are kept; names are unique; a ticket grants what the database's own rules do, to the user that it was made for.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from smart_context.access.tokens import ClaimRule, Token
from smart_context.engine.postgres import schema
from smart_context.engine.postgres.database import Database
from smart_context.engine.postgres.record import IS_SHOWN_LITTLE


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
                None if roots is None else tuple(map(self._database.paths.to_local, roots)),
                is_admin,
                made,
                ends,
            )
            for name, sha256, roots, is_admin, made, ends in self._database.rows(query)
        ]

    def add(self, token: Token) -> bool:
        """Keep a token; False where its name is taken."""
        roots = (
            None if token.roots is None else [self._database.paths.to_record(root.rstrip("/")) for root in token.roots]
        )
        query = "INSERT INTO smart_context.tokens VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING 1"
        values = (token.name, token.sha256, roots, token.is_admin, token.made, token.ends)
        schema.check(self._database)
        return bool(self._database.rows(query, values))

    def remove(self, name: str) -> bool:
        """End a token; False where there is none of that name."""
        schema.check(self._database)
        return bool(self._database.rows("DELETE FROM smart_context.tokens WHERE name = %s RETURNING 1", (name,)))

    def rules(self) -> list[ClaimRule]:
        """The rules by which an issuer's claims grant folders, in order."""
        if schema.version(self._database) == 0:
            return []
        schema.check(self._database)
        rows = self._database.rows("SELECT claim, folder FROM smart_context.issuer_rules")
        to_local = self._database.paths.to_local
        return sorted({ClaimRule(claim, "" if folder is None else to_local(folder)) for claim, folder in rows})

    def keep_rules(self, rules: Iterable[ClaimRule]) -> bool:
        """Replace the rules; whether anything changed. They apply at once, also to tickets already issued."""
        wanted = sorted(set(rules))
        if wanted == self.rules():
            return False
        to_record = self._database.paths.to_record
        with self._database.connection() as db, db.transaction():
            db.execute("DELETE FROM smart_context.issuer_rules")
            for claim, folder in wanted:
                db.execute(
                    "INSERT INTO smart_context.issuer_rules VALUES (%s, %s)",
                    (claim, to_record(folder) if folder else None),
                )
        return True

    def ticket(self, claims: Iterable[str], ends: float) -> str | None:
        """A ticket for a caller that an issuer vouches for, until a time; "" if this user needs none, None if no rule of the database names the caller."""
        query = f"SELECT NOT ({IS_SHOWN_LITTLE}), smart_context.ticket(%s, %s)"
        sees_all, found = self._database.rows(query, (list(claims), datetime.fromtimestamp(ends, UTC)))[0]
        return "" if sees_all else found
