-- Tapes and their entries. A tape's row has the number of its entries: who appends locks it, so ids
-- have no gaps. The text columns compare byte by byte, as SQLite's do.

CREATE TABLE tape (
    tape  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name  TEXT COLLATE "C" NOT NULL UNIQUE,
    size  BIGINT NOT NULL DEFAULT 0,
    dated TEXT COLLATE "C" NOT NULL DEFAULT '',  -- the latest date
    last  BIGINT NOT NULL DEFAULT 0              -- the id of the entry with that date
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- `late` is set for an entry that is dated before one that stands before it: the last entry that is in
-- the order of the dates. `about` is the message that an edit, a deletion or an image belongs to.
CREATE TABLE entry (
    tape    BIGINT NOT NULL,
    id      BIGINT NOT NULL,
    kind    TEXT COLLATE "C" NOT NULL,
    name    TEXT COLLATE "C",
    author  TEXT COLLATE "C",
    lane    TEXT COLLATE "C",
    turn    TEXT COLLATE "C",
    late    BIGINT,
    about   DOUBLE PRECISION,
    payload TEXT NOT NULL,
    meta    TEXT NOT NULL,
    date    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tape, id)
);

CREATE INDEX entry_anchor ON entry (tape, id) WHERE kind = 'anchor';
CREATE INDEX entry_anchor_name ON entry (tape, name, id) WHERE kind = 'anchor';
CREATE INDEX entry_anchor_lane ON entry (tape, lane, id) WHERE kind = 'anchor';
CREATE INDEX entry_event ON entry (tape, name, id) WHERE kind = 'event' AND name NOT IN
    ('turn.start', 'turn.end', 'loop.step', 'tool.done', 'outbound', 'send.receipt');
CREATE INDEX entry_kind ON entry (tape, kind, id) WHERE kind NOT IN ('message', 'event', 'anchor');
CREATE INDEX entry_lane ON entry (tape, lane, id) WHERE lane IS NOT NULL;
CREATE INDEX entry_turn ON entry (tape, turn, id) WHERE turn IS NOT NULL;
CREATE INDEX entry_author ON entry (tape, author, id) WHERE author IS NOT NULL;
CREATE INDEX entry_about ON entry (tape, about, id) WHERE about IS NOT NULL;

-- The blocks of keyed appends.
CREATE TABLE append_key (
    tape  BIGINT NOT NULL,
    key   TEXT COLLATE "C" NOT NULL,
    first BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (tape, key)
);

-- The oldest date among the late entries of each 1024 ids.
CREATE TABLE late_block (
    tape   BIGINT NOT NULL,
    block  BIGINT NOT NULL,
    oldest TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tape, block)
);

