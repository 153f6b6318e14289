"""The record's tables in PostgreSQL, as numbered steps.

In: a database at some version.  Out: the same at `VERSION`; or why it cannot be used.
Always: one process takes steps at a time (an advisory lock), each in a transaction of its own; a step that has been released is never
edited; a schema of a newer program is refused and left as it is.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from smart_context.engine.postgres.database import WRITE_SECONDS, Database
from smart_context.errors import ConfigError, NotFound, SearchFailed

if TYPE_CHECKING:
    from smart_context.engine.postgres.database import Connection

_LOCK = 0x53435458  # "SCTX", as the local record's application id
_HEAD = 1024  # bytes of a path that its index holds: an index cannot hold the longest ones

Step = Callable[["Connection"], None]


def _first(db: Connection) -> None:
    db.execute(
        """CREATE TABLE smart_context.files (
            file_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            path bytea NOT NULL,
            root bytea NOT NULL,
            ext text NOT NULL,
            kind text NOT NULL,
            size bigint NOT NULL,
            mtime_ns bigint NOT NULL,
            sha256 text NOT NULL,
            state text NOT NULL CHECK (state IN ('ok', 'no_text', 'failed')),
            reason text NOT NULL,
            detail bytea NOT NULL,
            title bytea NOT NULL,
            years text NOT NULL,
            notes bytea NOT NULL,
            indexed_at text NOT NULL,
            chars bigint NOT NULL,
            segments integer NOT NULL,
            reader text NOT NULL,
            judged text NOT NULL,
            analysis integer NOT NULL,
            xid xid8 NOT NULL DEFAULT pg_current_xact_id()
        )"""
    )
    db.execute("CREATE UNIQUE INDEX files_by_path ON smart_context.files (sha256(path))")
    db.execute(f"CREATE INDEX files_in_order ON smart_context.files (substr(path, 1, {_HEAD}), path)")
    db.execute("CREATE INDEX files_by_xid ON smart_context.files (xid, file_id)")
    db.execute("CREATE INDEX files_by_content ON smart_context.files (size, sha256, ext) WHERE state <> 'failed'")
    db.execute("CREATE INDEX files_by_rules ON smart_context.files (judged) WHERE state = 'ok'")
    # `dead`: when a segment was replaced. Its text stays a while for search nodes that have not come so far.
    db.execute("CREATE SEQUENCE smart_context.segment_ids")
    db.execute(
        """CREATE TABLE smart_context.segments (
            segment_id bigint PRIMARY KEY,
            file_id bigint NOT NULL,
            seq integer NOT NULL,
            pointer bytea NOT NULL,
            heading bytea NOT NULL,
            hidden bytea NOT NULL,
            block_id bigint NOT NULL,
            start integer NOT NULL,
            size integer NOT NULL,
            dead timestamptz
        )"""
    )
    db.execute("CREATE INDEX segments_of_file ON smart_context.segments (file_id, seq)")
    db.execute("CREATE INDEX segments_dead ON smart_context.segments (dead) WHERE dead IS NOT NULL")
    # Texts and terms are compressed by whoever writes them; the database need not try again.
    for table in ("blocks", "terms"):
        db.execute(
            f"""CREATE TABLE smart_context.{table} (
                block_id bigint PRIMARY KEY,
                file_id bigint NOT NULL,
                data bytea NOT NULL,
                dead timestamptz
            )"""
        )
        db.execute(f"ALTER TABLE smart_context.{table} ALTER data SET STORAGE EXTERNAL")
        db.execute(f"CREATE INDEX {table}_of_file ON smart_context.{table} (file_id)")
    db.execute("CREATE INDEX blocks_dead ON smart_context.blocks (dead) WHERE dead IS NOT NULL")
    # The feed: what was removed, and every commit. Never a sequence: of two writers, the one that began first may commit last.
    db.execute(
        """CREATE TABLE smart_context.gone (
            file_id bigint NOT NULL,
            xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
            at timestamptz NOT NULL DEFAULT now()
        )"""
    )
    db.execute("CREATE INDEX gone_by_xid ON smart_context.gone (xid)")
    db.execute(
        """CREATE TABLE smart_context.commits (
            xid xid8 PRIMARY KEY DEFAULT pg_current_xact_id(),
            at timestamptz NOT NULL DEFAULT now(),
            machine text NOT NULL
        )"""
    )
    # A number of a device means something on its own machine only.
    db.execute(
        """CREATE TABLE smart_context.runs (
            folder bytea NOT NULL,
            machine text NOT NULL,
            device numeric(20) NOT NULL,
            started_at text NOT NULL,
            finished_at text NOT NULL,
            PRIMARY KEY (folder, machine)
        )"""
    )
    db.execute(
        """CREATE TABLE smart_context.mounts (
            folder bytea NOT NULL,
            machine text NOT NULL,
            device numeric(20) NOT NULL,
            PRIMARY KEY (folder, machine)
        )"""
    )


def _show_by_token(db: Connection) -> None:
    # Only hashes are kept. roots: null for all; ends: null for never.
    db.execute(
        """CREATE TABLE smart_context.tokens (
            name text PRIMARY KEY,
            sha256 text NOT NULL UNIQUE,
            roots bytea[],
            is_admin boolean NOT NULL,
            made text NOT NULL,
            ends text NOT NULL
        )"""
    )
    # Whose call it is, is said by a setting of the transaction: the token itself, so that nobody can speak for another.
    db.execute(
        """CREATE FUNCTION smart_context.sees() RETURNS TABLE (everything boolean, roots bytea[])
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
            SELECT t.roots IS NULL, coalesce(t.roots, '{}') FROM smart_context.tokens t
            WHERE t.sha256 = encode(sha256(convert_to(current_setting('smart_context.token', true), 'UTF8')), 'hex')
            AND (t.ends = '' OR now() < t.ends::timestamptz)
        $$"""
    )
    allowed = """EXISTS (SELECT FROM smart_context.files f, smart_context.sees() s WHERE f.file_id = {table}.file_id
        AND (s.everything OR EXISTS (SELECT FROM unnest(s.roots) AS root
            WHERE f.path = root OR (f.path >= root || '\\x2f' AND f.path < root || '\\x30'))))"""
    for table in ("segments", "blocks"):
        db.execute(f"ALTER TABLE smart_context.{table} ENABLE ROW LEVEL SECURITY")
        db.execute(f"CREATE POLICY by_token ON smart_context.{table} FOR SELECT USING ({allowed.format(table=table)})")


def _keep_what_files_say_of_themselves(db: Connection) -> None:
    # As the local record has it: a file without `same_text` is read again by the next run.
    for column in ("author", "same_text", "like_text"):
        db.execute(f"ALTER TABLE smart_context.files ADD COLUMN {column} bytea NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE smart_context.files ADD COLUMN dated text NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE smart_context.files ADD COLUMN unread_pages integer NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE smart_context.segments ADD COLUMN certainty smallint")


def _keep_audit_lines(db: Connection) -> None:
    # One chain a log; `who`: the user of the database that delivered a line.
    db.execute(
        """CREATE TABLE smart_context.audit (
            chain text NOT NULL,
            seq bigint NOT NULL,
            line bytea NOT NULL,
            who name NOT NULL,
            at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (chain, seq)
        )"""
    )
    # Nobody but the owner of the tables reads or changes what others wrote: machines add, by these functions.
    db.execute(
        """CREATE FUNCTION smart_context.last_line(wanted text) RETURNS TABLE (seq bigint, line bytea)
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
            SELECT a.seq, a.line FROM smart_context.audit a WHERE a.chain = wanted AND a.who = session_user
            ORDER BY a.seq DESC LIMIT 1
        $$"""
    )
    db.execute(
        """CREATE FUNCTION smart_context.add_lines(wanted text, numbers bigint[], lines bytea[]) RETURNS bigint
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
        DECLARE there bigint;
        BEGIN
            INSERT INTO smart_context.audit (chain, seq, line, who)
                SELECT wanted, n, l, session_user FROM unnest(numbers, lines) AS given (n, l)
                WHERE NOT EXISTS (SELECT FROM smart_context.audit a WHERE a.chain = wanted AND a.who <> session_user)
                ON CONFLICT DO NOTHING;
            SELECT count(*) INTO there FROM unnest(numbers, lines) AS given (n, l)
                JOIN smart_context.audit a ON a.chain = wanted AND a.seq = n AND a.line = l AND a.who = session_user;
            RETURN there;
        END $$"""
    )
    for function in ("last_line(text)", "add_lines(text, bigint[], bytea[])"):
        db.execute(f"REVOKE ALL ON FUNCTION smart_context.{function} FROM PUBLIC")


def _show_files_by_token(db: Connection) -> None:
    # A column of its own: under row-level security an index of what `substr` gives is not used, because that function may tell of rows it is given.
    db.execute(
        f"ALTER TABLE smart_context.files ADD COLUMN head bytea GENERATED ALWAYS AS (substr(path, 1, {_HEAD})) STORED"
    )
    db.execute("DROP INDEX smart_context.files_in_order")
    db.execute("CREATE INDEX files_in_order ON smart_context.files (head, path)")
    # Without a token: a machine's own work, its ranking first of all, which holds paths and titles. What the token may see is looked up once a query.
    db.execute("ALTER TABLE smart_context.files ENABLE ROW LEVEL SECURITY")
    db.execute(
        """CREATE POLICY by_token ON smart_context.files FOR SELECT USING (
            coalesce(current_setting('smart_context.token', true), '') = ''
            OR (SELECT everything FROM smart_context.sees())
            OR EXISTS (SELECT FROM unnest((SELECT roots FROM smart_context.sees())) AS root
                WHERE path = root OR (path >= root || '\\x2f' AND path < root || '\\x30')))"""
    )
    if db.execute("SELECT FROM pg_roles WHERE rolname = 'smart_context_indexer'").fetchall():
        db.execute("CREATE POLICY by_role ON smart_context.files TO smart_context_indexer USING (true)")


def _keep_vectors(db: Connection) -> None:
    # Made by one machine that may read texts, for all. They do not compress.
    db.execute(
        """CREATE TABLE smart_context.vectors (
            model text NOT NULL,
            segment_id bigint NOT NULL,
            file_id bigint NOT NULL,
            data bytea NOT NULL,
            PRIMARY KEY (model, segment_id)
        )"""
    )
    db.execute("ALTER TABLE smart_context.vectors ALTER data SET STORAGE EXTERNAL")
    db.execute("CREATE INDEX vectors_of_file ON smart_context.vectors (file_id)")


def _let_nodes_vouch_for_an_issuers_tokens(db: Connection) -> None:
    # Who sees which folder by what an issuer says of them (`groups=sales`); folder: null for all.
    db.execute("CREATE TABLE smart_context.issuer_rules (claim text NOT NULL, folder bytea)")
    # A node that has checked a token says what of the rules it fulfils, and gets a ticket, which is good for the node's own user until the
    # token ends. Nothing is written: it is signed (HMAC) with a key that nobody reads but the functions below.
    db.execute("CREATE TABLE smart_context.ticket_key (inside bytea NOT NULL, outside bytea NOT NULL)")
    key = secrets.token_bytes(64)
    pads = tuple(bytes(byte ^ pad for byte in key) for pad in (0x36, 0x5C))
    db.execute("INSERT INTO smart_context.ticket_key VALUES (%s, %s)", pads)
    db.execute(
        """CREATE FUNCTION smart_context.signed(said text) RETURNS text
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
            SELECT encode(sha256(k.outside || sha256(k.inside || convert_to(said, 'UTF8'))), 'hex') || said
            FROM smart_context.ticket_key k
        $$"""
    )
    db.execute(
        """CREATE FUNCTION smart_context.ticket(claims text[], ends timestamptz) RETURNS text
        LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
            SELECT smart_context.signed(json_build_object('who', session_user, 'ends', ends, 'claims', claims)::text)
            WHERE EXISTS (SELECT FROM smart_context.issuer_rules r WHERE r.claim = ANY(claims))
        $$"""
    )
    for function in ("signed(text)", "ticket(text[], timestamptz)"):
        db.execute(f"REVOKE ALL ON FUNCTION smart_context.{function} FROM PUBLIC")
    # In the language whose plans last as long as a connection: it is asked several times by every query.
    db.execute(
        """CREATE OR REPLACE FUNCTION smart_context.sees() RETURNS TABLE (everything boolean, roots bytea[])
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
        DECLARE
            given text := coalesce(current_setting('smart_context.token', true), '');
            said json;
        BEGIN
            IF given = '' THEN
                RETURN;
            END IF;
            RETURN QUERY SELECT t.roots IS NULL, coalesce(t.roots, '{}') FROM smart_context.tokens t
                WHERE t.sha256 = encode(sha256(convert_to(given, 'UTF8')), 'hex')
                AND (t.ends = '' OR now() < t.ends::timestamptz);
            IF FOUND OR length(given) <= 64 OR smart_context.signed(substr(given, 65)) IS DISTINCT FROM given THEN
                RETURN;
            END IF;
            said := substr(given, 65);
            IF said ->> 'who' = session_user AND now() < (said ->> 'ends')::timestamptz THEN
                RETURN QUERY SELECT bool_or(r.folder IS NULL),
                        coalesce(array_agg(r.folder) FILTER (WHERE r.folder IS NOT NULL), '{}')
                    FROM smart_context.issuer_rules r
                    WHERE r.claim IN (SELECT json_array_elements_text(said -> 'claims')) HAVING count(*) > 0;
            END IF;
        END $$"""
    )


STEPS: tuple[Step, ...] = (
    _first,
    _show_by_token,
    _keep_what_files_say_of_themselves,
    _keep_audit_lines,
    _show_files_by_token,
    _keep_vectors,
    _let_nodes_vouch_for_an_issuers_tokens,
)
VERSION = len(STEPS)


def version(database: Database) -> int:
    """The version of a database's tables; 0 where there are none."""
    there = database.rows("SELECT to_regclass('smart_context.meta') IS NOT NULL")[0][0]
    if not there:
        return 0
    found = database.rows("SELECT value FROM smart_context.meta WHERE key = 'schema'")
    return int(found[0][0]) if found else 0


