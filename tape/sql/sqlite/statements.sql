-- name: find_tape
-- The number of a tape.
SELECT tape FROM tape WHERE name = :name

-- name: make_tape
-- A tape that has no entries yet.
INSERT INTO tape (name) VALUES (:name) RETURNING tape

-- name: newest
-- The latest date of a tape, the id of its newest entry, and the id of the entry with that date (the
-- newest one that is not late).
SELECT dated.date, newest.id, dated.id
FROM entry AS newest
CROSS JOIN entry AS dated ON dated.pos = :tape * 4294967296 + coalesce(newest.late, newest.id)
WHERE newest.pos BETWEEN :tape * 4294967296 AND :tape * 4294967296 + 4294967295
ORDER BY newest.pos DESC LIMIT 1

-- name: newest_id
-- The id of the newest entry of a tape; 0 if it has none.
SELECT coalesce(max(pos), :tape * 4294967296) - :tape * 4294967296
FROM entry
WHERE pos BETWEEN :tape * 4294967296 AND :tape * 4294967296 + 4294967295

-- name: add_entry
-- One entry at the end of a tape.
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, late, payload, meta, date)
VALUES (?1 * 4294967296 + ?2, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)

-- name: add_late
-- An entry dated before an earlier one.
INSERT INTO late_block (tape, block, oldest) VALUES (:tape, :id / 1024, :date)
ON CONFLICT DO UPDATE SET oldest = excluded.oldest WHERE excluded.oldest < oldest

-- name: find_key
-- The block that an append with this key wrote.
SELECT first, count FROM append_key WHERE tape = :tape AND key = :key

-- name: add_key
-- The block of an append with a key.
INSERT INTO append_key (tape, key, first, count) VALUES (:tape, :key, :first, :count)

-- name: anchored
-- An entry with which a tape needs no bootstrap, if there is one: an anchor, or a fork's beginning.
SELECT 1 FROM entry WHERE tape = :tape AND kind = 'anchor'
UNION ALL
SELECT 1 FROM entry WHERE pos = :tape * 4294967296 + 1 AND name = 'fork.open'
LIMIT 1

-- name: block
-- Consecutive entries by id.
SELECT id, kind, payload, meta, date FROM entry
WHERE pos BETWEEN :tape * 4294967296 + :first AND :tape * 4294967296 + :last
ORDER BY pos

-- name: tapes
-- Every tape whose name starts with a prefix, with its size and newest date.
SELECT name,
       (SELECT coalesce(max(pos), t.tape * 4294967296) - t.tape * 4294967296 FROM entry
        WHERE pos BETWEEN t.tape * 4294967296 AND t.tape * 4294967296 + 4294967295) AS size,
       (SELECT date FROM entry
        WHERE pos BETWEEN t.tape * 4294967296 AND t.tape * 4294967296 + 4294967295
        ORDER BY pos DESC LIMIT 1) AS last_date
FROM tape AS t
WHERE name >= :prefix AND name < :prefix || char(1114111)
ORDER BY name

-- name: rename
-- Let a staging tape become a tape, or a replaced tape a staging tape.
UPDATE tape SET name = :name WHERE tape = :tape

-- name: take_keys
-- The keys of the tape that a longer one replaces.
INSERT INTO append_key (tape, key, first, count)
SELECT :tape, key, first, count FROM append_key WHERE tape = :old

-- name: copy_entries
-- The next entries of a tape, to the staging tape that continues it.
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, late, payload, meta, date)
SELECT :tape * 4294967296 + id, :tape, id, kind, name, author, lane, turn, late, payload, meta, date
FROM entry
WHERE pos > :old * 4294967296 + :after AND pos <= :old * 4294967296 + :after + :most
ORDER BY pos
RETURNING id

-- name: copy_late
INSERT INTO late_block (tape, block, oldest)
SELECT :tape, block, oldest FROM late_block WHERE tape = :old

-- name: drop_entries
-- Remove some entries of a staging tape.
DELETE FROM entry WHERE pos IN (
    SELECT pos FROM entry
    WHERE pos BETWEEN :tape * 4294967296 AND :tape * 4294967296 + 4294967295
    ORDER BY pos DESC LIMIT :most
)
RETURNING id

-- name: forget_late
DELETE FROM late_block WHERE tape = :tape

-- name: forget_keys
DELETE FROM append_key WHERE tape = :tape

-- name: forget_tape
DELETE FROM tape WHERE tape = :tape

-- name: columns
-- The columns of a query. An index (`by_...`) follows, then the other conditions (`where_...`), one
-- per line, then the order.
SELECT id, kind, payload, meta, date FROM entry

-- name: by_place
WHERE pos > :tape * 4294967296 + :after AND pos < :tape * 4294967296 + :before

-- name: by_ids
-- Exactly these entries; the ids are a JSON list.
WHERE pos IN (SELECT :tape * 4294967296 + value FROM json_each(:ids))
  AND id > :after AND id < :before

-- name: by_anchor
-- Anchors of any name; this and each of the following statements has its own index.
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
-- Events that a turn does not always write.
WHERE kind = 'event' AND name = :value AND name NOT IN
    ('turn.start', 'turn.end', 'loop.step', 'tool.done', 'outbound', 'send.receipt')
  AND tape = :tape AND id > :after AND id < :before

-- name: by_about
-- Events about these messages; the ids are a JSON list.
WHERE kind = 'event' AND name IN ('message.delete', 'message.edit', 'message.media')
  AND tape = :tape AND payload ->> '$.data.entry' IN (SELECT value FROM json_each(:about))
  AND id > :after AND id < :before

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
AND kind IN (SELECT value FROM json_each(:kinds))

-- name: where_names
-- The names of anchors and events.
AND name IN (SELECT value FROM json_each(:names))

-- name: where_since
AND date >= :since

-- name: where_until
AND date < :until

-- name: where_unauthored
-- Entries without an author.
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
-- A substring of the entry's text; the store defines the function.
AND entry_says(kind, payload, :text)

-- name: dated
-- The last entry up to an id that is not late: such entries are in date order.
SELECT dated.id, dated.date
FROM entry AS last
CROSS JOIN entry AS dated ON dated.pos = :tape * 4294967296 + coalesce(last.late, last.id)
WHERE last.pos = :tape * 4294967296 + :id

-- name: last_late
-- An id after which no late entry is dated before a date.
SELECT (
    SELECT block * 1024 + 1023 FROM late_block WHERE tape = :tape AND oldest < :date
    ORDER BY block DESC LIMIT 1
)

-- name: oldest_first
-- By id, the last column of the indexes of anchors, lanes and turns.
ORDER BY id ASC LIMIT :limit

-- name: newest_first
ORDER BY id DESC LIMIT :limit

-- name: oldest_placed
-- By rowid, the order of the table: ordered by id, all rows would be sorted.
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
-- The dates of entries by rowid; the rowids are a JSON list.
SELECT pos, date FROM entry WHERE pos IN (SELECT value FROM json_each(:places))
