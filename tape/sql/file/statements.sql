-- Only the statements that differ from those of the SQLite store, which the index uses otherwise.

-- name: make_tape
-- A tape whose file has not been read.
INSERT INTO tape (name, bytes, sum) VALUES (:name, 0, CAST('0000000000000000' AS BLOB))
RETURNING tape

-- name: mark
-- The checkpoint of a tape's file.
SELECT bytes, sum FROM tape WHERE tape = :tape

-- name: set_mark
UPDATE tape SET bytes = :bytes, sum = :sum WHERE tape = :tape

-- name: marks
-- The size of each tape's file at its checkpoint.
SELECT name, bytes FROM tape

-- name: add_entry
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, about, late, date, place, size)
VALUES (?1 * 4294967296 + ?2, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)

-- name: copy_entries
-- The next entries of a tape, whose lines stand in the copy of its file where they stand in the file.
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, about, late, date, place, size)
SELECT :tape * 4294967296 + id, :tape, id, kind, name, author, lane, turn, about, late, date,
       place, size
FROM entry
WHERE pos > :old * 4294967296 + :after AND pos <= :old * 4294967296 + :after + :most
ORDER BY pos
RETURNING id

-- name: by_about
WHERE about IN (SELECT value FROM json_each(:about))
  AND tape = :tape AND id > :after AND id < :before

-- name: where_about
AND about IN (SELECT value FROM json_each(:about))

-- name: block
SELECT id, place, size FROM entry
WHERE pos BETWEEN :tape * 4294967296 + :first AND :tape * 4294967296 + :last
ORDER BY pos

-- name: forget_entries
-- The file is another one than it was.
DELETE FROM entry
WHERE pos BETWEEN :tape * 4294967296 AND :tape * 4294967296 + 4294967295

-- name: columns
SELECT id, place, size FROM entry

-- name: where_text
AND line_says(place, size, :text)
