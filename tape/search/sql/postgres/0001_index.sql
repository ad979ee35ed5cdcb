-- The index of the tapes' words: whatever is here can be made again from the tapes.

-- Which entries of a tape are in the index: all from `low` to `high`. It changes in the transaction
-- that puts them there. `made` is another number after the index was cleared, `rules` say how its
-- terms were made.
CREATE TABLE search_covered (
    tape  BIGINT PRIMARY KEY,
    low   BIGINT NOT NULL,
    high  BIGINT NOT NULL,
    rules TEXT COLLATE "C" NOT NULL,
    made  BIGINT GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- The terms of an entry. `work` marks calls, results and events, which are searched where it is
-- asked for.
CREATE TABLE search_entry (
    tape  BIGINT NOT NULL,
    id    BIGINT NOT NULL,
    work  BOOLEAN NOT NULL,
    terms TSVECTOR NOT NULL,
    PRIMARY KEY (tape, id)
);

-- A search also reads, for each stretch, what waits to be put into the index: that must not be much.
CREATE INDEX search_entry_terms ON search_entry USING gin (terms)
WITH (fastupdate = on, gin_pending_list_limit = 64);

-- The newest ids of a tape that match, in stretches of ids: `search_walk` reads entry by entry, from
-- the newest one, `search_find` all that the index has of a stretch. Who asks chooses, so the planner
-- has no other way, and does not plan for each stretch. Both return NULL if the index was cleared;
-- while one runs, that has to wait.
CREATE FUNCTION search_walk(
    number bigint, stamp bigint, firsts bigint[], lasts bigint[], wanted tsquery[],
    works boolean[], most bigint
) RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET enable_bitmapscan = off SET enable_seqscan = off SET enable_sort = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    found bigint[] := '{}';
    low bigint;
    high bigint;
    query tsquery;
BEGIN
    IF NOT EXISTS (SELECT FROM search_covered WHERE tape = number AND made = stamp) THEN
        RETURN NULL;
    END IF;
    FOR low, high, query IN SELECT * FROM unnest(firsts, lasts, wanted) LOOP
        found := found || ARRAY(
            SELECT id FROM search_entry
            WHERE tape = number AND id BETWEEN low AND high
              AND CASE WHEN work = ANY (works) THEN terms @@ query ELSE false END
            ORDER BY id DESC LIMIT most - cardinality(found)
        );
        EXIT WHEN cardinality(found) >= most;
    END LOOP;
    RETURN found;
END $$;

CREATE FUNCTION search_find(
    number bigint, stamp bigint, firsts bigint[], lasts bigint[], wanted tsquery[], plain tsquery[],
    names tsquery[], most bigint
) RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    found bigint[] := '{}';
    low bigint;
    high bigint;
    query tsquery;
    simple tsquery;
    name tsquery;
BEGIN
    IF NOT EXISTS (SELECT FROM search_covered WHERE tape = number AND made = stamp) THEN
        RETURN NULL;
    END IF;
    FOR low, high, query, simple, name IN
        SELECT * FROM unnest(firsts, lasts, wanted, plain, names)
    LOOP
        -- The index returns all entries of a name before one is seen: a frequent name would cost more
        -- than it saves, and is met among the newest few.
        IF name IS NOT NULL
            AND NOT EXISTS (SELECT FROM search_entry WHERE tape = number
                            AND id BETWEEN high - 20 AND high AND (terms @@ name) IS TRUE)
            AND NOT EXISTS (SELECT FROM search_entry WHERE terms @@ name)
        THEN
            query := simple;
        END IF;
        found := found || ARRAY(
            WITH matching AS MATERIALIZED (
                SELECT tape, id FROM search_entry WHERE terms @@ query
            )
            SELECT id FROM matching WHERE tape = number AND id BETWEEN low AND high
            ORDER BY id DESC LIMIT most - cardinality(found)
        );
        EXIT WHEN cardinality(found) >= most;
    END LOOP;
    RETURN found;
END $$;
