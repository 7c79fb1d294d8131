"""The fifth version of a server's tables: search terms by block of sessions, and everything of a month in partitions."""

MONTHLY = """
-- Nothing of ours uses these, and keeping them took a third of a push.
DROP INDEX crucible.session_events_search, crucible.session_events_session, crucible.sessions_sizes;

-- The input of BM25: a term of up to 1024 sessions, a block.  A block's number is that of its sessions >> 10, and a
-- session's place in its block is its number & 1023.  Each of `hits` is an event with the term: place << 53 |
-- sequence << 30 | times << 16 | words; each of `whole_hits` a session with it: place << 53 | times << 32 | words << 16 | names.
-- Words and names are lengths, see `packed`.  `events` and `sessions` count them.  Each push adds a row
-- for each term, until `merge`.  The rows of the term '' have sizes: in `hits` the words and names of all events, in
-- `whole_hits` those of all sessions.  They are sums of what pushes add and deletions take away.
ALTER TABLE crucible.postings RENAME TO session_postings;
CREATE TABLE crucible.postings (
    term text COLLATE "C" NOT NULL, project int NOT NULL, month date NOT NULL, block int NOT NULL,
    events int NOT NULL CHECK (events >= 0 OR term = ''), sessions int NOT NULL CHECK (sessions >= 0 OR term = ''),
    hits bigint[] NOT NULL, whole_hits bigint[] NOT NULL
) PARTITION BY RANGE (month);
CREATE INDEX postings_by_term ON crucible.postings (term, project, month, block) INCLUDE (events, sessions);
CREATE INDEX postings_block ON crucible.postings (block);
ALTER TABLE crucible.postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE crucible.postings FORCE ROW LEVEL SECURITY;
CREATE POLICY seen ON crucible.postings FOR SELECT USING (project = ANY ((SELECT crucible.readable())::int[]));
CREATE POLICY gone ON crucible.postings FOR DELETE USING (project = ANY ((SELECT crucible.writable())::int[]));
CREATE POLICY pushed ON crucible.postings FOR INSERT WITH CHECK (project = ANY ((SELECT crucible.writable())::int[]));

-- The first month that is kept.
CREATE TABLE crucible.kept (since date NOT NULL);
INSERT INTO crucible.kept VALUES ('2000-01-01');
GRANT SELECT ON crucible.kept TO PUBLIC;

-- A length as twelve significant bits and an exponent.
CREATE FUNCTION crucible.packed(length bigint) RETURNS bigint LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (e << 12) | (length >> e::int) FROM (SELECT count(*) AS e FROM generate_series(12, 27) AS bit WHERE length >> bit > 0) AS sized
$$;
CREATE AGGREGATE crucible.joined(bigint[]) (SFUNC = array_cat, STYPE = bigint[], INITCOND = '{}');

-- Remove what a deleted session has in the rows of its block.  Locked, since two deletions may replace the same rows.
CREATE OR REPLACE FUNCTION crucible.forget() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('crucible.block', block)) FROM (SELECT DISTINCT no >> 10 AS block FROM gone ORDER BY 1) AS b;
    DELETE FROM crucible.session_events AS e USING gone WHERE e.session_no = gone.no AND e.project = gone.project AND e.month = gone.month;
    WITH taken AS (
        DELETE FROM crucible.postings AS p USING (
            SELECT (no >> 10)::int AS block, project, month, array_agg(no & 1023) AS places FROM gone GROUP BY 1, 2, 3
        ) AS g WHERE p.block = g.block AND p.project = g.project AND p.month = g.month AND p.term <> '' RETURNING p.*, g.places
    ), kept AS (
        SELECT term, project, month, block, ARRAY(SELECT h FROM unnest(hits) AS h WHERE h >> 53 <> ALL (places)) AS hits,
            ARRAY(SELECT h FROM unnest(whole_hits) AS h WHERE h >> 53 <> ALL (places)) AS whole_hits FROM taken
    )
    INSERT INTO crucible.postings SELECT term, project, month, block, cardinality(hits), cardinality(whole_hits), hits, whole_hits
    FROM kept WHERE cardinality(hits || whole_hits) > 0;
    INSERT INTO crucible.postings SELECT '', project, month, (no >> 10)::int, -sum(events), -count(*) FILTER (WHERE whole),
        ARRAY[-sum(event_words), -sum(event_names)]::bigint[], ARRAY[-sum(words), -sum(names)]::bigint[] FROM gone GROUP BY 2, 3, 4;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION crucible.make_month(wanted date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    divided text;
    named text;
BEGIN
    IF wanted <> date_trunc('month', wanted)::date OR wanted < date '2000-01-01' OR wanted > now() + interval '2 months'
        OR wanted > '2000-01-01' AND wanted < (SELECT since FROM crucible.kept) THEN
        RAISE EXCEPTION 'no month of sessions' USING ERRCODE = '22023';
    END IF;
    FOREACH divided IN ARRAY ARRAY['session_events', 'postings'] LOOP
        named := divided || '_' || to_char(wanted, 'YYYY_MM');
        -- Read the catalog: `to_regclass` may return a result cached before we waited.
        CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE relname = named AND relnamespace = 'crucible'::regnamespace);
        PERFORM pg_advisory_xact_lock(hashtextextended('crucible.' || named, 0));
        CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE relname = named AND relnamespace = 'crucible'::regnamespace);
        EXECUTE format('CREATE TABLE crucible.%I (LIKE crucible.%I INCLUDING ALL)', named, divided);
        EXECUTE format('ALTER TABLE crucible.%I ENABLE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE crucible.%I FORCE ROW LEVEL SECURITY', named);
        EXECUTE format('ALTER TABLE crucible.%I ATTACH PARTITION crucible.%I FOR VALUES FROM (%L) TO (%L)',
            divided, named, wanted, (wanted + interval '1 month')::date);
    END LOOP;
END $$;

-- Drop the months before a date; return the number of sessions.  Sessions without a date stay.  For the owner.
CREATE FUNCTION crucible.prune(before date) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old regclass;
    removed bigint;
    kept_from date := date_trunc('month', before)::date;
BEGIN
    UPDATE crucible.kept SET since = greatest(since, kept_from);
    FOR old IN SELECT c.oid FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
        WHERE inhparent IN ('crucible.session_events'::regclass, 'crucible.postings'::regclass)
            AND right(relname, 7) > '2000_01' AND right(relname, 7) < to_char(kept_from, 'YYYY_MM') LOOP
        EXECUTE format('DROP TABLE %s', old);
    END LOOP;
    -- Else an owner without access to a project would leave its sessions.
    ALTER TABLE crucible.sessions NO FORCE ROW LEVEL SECURITY, DISABLE TRIGGER forget;
    DELETE FROM crucible.sessions WHERE month > '2000-01-01' AND month < kept_from;
    GET DIAGNOSTICS removed = ROW_COUNT;
    ALTER TABLE crucible.sessions FORCE ROW LEVEL SECURITY, ENABLE TRIGGER forget;
    RETURN removed;
END $$;

-- Merge the rows that several pushes added to a block; return how many there were.  For the owner.
CREATE FUNCTION crucible.merge() RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one record;
    merged bigint := 0;
    found bigint;
BEGIN
    FOR one IN SELECT DISTINCT block, project, month FROM (
        SELECT block, project, month FROM crucible.postings GROUP BY term, block, project, month HAVING count(*) > 1
    ) AS parts ORDER BY block LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended('crucible.block', one.block));
        WITH taken AS (
            DELETE FROM crucible.postings AS p WHERE p.block = one.block AND p.project = one.project AND p.month = one.month RETURNING p.*
        ), sums AS (
            INSERT INTO crucible.postings SELECT '', project, month, block, sum(events), sum(sessions),
                ARRAY[sum(hits[1]), sum(hits[2])]::bigint[], ARRAY[sum(whole_hits[1]), sum(whole_hits[2])]::bigint[]
            FROM taken WHERE term = '' GROUP BY 2, 3, 4
        ), joined AS (
            INSERT INTO crucible.postings SELECT term, project, month, block, sum(events), sum(sessions), crucible.joined(hits), crucible.joined(whole_hits)
            FROM taken WHERE term <> '' GROUP BY 1, 2, 3, 4
        ) SELECT count(*) INTO found FROM taken;
        merged := merged + found;
    END LOOP;
    RETURN merged;
END $$;
REVOKE ALL ON FUNCTION crucible.prune(date), crucible.merge() FROM PUBLIC;

-- What is there, whatever the owner may see of it.
ALTER TABLE crucible.session_postings NO FORCE ROW LEVEL SECURITY;
ALTER TABLE crucible.sessions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE crucible.postings NO FORCE ROW LEVEL SECURITY;
SELECT crucible.make_month(month) FROM (SELECT DISTINCT month FROM crucible.sessions) AS found;
INSERT INTO crucible.postings SELECT term, project, month, block, cardinality(hits), cardinality(whole_hits), hits, whole_hits FROM (
    SELECT p.term, p.project, s.month, (s.no >> 10)::int AS block, crucible.joined(ARRAY(
            SELECT ((s.no & 1023) << 53) | ((h >> 40) << 30) | (least((h >> 24) & 65535, 16383) << 16) | crucible.packed(h & 16777215)
            FROM unnest(p.hits) AS h WHERE h >> 40 <= 8388607
        )) AS hits, crucible.joined(CASE WHEN p.times > 0 OR NOT s.whole AND p.term ~ '^f(session|project|branch|tag|archived):' THEN ARRAY[
            ((s.no & 1023) << 53) | (least(greatest(p.times, 1), 2097151)::bigint << 32) | (crucible.packed(s.words) << 16) | crucible.packed(s.names)
        ] ELSE '{}' END) AS whole_hits
    FROM crucible.session_postings AS p JOIN crucible.sessions AS s ON s.no = p.session_no AND s.project = p.project GROUP BY 1, 2, 3, 4
) AS converted;
INSERT INTO crucible.postings SELECT '', project, month, (no >> 10)::int, sum(events), count(*) FILTER (WHERE whole),
    ARRAY[sum(event_words), sum(event_names)]::bigint[], ARRAY[sum(words), sum(names)]::bigint[] FROM crucible.sessions GROUP BY 2, 3, 4;
ALTER TABLE crucible.postings FORCE ROW LEVEL SECURITY;
ALTER TABLE crucible.sessions FORCE ROW LEVEL SECURITY;
DROP TABLE crucible.session_postings;

DO $$
DECLARE member record;
BEGIN
    FOR member IN SELECT role, bool_or(writes) AS writes FROM crucible.members GROUP BY role LOOP
        EXECUTE format('GRANT SELECT ON crucible.postings TO %s', member.role);
        IF member.writes THEN
            EXECUTE format('GRANT INSERT, DELETE ON crucible.postings TO %s', member.role);
        END IF;
    END LOOP;
END $$;
"""
