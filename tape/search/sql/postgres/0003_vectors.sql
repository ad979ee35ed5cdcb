-- readable from: 2
-- What entries mean, as embedders see it: whatever is here can be made again, at the embedder's price.
-- No name here is one of the extension pgvector, whose type `vector` may come into the same schema.

-- The embedders. One process at a time makes the vectors of each: `owner`, while its lease lasts. An
-- embedder whose last lease ended long ago is not used any more.
CREATE TABLE search_vector_model (
    model    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    embedder TEXT COLLATE "C" NOT NULL UNIQUE,
    owner    TEXT COLLATE "C" NOT NULL,
    until    TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);

-- Which entries of a tape have been looked at: all from `low` to `high`.
CREATE TABLE search_vector_covered (
    model BIGINT NOT NULL,
    tape  BIGINT NOT NULL,
    low   BIGINT NOT NULL,
    high  BIGINT NOT NULL,
    PRIMARY KEY (model, tape)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- A vector of length one, and the signs of its numbers, one bit each: by these the candidates are
-- found quickly, so the numbers lie elsewhere. They are half floats for the processes that compare them
-- themselves, or what pgvector reads.
CREATE TABLE search_vector (
    model BIGINT NOT NULL,
    tape  BIGINT NOT NULL,
    id    BIGINT NOT NULL,
    signs BIT VARYING NOT NULL,
    half  BYTEA,
    value REAL[],
    PRIMARY KEY (model, tape, id),
    CHECK (num_nulls(half, value) = 1)
) WITH (toast_tuple_target = 256);
ALTER TABLE search_vector ALTER COLUMN signs SET STORAGE MAIN;
ALTER TABLE search_vector ALTER COLUMN half SET STORAGE EXTERNAL;
ALTER TABLE search_vector ALTER COLUMN value SET STORAGE EXTERNAL;

-- The last transaction that erased words from a tape: vectors of what was read before are not kept.
CREATE TABLE search_erased (
    tape  BIGINT PRIMARY KEY,
    stamp TEXT COLLATE "C" NOT NULL
) WITH (fillfactor = 50);

-- Whoever erases an entry removes its vectors in the same transaction. A vector of an edited message is
-- that of its last edit. The tape is locked first: `search_vector_put` either sees the stamp then, or
-- has committed what is removed here.
CREATE FUNCTION search_forget() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    this text := pg_current_xact_id()::text;
    of_model bigint;
BEGIN
    PERFORM FROM tape WHERE tape.tape = OLD.tape FOR NO KEY UPDATE;
    INSERT INTO search_erased AS known (tape, stamp) VALUES (OLD.tape, this)
    ON CONFLICT (tape) DO UPDATE SET stamp = this WHERE known.stamp <> this;
    FOR of_model IN SELECT model FROM search_vector_model LOOP
        DELETE FROM search_vector WHERE model = of_model AND tape = OLD.tape AND id = OLD.id;
        IF OLD.name = 'message.edit' AND OLD.about BETWEEN 1 AND 1e15 THEN
            DELETE FROM search_vector
            WHERE model = of_model AND tape = OLD.tape AND id = OLD.about::bigint;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE TRIGGER entry_forgotten AFTER UPDATE ON entry
FOR EACH ROW EXECUTE FUNCTION search_forget();

-- The schema of the extension pgvector, quoted; NULL if this database or this role may not use it.
CREATE FUNCTION search_pgvector() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT quote_ident(n.nspname) FROM pg_extension AS e
    JOIN pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector' AND has_schema_privilege(n.oid, 'USAGE')
$$;

-- Keep the vectors of a stretch of a tape, and return whether they were kept: not if another process
-- makes the vectors now, or words of the tape were erased since the stamp `seen` was read. Either
-- `halves` or `numbers` is empty; the latter has those of all vectors, one behind the other. While this
-- runs, nobody appends to the tape.
CREATE FUNCTION search_vector_put(
    of_model bigint, maker text, tape_name text, seen text, first bigint, last bigint,
    ids bigint[], all_signs bit varying[], halves bytea[], numbers real[]
) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    number bigint;
    width integer := cardinality(numbers) / greatest(cardinality(ids), 1);
BEGIN
    PERFORM FROM search_vector_model WHERE model = of_model AND owner = maker FOR SHARE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT t.tape INTO number FROM tape AS t WHERE t.name = tape_name FOR SHARE;
    IF number IS NULL
        OR coalesce((SELECT stamp FROM search_erased WHERE tape = number), '') <> seen THEN
        RETURN false;
    END IF;
    INSERT INTO search_vector (model, tape, id, signs, half, value)
    SELECT of_model, number, given.id, given.signs, halves[given.place],
           CASE WHEN width > 0 THEN numbers[(given.place - 1) * width + 1 : given.place * width] END
    FROM (SELECT id, signs, place::integer AS place
          FROM unnest(ids, all_signs) WITH ORDINALITY AS one (id, signs, place)) AS given
    ON CONFLICT (model, tape, id)
    DO UPDATE SET signs = excluded.signs, half = excluded.half, value = excluded.value;
    INSERT INTO search_vector_covered (model, tape, low, high)
    VALUES (of_model, number, first, last)
    ON CONFLICT (model, tape) DO UPDATE SET low = excluded.low, high = excluded.high;
    RETURN true;
END $$;

-- Of the newest vectors of a tape, those whose signs differ least from the wanted ones: with their
-- distance from `query` where pgvector computes it, else with their numbers: as half floats, or in the
-- binary form of an array.
CREATE FUNCTION search_vector_nearest(
    of_embedder text, tape_name text, wanted bit varying, query real[], below bigint, most bigint,
    compared bigint
) RETURNS TABLE (entry_id bigint, distance double precision, halves bytea, numbers bytea)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    number bigint := (SELECT t.tape FROM tape AS t WHERE t.name = tape_name);
    of_model bigint := (SELECT m.model FROM search_vector_model AS m WHERE m.embedder = of_embedder);
    place text := search_pgvector();
    exact text := 'NULL::double precision, half, array_send(value)';
    few bigint[] := ARRAY(
        SELECT newest.id FROM (
            SELECT id, signs FROM search_vector
            WHERE model = of_model AND tape = number AND id < below
            ORDER BY id DESC LIMIT most
        ) AS newest
        WHERE length(newest.signs) = length(wanted)
        ORDER BY bit_count(newest.signs # wanted), newest.id DESC LIMIT compared
    );
BEGIN
    IF place IS NOT NULL AND cardinality(query) <= 16000 THEN  -- the most that pgvector takes
        exact := format('value::%1$s.vector OPERATOR(%1$s.<->) $1::%1$s.vector, half, NULL::bytea',
                        place);
    END IF;
    RETURN QUERY EXECUTE 'SELECT id, ' || exact || ' FROM unnest($4) AS few (id)
        JOIN search_vector USING (id) WHERE model = $2 AND tape = $3'
    USING query, of_model, number, few;
END $$;
