"""The tables of a team's server, and who may see which rows.

Row-level security depends on the login role, so it also applies to `psql` and to the tables' owner.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from crucible.core.errors import ServerFailed
from crucible.search.postgres.monthly_tables import MONTHLY
from crucible.search.team.team_address import NOT_SET_UP

if TYPE_CHECKING:
    import psycopg

    from crucible.search.postgres.address import Server


_LOCK = 0x6372_7563_6962_6C65
"""The advisory lock for migrations: "crucible"."""

_FIRST = """
CREATE SCHEMA crucible;
GRANT USAGE ON SCHEMA crucible TO PUBLIC;

CREATE TABLE crucible.migrations (version int PRIMARY KEY, done timestamptz NOT NULL DEFAULT now(), by name NOT NULL DEFAULT current_user);
GRANT SELECT ON crucible.migrations TO PUBLIC;

CREATE TABLE crucible.projects (no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);

-- Roles are stored by OID, so a re-created role inherits no grants.  A null project means all projects.
CREATE TABLE crucible.members (
    role regrole NOT NULL, project int REFERENCES crucible.projects ON DELETE CASCADE, writes boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX members_once ON crucible.members (role, coalesce(project, 0));

-- These run with the rights of the caller, so `current_user` is the caller and never the owner.
CREATE FUNCTION crucible.readable() RETURNS int[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT p.no), '{}') FROM crucible.projects p JOIN crucible.members m ON m.project = p.no OR m.project IS NULL
    WHERE pg_has_role(current_user, m.role, 'USAGE')
$$;
CREATE FUNCTION crucible.writable() RETURNS int[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(DISTINCT p.no), '{}') FROM crucible.projects p JOIN crucible.members m ON m.project = p.no OR m.project IS NULL
    WHERE pg_has_role(current_user, m.role, 'USAGE') AND m.writes
$$;

ALTER TABLE crucible.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE crucible.members FORCE ROW LEVEL SECURITY;
CREATE POLICY granting ON crucible.members TO CURRENT_USER USING (true);
CREATE POLICY own ON crucible.members FOR SELECT USING (pg_has_role(current_user, role, 'USAGE'));

ALTER TABLE crucible.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE crucible.projects FORCE ROW LEVEL SECURITY;
CREATE POLICY granting ON crucible.projects TO CURRENT_USER USING (true);
CREATE POLICY own ON crucible.projects FOR SELECT USING (EXISTS (
    SELECT FROM crucible.members m WHERE (m.project = no OR m.project IS NULL) AND pg_has_role(current_user, m.role, 'USAGE')));
CREATE POLICY begun ON crucible.projects FOR INSERT WITH CHECK (EXISTS (
    SELECT FROM crucible.members m WHERE m.project IS NULL AND m.writes AND pg_has_role(current_user, m.role, 'USAGE')));

-- A note of a vault.  `key` is a hash of its path, `digest` changes with its text, `clone` is the copy of the vault
-- that pushed it. `events`, `event_words` and `event_names` count what is searched of its events; `words` and `names`
-- those of a whole session. `first`, `last` and, for each event, `times` are seconds since 1970; 0 is unknown.
CREATE TABLE crucible.sessions (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, project int NOT NULL REFERENCES crucible.projects, month date NOT NULL,
    vault text NOT NULL, key text NOT NULL, digest text NOT NULL, clone text NOT NULL,
    session_id text NOT NULL, path text NOT NULL, title text NOT NULL, branch text NOT NULL, tags text[] NOT NULL, parent text NOT NULL,
    started timestamptz, first bigint NOT NULL, last bigint NOT NULL,
    events int NOT NULL CHECK (events >= 0), event_words bigint NOT NULL CHECK (event_words >= 0),
    event_names bigint NOT NULL CHECK (event_names >= 0), words bigint NOT NULL CHECK (words >= 0), names bigint NOT NULL CHECK (names >= 0),
    whole boolean NOT NULL, times bigint[] NOT NULL,
    pushed timestamptz NOT NULL DEFAULT now(), pushed_by name NOT NULL DEFAULT current_user,
    UNIQUE (vault, key)
);
CREATE INDEX sessions_id ON crucible.sessions USING hash (session_id);
CREATE INDEX sessions_sizes ON crucible.sessions (project) INCLUDE (events, event_words, event_names, words, names);

-- The project is part of the key: otherwise a failing insert would reveal rows of a hidden project.
CREATE TABLE crucible.session_events (
    session_no bigint NOT NULL, project int NOT NULL, month date NOT NULL, sequence int NOT NULL,
    id text NOT NULL, session_id text NOT NULL, event_type text NOT NULL, payload jsonb NOT NULL, more text, created_at timestamptz,
    PRIMARY KEY (session_no, sequence, project, month)
) PARTITION BY RANGE (month);
CREATE INDEX session_events_search ON crucible.session_events USING gin (jsonb_to_tsvector('pg_catalog.english', payload, '["string"]'));
CREATE INDEX session_events_session ON crucible.session_events (session_id, sequence);

