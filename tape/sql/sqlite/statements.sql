-- name: find_tape
-- The number of a tape.
SELECT tape FROM tape WHERE name = :name

-- name: make_tape
-- A tape that has no entries yet.
INSERT INTO tape (name) VALUES (:name) RETURNING tape

-- name: newest
-- The date by which new entries of a tape are judged, the id of the newest entry, and the id of the
-- one that is dated so: the newest that is not late.
SELECT dated.date, newest.id, dated.id
FROM entry AS newest
CROSS JOIN entry AS dated ON dated.pos = :tape * 4294967296 + coalesce(newest.late, newest.id)
WHERE newest.pos BETWEEN :tape * 4294967296 AND :tape * 4294967296 + 4294967295
ORDER BY newest.pos DESC LIMIT 1

-- name: newest_id
-- The id of the newest entry of a tape; 0 where it has none.
SELECT coalesce(max(pos), :tape * 4294967296) - :tape * 4294967296
FROM entry
WHERE pos BETWEEN :tape * 4294967296 AND :tape * 4294967296 + 4294967295

-- name: add_entry
-- One entry at the end of a tape.
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, late, payload, meta, date)
VALUES (?1 * 4294967296 + ?2, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)

-- name: add_late
-- One of the late entries: it may be the oldest among its neighbours.
INSERT INTO late_block (tape, block, oldest) VALUES (:tape, :id / 1024, :date)
ON CONFLICT DO UPDATE SET oldest = excluded.oldest WHERE excluded.oldest < oldest

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

-- name: columns
-- What a query reads; one of the ways to its entries follows (`by_...`), then the other conditions
-- that it has (`where_...`), one a line, then its order.
SELECT id, kind, payload, meta, date FROM entry

-- name: by_place
WHERE pos > :tape * 4294967296 + :after AND pos < :tape * 4294967296 + :before

-- name: by_ids
-- Exactly these entries: the ids as a JSON list.
WHERE pos IN (SELECT :tape * 4294967296 + value FROM json_each(:ids))
  AND id > :after AND id < :before

-- name: by_anchor
-- Anchors of any name, by an index of their own, as for each of the ways below.
WHERE kind = 'anchor' AND tape = :tape AND id > :after AND id < :before

-- name: by_anchor_name
WHERE kind = 'anchor' AND name = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_anchor_lane
INDEXED BY entry_anchor_lane
WHERE kind = 'anchor' AND lane = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_anchor_unlaned
INDEXED BY entry_anchor_lane
WHERE kind = 'anchor' AND lane IS NULL AND tape = :tape AND id > :after AND id < :before

-- name: by_event_name
-- Events that not every turn leaves.
WHERE kind = 'event' AND name = :value AND name NOT IN
    ('turn.start', 'turn.end', 'loop.step', 'tool.done', 'outbound', 'send.receipt')
  AND tape = :tape AND id > :after AND id < :before

-- name: by_about
-- What became of these messages: the ids as a JSON list.
WHERE kind = 'event' AND name IN ('message.delete', 'message.edit', 'message.media')
  AND tape = :tape AND payload ->> '$.data.entry' IN (SELECT value FROM json_each(:about))
  AND id > :after AND id < :before

-- name: by_kind
-- The kinds that are few.
WHERE kind = :value AND kind NOT IN ('message', 'event', 'anchor')
  AND tape = :tape AND id > :after AND id < :before

-- name: by_author
WHERE author = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_lane
WHERE lane = :value AND tape = :tape AND id > :after AND id < :before

-- name: by_turn
WHERE turn = :value AND tape = :tape AND id > :after AND id < :before

-- name: where_kinds
-- Any of these kinds: a JSON list, as for names and authors.
AND kind IN (SELECT value FROM json_each(:kinds))

-- name: where_names
-- The names of anchors and events.
AND name IN (SELECT value FROM json_each(:names))

-- name: where_since
AND date >= :since

-- name: where_until
AND date < :until

-- name: where_unauthored
-- Not what people said.
AND author IS NULL

-- name: where_authors
AND author IN (SELECT value FROM json_each(:authors))

-- name: where_lane
AND lane = :lane

-- name: where_lane_or_none
AND (lane = :lane OR lane IS NULL)

-- name: where_turn
AND turn = :turn

-- name: where_about
AND kind = 'event' AND name IN ('message.delete', 'message.edit', 'message.media')
AND payload ->> '$.data.entry' IN (SELECT value FROM json_each(:about))

-- name: where_text
-- A piece of the entry's text; the function is the program's own.
AND entry_says(kind, payload, :text)

-- name: dated
-- The last entry up to a place that is not late: those are in the order of their dates.
SELECT dated.id, dated.date
FROM entry AS last
CROSS JOIN entry AS dated ON dated.pos = :tape * 4294967296 + coalesce(last.late, last.id)
WHERE last.pos = :tape * 4294967296 + :id

-- name: last_late
-- Behind this id no entry is late and dated before this.
SELECT (
    SELECT block * 1024 + 1023 FROM late_block WHERE tape = :tape AND oldest < :date
    ORDER BY block DESC LIMIT 1
)

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

-- name: newest_ids
-- Every tape with the id of its newest entry.
SELECT tape, name,
       (SELECT coalesce(max(pos), t.tape * 4294967296) - t.tape * 4294967296 FROM entry
        WHERE pos BETWEEN t.tape * 4294967296 AND t.tape * 4294967296 + 4294967295) AS newest
FROM tape AS t

-- name: dates_at
-- The dates of entries by their places: a JSON list.
SELECT pos, date FROM entry WHERE pos IN (SELECT value FROM json_each(:places))
