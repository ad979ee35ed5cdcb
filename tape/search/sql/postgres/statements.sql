-- name: covered
-- The number and the size of a tape, and which part of it is in the index.
SELECT t.tape, t.size, c.low, c.high, c.made, c.rules FROM tape AS t
LEFT JOIN search_covered AS c ON c.tape = t.tape
WHERE t.name = :name

-- name: lacking
-- The tapes that the index does not have, or not all of.
SELECT t.name, coalesce(c.high, 0) AS high, coalesce(c.low, 1) AS low, t.size FROM tape AS t
LEFT JOIN search_covered AS c ON c.tape = t.tape
WHERE t.size > coalesce(c.high, 0) OR c.low > 1
ORDER BY t.tape

-- name: rules
-- By which rules the index was made, as far as it goes.
SELECT DISTINCT rules FROM search_covered

-- name: cover
-- From here on a part of this tape is in the index, in the place of what `old` rules made and
-- counted.
WITH begun AS (
    INSERT INTO search_covered AS known (tape, low, high, rules)
    VALUES (:tape, :low, :low - 1, :rules)
    ON CONFLICT (tape) DO UPDATE
    SET low = excluded.low, high = excluded.high, rules = excluded.rules, made = DEFAULT
    WHERE known.rules = :old
    RETURNING tape
), gone AS (
    DELETE FROM rollup_lane WHERE tape IN (SELECT tape FROM begun)
)
DELETE FROM rollup WHERE tape IN (SELECT tape FROM begun)

-- name: begin
-- Begin to cover, in their newest parts, those of these tapes that are not covered at all. A version
-- that does not count may have cleared the index and left the counts.
WITH begun AS (
    INSERT INTO search_covered (tape, low, high, rules)
    SELECT tape, greatest(size - :newest, 0) + 1, greatest(size - :newest, 0), :rules
    FROM tape WHERE name = ANY (:names ::text[])
    ON CONFLICT (tape) DO NOTHING
    RETURNING tape, low
), lanes AS (
    DELETE FROM rollup_lane WHERE tape IN (SELECT tape FROM begun)
), gone AS (
    DELETE FROM rollup WHERE tape IN (SELECT tape FROM begun)
)
SELECT (SELECT name FROM tape WHERE tape.tape = begun.tape) AS name, low FROM begun

-- name: hold
-- Let nobody else change the index of a tape in this transaction, or wait until nobody does so.
SELECT tape, low, high, rules FROM search_covered
WHERE tape = (SELECT tape FROM tape WHERE name = :name) FOR UPDATE

-- name: hold_free
-- The same for tapes of which nobody changes the index now.
SELECT (SELECT name FROM tape WHERE tape.tape = c.tape) AS name, tape, low, high, rules
FROM search_covered AS c
WHERE tape = ANY (ARRAY(SELECT t.tape FROM tape AS t WHERE t.name = ANY (:names ::text[])))
ORDER BY tape FOR UPDATE SKIP LOCKED

-- name: cover_more
-- A crash of the server may lose what was indexed last, but terms and cursor together: so this
-- transaction does not wait for the disk.
UPDATE search_covered SET low = given.low, high = given.high
FROM unnest(:tapes ::bigint[], :lows ::bigint[], :highs ::bigint[]) AS given (tape, low, high)
WHERE search_covered.tape = given.tape AND search_covered.tape = ANY (:tapes ::bigint[])
  AND set_config('synchronous_commit', 'off', true) = 'off'

-- name: drop
-- Remove entries from the index.
DELETE FROM search_entry
WHERE tape = (SELECT tape FROM tape WHERE name = :name) AND id = ANY (:ids ::bigint[])

-- name: add
-- Put entries into the index; the terms of each are separated by spaces.
INSERT INTO search_entry (tape, id, work, terms)
SELECT tape, id, work, array_to_tsvector(string_to_array(terms, ' '))
FROM unnest(:tapes ::bigint[], :ids ::bigint[], :works ::boolean[], :terms ::text[])
    AS given (tape, id, work, terms)
ON CONFLICT (tape, id) DO UPDATE SET terms = excluded.terms

-- name: clear
-- In the order in which everybody else locks the two.
TRUNCATE search_covered, search_entry

-- name: clear_counts
-- Counts are few, and a role that may only use the tables may not empty them otherwise.
WITH lanes AS (DELETE FROM rollup_lane)
DELETE FROM rollup

-- name: walk
SELECT search_walk(:tape, :made, :firsts ::bigint[], :lasts ::bigint[], :wanted ::tsquery[],
    :works ::boolean[], :most)

-- name: find
SELECT search_find(:tape, :made, :firsts ::bigint[], :lasts ::bigint[], :wanted ::tsquery[],
    :plain ::tsquery[], :names ::tsquery[], :most)