-- The input of BM25: a term of a session, its count, and for each event `sequence << 40 | times << 24 | words`.
CREATE TABLE crucible.postings (
    term text COLLATE "C" NOT NULL, session_no bigint NOT NULL, project int NOT NULL, times int NOT NULL CHECK (times >= 0), hits bigint[] NOT NULL
);
CREATE INDEX postings_term ON crucible.postings (term);
CREATE INDEX postings_session ON crucible.postings (session_no);

-- Foreign keys would do this, but check the session once for each of its thousand postings.  Reads join by number and
-- project, so rows that name another user's session are never seen.
CREATE FUNCTION crucible.forget() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM crucible.session_events AS e USING gone WHERE e.session_no = gone.no AND e.project = gone.project AND e.month = gone.month;
    DELETE FROM crucible.postings AS p USING gone WHERE p.session_no = gone.no AND p.project = gone.project;
    RETURN NULL;
END $$;
CREATE TRIGGER forget AFTER DELETE ON crucible.sessions REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION crucible.forget();

DO $$
DECLARE kept text;
BEGIN
    FOREACH kept IN ARRAY ARRAY['sessions', 'session_events', 'postings'] LOOP
        EXECUTE format('ALTER TABLE crucible.%I ENABLE ROW LEVEL SECURITY', kept);
        EXECUTE format('ALTER TABLE crucible.%I FORCE ROW LEVEL SECURITY', kept);
        EXECUTE format('CREATE POLICY seen ON crucible.%I FOR SELECT USING (project = ANY ((SELECT crucible.readable())::int[]))', kept);
        EXECUTE format('CREATE POLICY gone ON crucible.%I FOR DELETE USING (project = ANY ((SELECT crucible.writable())::int[]))', kept);
    END LOOP;
    FOREACH kept IN ARRAY ARRAY['session_events', 'postings'] LOOP
        EXECUTE format('CREATE POLICY pushed ON crucible.%I FOR INSERT WITH CHECK (project = ANY ((SELECT crucible.writable())::int[]))', kept);
    END LOOP;
END $$;
CREATE POLICY pushed ON crucible.sessions FOR INSERT WITH CHECK (
    project = ANY ((SELECT crucible.writable())::int[]) AND pushed_by = current_user);

-- Create the partition of a month, at the first write to it.  Attaching a table does not wait for other writers.
-- No role has rights on a partition itself, and no policy of a partition allows reading its rows.
CREATE FUNCTION crucible.make_month(wanted date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE named text := 'session_events_' || to_char(wanted, 'YYYY_MM');
BEGIN
    IF wanted <> date_trunc('month', wanted)::date OR wanted < date '2000-01-01' OR wanted > now() + interval '2 months' THEN
        RAISE EXCEPTION 'no month of sessions' USING ERRCODE = '22023';
    END IF;
    -- Read the catalog: `to_regclass` may return a result cached before we waited.
    IF EXISTS (SELECT FROM pg_class WHERE relname = named AND relnamespace = 'crucible'::regnamespace) THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('crucible.' || named, 0));
    IF EXISTS (SELECT FROM pg_class WHERE relname = named AND relnamespace = 'crucible'::regnamespace) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE crucible.%I (LIKE crucible.session_events INCLUDING ALL)', named);
    EXECUTE format('ALTER TABLE crucible.%I ENABLE ROW LEVEL SECURITY', named);
    EXECUTE format('ALTER TABLE crucible.%I FORCE ROW LEVEL SECURITY', named);
    EXECUTE format('ALTER TABLE crucible.session_events ATTACH PARTITION crucible.%I FOR VALUES FROM (%L) TO (%L)',
        named, wanted, (wanted + interval '1 month')::date);
END $$;
REVOKE ALL ON FUNCTION crucible.make_month(date) FROM PUBLIC;

