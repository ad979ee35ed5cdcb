-- name: find_tape
-- The number of a tape.
SELECT tape FROM tape WHERE name = :name

-- name: make_tape
-- A tape that has no entries yet.
INSERT INTO tape (name) VALUES (:name) RETURNING tape

-- name: newest_id
-- The id of the newest entry of a tape; 0 where it has none.
SELECT coalesce(max(pos), :tape * 4294967296) - :tape * 4294967296
FROM entry
WHERE pos BETWEEN :tape * 4294967296 AND :tape * 4294967296 + 4294967295

-- name: add_entry
-- One entry at the end of a tape.
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, payload, meta, date)
VALUES (?1 * 4294967296 + ?2, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)

-- name: find_key
-- The block that an append with this key wrote.
SELECT first, count FROM append_key WHERE tape = :tape AND key = :key

-- name: add_key
-- Remember the block of an append with a key.
INSERT INTO append_key (tape, key, first, count) VALUES (:tape, :key, :first, :count)

-- name: block
-- A run of entries by their ids.
SELECT id, kind, payload, meta, date FROM entry
WHERE pos BETWEEN :tape * 4294967296 + :first AND :tape * 4294967296 + :last
ORDER BY pos

-- name: tapes
-- Every tape whose name begins with a prefix, with its size and newest date.
SELECT name,
       (SELECT coalesce(max(pos), t.tape * 4294967296) - t.tape * 4294967296 FROM entry
        WHERE pos BETWEEN t.tape * 4294967296 AND t.tape * 4294967296 + 4294967295) AS size,
       (SELECT date FROM entry
        WHERE pos BETWEEN t.tape * 4294967296 AND t.tape * 4294967296 + 4294967295
        ORDER BY pos DESC LIMIT 1) AS last_date
FROM tape AS t
WHERE name >= :prefix AND name < :prefix || char(1114111)
ORDER BY name

-- name: query
-- The head of a query; the conditions that a query asks for follow, one a line, then its order.
SELECT id, kind, payload, meta, date FROM entry
WHERE pos > :tape * 4294967296 + :after AND pos < :tape * 4294967296 + :before

-- name: query_ids
-- Exactly these entries: the ids as a JSON list.
SELECT id, kind, payload, meta, date FROM entry
WHERE pos IN (SELECT :tape * 4294967296 + value FROM json_each(:ids))
  AND id > :after AND id < :before

-- name: query_anchors
-- Anchors, by their own index.
SELECT id, kind, payload, meta, date FROM entry
WHERE kind = 'anchor' AND tape = :tape AND id > :after AND id < :before

-- name: query_deleted
-- What was deleted, by its own index.
SELECT id, kind, payload, meta, date FROM entry
WHERE kind = 'event' AND name = 'message.delete' AND tape = :tape AND id > :after AND id < :before

-- name: query_lane
-- One lane, by its own index.
SELECT id, kind, payload, meta, date FROM entry
WHERE lane = :lane AND tape = :tape AND id > :after AND id < :before

-- name: query_turn
-- One turn, by its own index.
SELECT id, kind, payload, meta, date FROM entry
WHERE turn = :turn AND tape = :tape AND id > :after AND id < :before

-- name: where_kinds
-- Any of these kinds: a JSON list.
AND kind IN (SELECT value FROM json_each(:kinds))

-- name: where_name
-- The name of an anchor or an event.
AND name = :name

-- name: where_since
AND date >= :since

-- name: where_until
AND date < :until

-- name: where_unauthored
-- Not what people said.
AND author IS NULL

-- name: where_author
AND author = :author

-- name: where_lane
AND lane = :lane

-- name: where_lane_or_none
AND (lane = :lane OR lane IS NULL)

-- name: where_turn
AND turn = :turn

-- name: where_text
-- A piece of the entry's text; the function is the program's own.
AND entry_says(kind, payload, :text)

-- name: oldest_first
-- By id, in which the indexes of anchors, lanes and turns end.
ORDER BY id ASC LIMIT :limit

-- name: newest_first
ORDER BY id DESC LIMIT :limit

-- name: oldest_placed
-- By place, in which the table itself is read: ordered by id, all that is found would be sorted.
ORDER BY pos ASC LIMIT :limit

-- name: newest_placed
ORDER BY pos DESC LIMIT :limit