def check(database: Database) -> None:
    """See that a record can be read.

    Raises: NotFound where there is none; SearchFailed for one of another version.
    """
    found = version(database)
    if found == 0:
        raise NotFound(f"there is no index in {database.name} yet", hint="make one with `indexFolder`")
    refuse_newer(database, found)
    if found < VERSION:
        raise SearchFailed(
            f"the index in {database.name} was made by an older version of this program",
            reason=f"its format is {found}, this program needs {VERSION}",
            hint="bring it up to date with: context engine migrate",
        )
    if is_restored(database):
        raise SearchFailed(
            f"the index in {database.name} was restored from another server",
            hint="number its transactions anew with: context engine migrate",
        )


def is_restored(database: Database) -> bool:
    """Whether the record came here from another server: transactions that it knows have not happened here yet."""
    query = """SELECT EXISTS (SELECT FROM smart_context.commits
        WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()))"""
    return bool(database.rows(query)[0][0])


def refuse_newer(database: Database, found: int) -> None:
    """Leave alone what a newer program made."""
    if found > VERSION:
        raise SearchFailed(
            f"the index in {database.name} was made by a newer version of this program",
            reason=f"its format is {found}, this program knows up to {VERSION}",
            hint="update Smart Context on this machine",
        )


def migrate(database: Database) -> int:
    """Make the tables, or bring them up to date; how many steps that took.

    Raises: SearchFailed for a schema of a newer program; ConfigError where the user may not make them, or the encoding is not UTF-8.
    """
    with database.connection(seconds=None) as db:
        encoding = db.execute("SHOW server_encoding").fetchone()
        if encoding is None or encoding[0] != "UTF8":
            raise ConfigError(
                f"the database {database.name} does not hold Unicode",
                hint="make one with: createdb --encoding UTF8 --template template0 NAME",
            )
        db.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        try:
            return _migrated(database, db)
        finally:
            db.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