-- Called by an admin.  '*' is all projects, including future ones.
CREATE FUNCTION crucible.grant_project(role regrole, project text, writes boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE wanted int;
BEGIN
    IF project <> '*' THEN
        INSERT INTO crucible.projects AS p (name) VALUES (project) ON CONFLICT DO NOTHING;
        SELECT p.no INTO STRICT wanted FROM crucible.projects p WHERE p.name = project;
    END IF;
    INSERT INTO crucible.members AS m (role, project, writes) VALUES (role, wanted, writes)
        ON CONFLICT ((m.role), coalesce(m.project, 0)) DO UPDATE SET writes = excluded.writes;
    EXECUTE format('GRANT SELECT ON crucible.projects, crucible.members, crucible.sessions, crucible.session_events, crucible.postings TO %s', role);
    IF writes THEN
        EXECUTE format('GRANT INSERT, DELETE ON crucible.sessions, crucible.session_events, crucible.postings TO %s', role);
        EXECUTE format('GRANT INSERT ON crucible.projects TO %s', role);
        EXECUTE format('GRANT EXECUTE ON FUNCTION crucible.make_month(date) TO %s', role);
    END IF;
END $$;
CREATE FUNCTION crucible.revoke_project(role regrole, project text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM crucible.members m WHERE m.role = $1
        AND CASE WHEN $2 = '*' THEN m.project IS NULL ELSE m.project = (SELECT p.no FROM crucible.projects p WHERE p.name = $2) END
$$;
REVOKE ALL ON FUNCTION crucible.grant_project(regrole, text, boolean), crucible.revoke_project(regrole, text) FROM PUBLIC;

SELECT crucible.grant_project(current_user::regrole, '*', true);
"""

_SECOND = """
-- The weight and the audience of a knowledge item are computed from these at each question; they are null for a
-- session.
ALTER TABLE crucible.sessions
    ADD COLUMN item_type text, ADD COLUMN item_scope text, ADD COLUMN item_domain text, ADD COLUMN item_verified boolean,
    ADD COLUMN item_used int CHECK (item_used >= 0), ADD COLUMN item_useful int CHECK (item_useful >= 0),
    ADD COLUMN item_last_used timestamptz, ADD COLUMN item_changed timestamptz;

-- A time that a client cannot represent would make every question that finds it fail.
CREATE FUNCTION crucible.is_readable(at timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT at >= '0001-01-01 00:00:00+00'::timestamptz AND at < '9999-12-31 00:00:00+00'::timestamptz
$$;
ALTER TABLE crucible.sessions
    ADD CHECK (crucible.is_readable(started)), ADD CHECK (crucible.is_readable(item_last_used)), ADD CHECK (crucible.is_readable(item_changed));
ALTER TABLE crucible.session_events ADD CHECK (crucible.is_readable(created_at));
"""

_THIRD = """
-- For each event that asks something the position of the next event that is not a call; 0 for others, null before this.
ALTER TABLE crucible.sessions ADD COLUMN replies int[];
"""

_FOURTH = """
-- For each event the position of its kind in `KINDS`; null before this.
ALTER TABLE crucible.sessions ADD COLUMN kinds smallint[];
"""

_MIGRATIONS = (_FIRST, _SECOND, _THIRD, _FOURTH, MONTHLY)
VERSION = len(_MIGRATIONS)
"""The schema version that this version of Crucible reads and writes."""

# Read the catalog, as in `make_month`.
_HAS_TABLES = """
    SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'crucible' AND c.relname = 'migrations'
"""


def check_ready(server: Server) -> None:
    """Raise `ServerFailed` unless the tables exist in this version."""
    version = _version(server)
    if version == 0:
        raise ServerFailed(f"{server.place} {NOT_SET_UP[0]}", NOT_SET_UP[1])
    if version < VERSION:
        raise ServerFailed(f"{server.place} has tables from an older Crucible", NOT_SET_UP[1])
    if version > VERSION:
        raise ServerFailed(f"{server.place} has tables from a newer Crucible", "update Crucible on this machine")


def set_up(server: Server) -> bool:
    """Create or migrate the tables; return False if they are up to date.  Their creator may use all projects.

    Migrations run once, in order, in one transaction.
    """
    if _version(server) >= VERSION:
        check_ready(server)
        return False
    with server.connection() as connection, connection.transaction():
        # Held until the end of the transaction, so that concurrent calls migrate only once.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        old_version = _version_in(connection)
        for number, sql in enumerate(_MIGRATIONS[old_version:], old_version + 1):
            connection.execute(sql.encode())
            connection.execute("INSERT INTO crucible.migrations (version) VALUES (%s)", [number])
    return old_version < VERSION


def prune(server: Server, before: datetime | None) -> tuple[int, int]:
    """Drop the months before a time and merge the rows of many pushes; return how many rows and notes these were."""
    check_ready(server)
    removed = server.run("SELECT crucible.prune(%s)", [before.date()])[0][0] if before else 0
    return server.run("SELECT crucible.merge()")[0][0], removed


def _version(server: Server) -> int:
    with server.connection() as connection:
        return _version_in(connection)


def _version_in(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    if not connection.execute(_HAS_TABLES).fetchall():
        return 0
    rows = connection.execute("SELECT coalesce(max(version), 0) FROM crucible.migrations").fetchall()
    return int(rows[0][0])
