-- name: state
-- What an append needs to know of tapes: sizes, latest dates, and whether each needs no bootstrap.
SELECT name, size, dated, last, tape_anchored(tape) AS anchored
FROM tape WHERE name = ANY(:names)

-- name: ends
-- The same, and the newest entries of the tapes.
SELECT * FROM tape_ends(:names, :most, :most_bytes)

-- name: make
-- Tapes without entries, unless they exist.
INSERT INTO tape (name) SELECT unnest(:names ::text[]) ORDER BY 1 ON CONFLICT (name) DO NOTHING

-- name: lock
-- Let nobody else append to these tapes in this transaction; in sorted order, so that nobody waits
-- in a circle.
SELECT name FROM tape WHERE name = ANY(:names) ORDER BY name FOR NO KEY UPDATE

-- name: keyed
-- The block that an append with a key wrote.
SELECT first, count FROM append_key
WHERE tape = (SELECT tape FROM tape WHERE name = :tape) AND key = :key

-- name: append
SELECT tape_append(:tape, :before, :latest, :latest_id, :key, :first, :count, :ids, :kinds,
    :names, :authors, :lanes, :turns, :lates, :abouts, :payloads, :metas, :dates)

-- name: expects
-- A statement that has to change a number of rows.
WITH changed AS (:statement),
     checked AS (SELECT unit_expects(:unit_name, :unit_expected, (SELECT count(*) FROM changed)))
SELECT changed.* FROM checked LEFT JOIN changed ON true

-- name: find_tape
-- The number of a tape.
SELECT tape FROM tape WHERE name = :name

-- name: size
-- The number of entries of a tape.
SELECT size FROM tape WHERE name = :tape

-- name: block
-- Consecutive entries by id.
SELECT id, kind, payload, meta, date FROM entry
WHERE tape = (SELECT tape FROM tape WHERE name = :tape) AND id BETWEEN :first AND :last
ORDER BY id

-- name: tapes
-- Every tape with entries whose name starts with a prefix, with its size and newest date.
SELECT name, size, (SELECT date FROM entry WHERE entry.tape = t.tape AND id = t.size) AS last_date
FROM tape AS t
WHERE name >= :prefix AND starts_with(name, :prefix) AND size > 0
ORDER BY name

-- name: columns
-- The columns of a query. An index (`by_...`) follows, then the other conditions (`where_...`), one
-- per line, then the order.
SELECT id, kind, payload, meta, date FROM entry

-- name: by_place
WHERE tape = :tape AND id > :after AND id < :before

-- name: by_ids
-- Exactly these entries; the ids are a JSON list. It is cut before it is looked up: by a range of ids
-- beside it, a plan for any values would read the tape.
WHERE tape = :tape AND id = ANY (ARRAY(
    SELECT number::bigint FROM json_array_elements_text(:ids) AS number
    WHERE number::bigint > :after AND number::bigint < :before))

-- name: by_anchor
-- Anchors of any name; this and each of the following statements has its own index.
WHERE kind = 'anchor' AND tape = :tape AND id > :after AND id < :before

-- name: by_anchor_name
WHERE kind = 'anchor' AND name = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_anchor_lane
WHERE kind = 'anchor' AND lane = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_anchor_unlaned
WHERE kind = 'anchor' AND lane IS NULL AND tape = :tape AND id > :after AND id < :before

-- name: by_event_name
-- Events that a turn does not always write.
WHERE kind = 'event' AND name = :value AND name NOT IN
    ('turn.start', 'turn.end', 'loop.step', 'tool.done', 'outbound', 'send.receipt')
  AND tape = :tape AND id > :after AND id < :before

-- name: by_about
-- Events about these messages; the ids are a JSON list. The range is no condition of an index: by the
-- primary key's, a plan for any values would read the tape.
WHERE tape = :tape
  AND about = ANY (ARRAY(SELECT json_array_elements_text(:about)::double precision))
  AND id + 0 > :after AND id + 0 < :before

-- name: by_kind
-- Rare kinds.
WHERE kind = :value AND kind NOT IN ('message', 'event', 'anchor')
  AND tape = :tape AND id > :after AND id < :before

-- name: by_author
WHERE author = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_lane
WHERE lane = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_turn
WHERE turn = :value AND tape = :tape AND id > :after AND id < :before

-- name: where_kinds
-- Any of these kinds; a JSON list, as for names and authors.
AND kind = ANY (ARRAY(SELECT json_array_elements_text(:kinds)))

-- name: where_names
-- The names of anchors and events.
AND name = ANY (ARRAY(SELECT json_array_elements_text(:names)))

-- name: where_since
AND date >= :since

-- name: where_until
AND date < :until

-- name: where_unauthored
-- Entries without an author.
AND author IS NULL

-- name: where_authors
AND author = ANY (ARRAY(SELECT json_array_elements_text(:authors)))

-- name: where_lane
AND lane = :lane

-- name: where_lane_or_none
AND (lane = :lane OR lane IS NULL)

-- name: where_turn
AND turn = :turn

-- name: where_about
AND about = ANY (ARRAY(SELECT json_array_elements_text(:about)::double precision))

-- name: between_dates
-- Behind which id, and before which, the entries between two dates stand.
SELECT last_before(:tape, :since) AS after,
       greatest(
           last_before(:tape, :until),
           (SELECT block * 1024 + 1023 FROM late_block WHERE tape = :tape AND oldest < :until
            ORDER BY block DESC LIMIT 1)
       ) + 1 AS before

-- name: oldest_first
ORDER BY id ASC LIMIT nullif(:limit ::bigint, -1)

-- name: newest_first
ORDER BY id DESC LIMIT nullif(:limit ::bigint, -1)

-- name: oldest_placed
ORDER BY id ASC LIMIT nullif(:limit ::bigint, -1)

-- name: newest_placed
ORDER BY id DESC LIMIT nullif(:limit ::bigint, -1)
