-- name: covered
-- The number and the size of a tape, and which part of it is in the index.
SELECT t.tape, t.size, c.low, c.high, c.made FROM tape AS t
LEFT JOIN search_covered AS c ON c.tape = t.tape AND c.rules = :rules
WHERE t.name = :name

-- name: lacking
-- The tapes that the index does not have, or not all of.
SELECT t.name, coalesce(c.high, 0) AS high, coalesce(c.low, 1) AS low, t.size FROM tape AS t
LEFT JOIN search_covered AS c ON c.tape = t.tape
WHERE t.size > coalesce(c.high, 0) OR c.low > 1
ORDER BY t.tape

-- name: other_rules
-- Whether a part of the index was made by other rules.
SELECT EXISTS (SELECT 1 FROM search_covered WHERE rules <> :rules)

-- name: cover
-- From here on a part of this tape is in the index.
INSERT INTO search_covered (tape, low, high, rules) VALUES (:tape, :low, :low - 1, :rules)
ON CONFLICT (tape) DO NOTHING

-- name: hold
-- Let nobody else change the index of a tape in this transaction.
SELECT tape, low, high FROM search_covered
WHERE tape = (SELECT tape FROM tape WHERE name = :name) AND rules = :rules FOR UPDATE

-- name: cover_more
-- A crash of the server may lose what was indexed last, but terms and cursor together: so this
-- transaction does not wait for the disk.
UPDATE search_covered SET low = :low, high = :high
WHERE tape = :tape AND set_config('synchronous_commit', 'off', true) = 'off'

-- name: drop
-- Remove entries from the index.
DELETE FROM search_entry WHERE tape = :tape AND id = ANY (:ids ::bigint[])

-- name: add
-- Put entries into the index; the terms of each are separated by spaces.
INSERT INTO search_entry (tape, id, work, terms)
SELECT :tape, id, work, array_to_tsvector(string_to_array(terms, ' '))
FROM unnest(:ids ::bigint[], :works ::boolean[], :terms ::text[]) AS given (id, work, terms)
ON CONFLICT (tape, id) DO UPDATE SET terms = excluded.terms

-- name: clear
-- In the order in which everybody else locks the two.
TRUNCATE search_covered, search_entry

-- name: walk
SELECT search_walk(:tape, :made, :firsts ::bigint[], :lasts ::bigint[], :wanted ::tsquery[],
    :works ::boolean[], :most)

-- name: find
SELECT search_find(:tape, :made, :firsts ::bigint[], :lasts ::bigint[], :wanted ::tsquery[], :most)