-- Append entries to a tape that has `before` entries; TW001 means that it has another number, or that
-- it has seen the key: the caller reads it once more. Arrays have one element for each entry.
CREATE FUNCTION tape_append(
    tape_name text, before bigint, latest text, latest_id bigint,
    append_key text, key_first bigint, key_count bigint,
    ids bigint[], kinds text[], names text[], authors text[], lanes text[], turns text[],
    lates bigint[], abouts double precision[], payloads text[], metas text[], dates text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
    found_size bigint;
BEGIN
    IF before = 0 THEN
        INSERT INTO tape (name) VALUES (tape_name) ON CONFLICT (name) DO NOTHING;
    END IF;
    SELECT t.tape, t.size INTO number, found_size FROM tape AS t WHERE t.name = tape_name
    FOR NO KEY UPDATE;
    IF found_size IS DISTINCT FROM before THEN
        RAISE EXCEPTION 'the tape has % entries', found_size USING ERRCODE = 'TW001';
    END IF;
    IF append_key IS NOT NULL THEN
        INSERT INTO append_key (tape, key, first, count)
        VALUES (number, append_key, key_first, key_count)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the tape has seen the key' USING ERRCODE = 'TW001';
        END IF;
    END IF;
    IF coalesce(array_length(ids, 1), 0) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO entry (tape, id, kind, name, author, lane, turn, late, about, payload, meta, date)
    SELECT number, * FROM unnest(ids, kinds, names, authors, lanes, turns, lates, abouts,
                                 payloads, metas, dates);
    INSERT INTO late_block AS old (tape, block, oldest)
    SELECT number, late.id / 1024, min(late.date)
    FROM unnest(ids, lates, dates) AS late (id, behind, date)
    WHERE late.behind IS NOT NULL GROUP BY late.id / 1024
    ON CONFLICT (tape, block) DO UPDATE SET oldest = least(old.oldest, excluded.oldest);
    UPDATE tape SET size = before + array_length(ids, 1), dated = latest, last = latest_id
    WHERE tape.tape = number;
END $$;

-- Whether a tape needs no bootstrap.
CREATE FUNCTION tape_anchored(number bigint) RETURNS boolean LANGUAGE sql STABLE
RETURN EXISTS (
    SELECT 1 FROM entry WHERE entry.tape = number AND kind = 'anchor'
    UNION ALL
    SELECT 1 FROM entry WHERE entry.tape = number AND id = 1 AND name = 'fork.open');

-- What an append needs to know of tapes, with each of their newest entries: of a tape at most so many,
-- of so many bytes. A tape without any has one row.
CREATE FUNCTION tape_ends(names text[], most bigint, most_bytes bigint)
RETURNS TABLE (tape text, number bigint, size bigint, dated text, last bigint, anchored boolean,
               id bigint, kind text, payload text, meta text, date text)
LANGUAGE sql STABLE AS $$
    SELECT t.name, t.tape, t.size, t.dated, t.last, tape_anchored(t.tape),
           e.id, e.kind, e.payload, e.meta, e.date
    FROM tape AS t
    LEFT JOIN LATERAL (
        SELECT newest.*,
               sum(octet_length(newest.payload) + octet_length(newest.meta))
                   OVER (ORDER BY newest.id DESC) AS total
        FROM (SELECT own.id, own.kind, own.payload, own.meta, own.date FROM entry AS own
              WHERE own.tape = t.tape ORDER BY own.id DESC LIMIT most) AS newest
    ) AS e ON e.total <= most_bytes
    WHERE t.name = ANY (names)
    ORDER BY t.tape, e.id
$$;

-- TW002 unless a statement changed as many rows as expected.
CREATE FUNCTION unit_expects(statement text, expected bigint, changed bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF changed <> expected THEN
        RAISE EXCEPTION '%', statement
            USING ERRCODE = 'TW002', DETAIL = expected || ' ' || changed;
    END IF;
END $$;

-- The id of the last entry in date order that is dated before a moment, or 0, by halving.
CREATE FUNCTION last_before(number bigint, moment text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    low bigint := 0;
    high bigint;
    middle bigint;
    dated_id bigint;
    dated_date text;
BEGIN
    SELECT size INTO high FROM tape WHERE tape = number;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT dated.id, dated.date INTO dated_id, dated_date
        FROM entry AS found
        JOIN entry AS dated ON dated.tape = number AND dated.id = coalesce(found.late, found.id)
        WHERE found.tape = number AND found.id = middle;
        IF dated_date COLLATE "C" >= moment THEN
            high := dated_id - 1;
        ELSE
            low := middle;
        END IF;
    END LOOP;
    RETURN coalesce(
        (SELECT coalesce(late, id) FROM entry WHERE tape = number AND id = low), 0);
END $$;

-- What was written is never changed or removed. The one way to take words out of an entry is
-- `tape_erase`, which names the entry in a setting of its transaction.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a tape is append-only: % in % is refused', TG_OP, TG_TABLE_NAME;
END $$;

CREATE FUNCTION entry_may_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('tapeway.erasing', true) IS DISTINCT FROM OLD.tape || ' ' || OLD.id
        OR (NEW.tape, NEW.id, NEW.kind, NEW.date, NEW.late)
            IS DISTINCT FROM (OLD.tape, OLD.id, OLD.kind, OLD.date, OLD.late) THEN
        RAISE EXCEPTION 'a tape is append-only: an entry is never changed';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION tape_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.tape, NEW.name) IS DISTINCT FROM (OLD.tape, OLD.name) OR NEW.size < OLD.size THEN
        RAISE EXCEPTION 'a tape is append-only: it is never renamed or shortened';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER entry_never_updated BEFORE UPDATE ON entry
FOR EACH ROW EXECUTE FUNCTION entry_may_change();
CREATE TRIGGER entry_never_removed BEFORE DELETE OR TRUNCATE ON entry
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER tape_never_changed BEFORE UPDATE ON tape
FOR EACH ROW EXECUTE FUNCTION tape_grows();
CREATE TRIGGER tape_never_removed BEFORE DELETE OR TRUNCATE ON tape
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_key_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON append_key
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What was erased, by which role of the database, and when.
CREATE TABLE erased (
    tape BIGINT NOT NULL,
    id   BIGINT NOT NULL,
    role TEXT COLLATE "C" NOT NULL DEFAULT session_user,
    at   TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);
CREATE TRIGGER erased_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON erased
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- It runs as the owner of the tables, for roles that may not change an entry, and adds no words.
CREATE FUNCTION tape_erase(
    tape_name text, entry_id bigint, new_name text, new_author text, new_lane text, new_turn text,
    new_about double precision, new_payload text, new_meta text
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    number bigint;
BEGIN
    SELECT t.tape INTO number FROM tape AS t WHERE t.name = tape_name;
    PERFORM set_config('tapeway.erasing', number || ' ' || entry_id, true);
    UPDATE entry SET name = new_name, author = new_author, lane = new_lane, turn = new_turn,
        about = new_about, payload = new_payload, meta = new_meta
    WHERE tape = number AND id = entry_id
      AND length(new_payload) <= greatest(length(payload), 64)
      AND length(new_meta) <= length(meta) + 64;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'erasing the entry % of % would add words', entry_id, tape_name;
    END IF;
    INSERT INTO erased (tape, id) VALUES (number, entry_id);
    PERFORM set_config('tapeway.erasing', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION tape_erase FROM PUBLIC;
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION tape_erase SET search_path = %I, pg_temp', current_schema());
END $$;

-- Let a role use the tables, but never change or remove what is on a tape. The owner calls this, and
-- calls it once more after an upgrade.
CREATE FUNCTION let_use(application name) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place text := quote_ident(current_schema());
    who text := quote_ident(application);
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', place, who);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s', place, who);
    EXECUTE format('REVOKE UPDATE, DELETE ON entry, append_key, erased, tape FROM %s', who);
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON migration, erased FROM %s', who);
    EXECUTE format('GRANT UPDATE (size, dated, last) ON tape TO %s', who);
    EXECUTE format('GRANT TRUNCATE ON search_covered, search_entry TO %s', who);
    EXECUTE format('GRANT EXECUTE ON FUNCTION tape_erase TO %s', who);
    IF current_setting('server_version_num')::bigint >= 170000 THEN
        EXECUTE format('GRANT MAINTAIN ON ALL TABLES IN SCHEMA %s TO %s', place, who);
    END IF;
END $$;
