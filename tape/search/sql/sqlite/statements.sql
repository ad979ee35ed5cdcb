-- name: version
-- By which rules the index was made.
SELECT value FROM about WHERE key = 'version'

-- name: set_version
INSERT INTO about (key, value) VALUES ('version', :version)

-- name: covered
-- Which part of a tape is in the index.
SELECT tape, low, high FROM covered WHERE name = :name

-- name: all_covered
SELECT tape, name, low, high, mark FROM covered

-- name: cover
-- From here on a part of this tape is in the index.
INSERT INTO covered (tape, name, low, high, mark) VALUES (:tape, :name, :low, :low - 1, '')

-- name: cover_newer
UPDATE covered SET high = :high, mark = :mark WHERE tape = :tape

-- name: cover_older
UPDATE covered SET low = :low WHERE tape = :tape

-- name: add_span
INSERT INTO span (tape, block, oldest, newest) VALUES (:tape, :block, :oldest, :newest)
ON CONFLICT DO UPDATE
SET oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)

-- name: spans
-- The parts of a tape in which an entry may have a date between two, newest first.
SELECT block FROM span
WHERE tape = :tape AND newest >= :since AND oldest < :until
ORDER BY block DESC

-- name: add_talk
INSERT INTO talk (rowid, text, pairs, who, tags) VALUES (?, ?, ?, ?, ?)

-- name: add_work
INSERT INTO work (rowid, text, pairs, who, tags) VALUES (?, ?, ?, ?, ?)

-- name: find_talk
-- The places of the newest entries that match.
SELECT rowid FROM talk
WHERE talk MATCH :match AND rowid BETWEEN :first AND :last
ORDER BY rowid DESC LIMIT :limit

-- name: find_work
SELECT rowid FROM work
WHERE work MATCH :match AND rowid BETWEEN :first AND :last
ORDER BY rowid DESC LIMIT :limit

-- name: forget_talk
DELETE FROM talk WHERE rowid = ?

-- name: forget_work
DELETE FROM work WHERE rowid = ?

-- name: clear_talk
-- A tape that a longer one has replaced.
DELETE FROM talk WHERE rowid BETWEEN :first AND :last

-- name: clear_work
DELETE FROM work WHERE rowid BETWEEN :first AND :last

-- name: clear_span
DELETE FROM span WHERE tape = :tape

-- name: uncover
DELETE FROM covered WHERE tape = :tape

-- name: settle_talk
-- Write the index anew: words of entries that were forgotten are gone from the file, too.
INSERT INTO talk (talk) VALUES ('optimize')

-- name: settle_work
INSERT INTO work (work) VALUES ('optimize')
