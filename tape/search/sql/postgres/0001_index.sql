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

-- A search also reads what waits to be put into the index, so that must not be much.
CREATE INDEX search_entry_terms ON search_entry USING gin (terms)
WITH (fastupdate = on, gin_pending_list_limit = 512);

-- The newest ids among some of a tape that match: `search_walk` reads entry by entry, from the newest
-- one, `search_find` all that the index has. Who asks chooses, so the planner has no other way. Both
-- return NULL if the index was cleared meanwhile: each statement in a volatile function sees what was
-- committed before it, so the clearing cannot slip in between.
CREATE FUNCTION search_walk(
    number bigint, stamp bigint, first bigint, last bigint, works boolean[], wanted tsquery,
    most bigint
) RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET enable_bitmapscan = off SET enable_seqscan = off SET enable_sort = off SET jit = off
SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    found bigint[];
BEGIN
    found := ARRAY(
        SELECT id FROM search_entry
        WHERE tape = number AND id BETWEEN first AND last
          AND CASE WHEN work = ANY (works) THEN terms @@ wanted ELSE false END
        ORDER BY id DESC LIMIT most
    );
    RETURN (SELECT found FROM search_covered WHERE tape = number AND made = stamp);
END $$;

CREATE FUNCTION search_find(
    number bigint, stamp bigint, first bigint, last bigint, wanted tsquery, most bigint
) RETURNS bigint[] LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    found bigint[];
BEGIN
    found := ARRAY(
        WITH matching AS MATERIALIZED (
            SELECT tape, id FROM search_entry WHERE terms @@ wanted
        )
        SELECT id FROM matching WHERE tape = number AND id BETWEEN first AND last
        ORDER BY id DESC LIMIT most
    );
    RETURN (SELECT found FROM search_covered WHERE tape = number AND made = stamp);
END $$;
