"""Who may do what in the database: two roles, which operators give to the users that machines connect as.

In: a user who may make roles.  Out: the roles with their rights; what is missing of them.
Always: `smart_context_indexer` reads and writes all of the record; `smart_context_node` writes nothing but its own audit lines, and reads what a ranking is derived from;
of texts it reads those that the token of a call may see, which the database itself decides. Audit lines that are there are changed by neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smart_context.engine.model import SharedState
from smart_context.engine.postgres import schema
from smart_context.engine.postgres.database import Connection, Database

if TYPE_CHECKING:
    from smart_context.engine.postgres.node import State

INDEXER = "smart_context_indexer"
NODE = "smart_context_node"
_FUNCTIONS = ("last_line(text)", "add_lines(text, bigint[], bytea[])", "ticket(text[], timestamptz)")


def init(database: Database) -> list[str]:
    """Create missing tables and roles; what was created, in words.

    Raises: ConfigError where the user may not.
    """
    done = [f"tables, format {schema.VERSION}"] if schema.migrate(database) else []
    with database.connection(seconds=None) as db:
        for role in _missing(db):
            db.execute(f"CREATE ROLE {role} NOLOGIN")
            done.append(f"role {role}")
        grant(db)
    return done


def grant(db: Connection) -> None:
    """Grant the existing roles their rights, also on new tables."""
    missing = _missing(db)
    with db.transaction():
        for role in {INDEXER, NODE}.difference(missing):
            db.execute(f"GRANT USAGE ON SCHEMA smart_context TO {role}")
            db.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA smart_context TO {role}")
            db.execute(f"REVOKE ALL ON smart_context.ticket_key FROM {role}")
            for function in _FUNCTIONS:
                db.execute(f"GRANT EXECUTE ON FUNCTION smart_context.{function} TO {role}")
        if NODE not in missing:
            db.execute(f"REVOKE ALL ON smart_context.audit FROM {NODE}")
        if INDEXER not in missing:
            writes = "INSERT, UPDATE, DELETE ON ALL TABLES"
            for what in (writes, "USAGE ON ALL SEQUENCES"):
                db.execute(f"GRANT {what} IN SCHEMA smart_context TO {INDEXER}")
            db.execute(f"REVOKE INSERT, UPDATE, DELETE ON smart_context.audit FROM {INDEXER}")
            db.execute(f"REVOKE ALL ON smart_context.ticket_key FROM {INDEXER}")
            for table in ("segments", "blocks", "files"):
                db.execute(f"DROP POLICY IF EXISTS by_role ON smart_context.{table}")
                db.execute(f"CREATE POLICY by_role ON smart_context.{table} TO {INDEXER} USING (true)")


def state(database: Database, node: State) -> SharedState:
    """The state of the record, and how far this machine has followed it."""
    server, user, is_owner = database.rows(
        "SELECT current_setting('server_version'), current_user::text, pg_has_role(coalesce("
        "(SELECT nspowner FROM pg_namespace WHERE nspname = 'smart_context'), 0), 'USAGE')"
    )[0]
    found = schema.version(database)
    with database.connection() as db:
        missing = _missing(db)
        has = [
            role
            for role in (INDEXER, NODE)
            if role not in missing
            and db.execute("SELECT pg_has_role(current_user, %s::name, 'USAGE')", (role,)).fetchall() == [(True,)]
        ]
    files = commits = behind = 0
    if 0 < found <= schema.VERSION:
        files, commits, behind = database.rows(
            """SELECT (SELECT count(*) FROM smart_context.files), (SELECT count(*) FROM smart_context.commits),
            (SELECT count(*) FROM smart_context.commits
                WHERE xid >= %s::text::xid8 AND NOT xid::text::bigint = ANY(%s::bigint[]))""",
            (node.position, list(node.commits)),
        )[0]
    roles = ("owner",) if is_owner else tuple(has)
    return SharedState(
        database.name,
        f"PostgreSQL {server}",
        user,
        roles,
        found,
        schema.VERSION,
        tuple(missing),
        files,
        commits,
        behind,
    )


def _missing(db: Connection) -> list[str]:
    rows = db.execute("SELECT rolname::text FROM pg_roles WHERE rolname = ANY(%s)", ([INDEXER, NODE],)).fetchall()
    return [role for role in (INDEXER, NODE) if (role,) not in rows]