def _migrated(database: Database, db: Connection) -> int:
    before = version(database)
    refuse_newer(database, before)
    if before == 0:
        with db.transaction():
            db.execute("CREATE SCHEMA IF NOT EXISTS smart_context")
            db.execute("CREATE TABLE IF NOT EXISTS smart_context.meta (key text PRIMARY KEY, value text NOT NULL)")
            db.execute(
                "INSERT INTO smart_context.meta VALUES ('identity', %s), ('schema', '0') ON CONFLICT DO NOTHING",
                (secrets.token_hex(16),),
            )
    for number, step in enumerate(STEPS[before:], start=before + 1):
        db.seconds = None
        with db.transaction():
            step(db)
            db.execute("UPDATE smart_context.meta SET value = %s WHERE key = 'schema'", (str(number),))
    restored = is_restored(database)
    if restored:
        with db.transaction():
            _renumber(db)
    db.seconds = WRITE_SECONDS
    return VERSION - before + restored


def _renumber(db: Connection) -> None:
    """Number everything as if written now, so that every machine that followed the record before derives its ranking again."""
    db.execute("UPDATE smart_context.files SET xid = pg_current_xact_id()")
    for table in ("gone", "commits"):
        db.execute(f"DELETE FROM smart_context.{table}")  # noqa: S608  constants
    db.execute("INSERT INTO smart_context.commits (machine) VALUES ('')")
    db.execute("UPDATE smart_context.meta SET value = %s WHERE key = 'identity'", (secrets.token_hex(16),))
