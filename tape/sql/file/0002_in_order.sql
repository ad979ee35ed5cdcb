-- The oldest date among the late ones of each 1024 ids: it tells behind which id none is older.
CREATE TABLE late_block (
    tape   INTEGER NOT NULL REFERENCES tape (tape),
    block  INTEGER NOT NULL,
    oldest TEXT NOT NULL,
    PRIMARY KEY (tape, block)
) STRICT, WITHOUT ROWID;

INSERT INTO late_block (tape, block, oldest)
SELECT tape, id / 1024, min(date) FROM entry WHERE late = 1 GROUP BY tape, id / 1024;

-- `late` becomes the id of the entry that a late one stands behind: the last that is in the order of
-- the dates. So that one is found at once, also where a date of the future makes all others late.
UPDATE entry SET late = found.before FROM (
    SELECT pos, max(CASE WHEN late IS NULL THEN id END) OVER (
        PARTITION BY tape ORDER BY id
    ) AS before
    FROM entry WHERE tape IN (SELECT tape FROM entry WHERE late = 1)
) AS found
WHERE entry.pos = found.pos AND entry.late = 1;

DROP INDEX entry_late;
