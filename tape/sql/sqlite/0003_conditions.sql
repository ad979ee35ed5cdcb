-- What queries go by: authors, the kinds that are few, and the events that not every turn leaves
-- (an index of those is written with every turn and hardly ever asked).
CREATE INDEX entry_author ON entry (tape, author, id) WHERE author IS NOT NULL;
CREATE INDEX entry_event ON entry (tape, name, id) WHERE kind = 'event' AND name NOT IN
    ('turn.start', 'turn.end', 'loop.step', 'tool.done', 'outbound', 'send.receipt');
CREATE INDEX entry_kind ON entry (tape, kind, id) WHERE kind NOT IN ('message', 'event', 'anchor');
DROP INDEX entry_deleted;

-- `late` marks an entry that is dated before one that stands before it (a fork's, an import's). The
-- others are in the order of their dates, so that a date is found on a tape by halving.
ALTER TABLE entry ADD COLUMN late INTEGER;

DROP TRIGGER entry_never_updated;

UPDATE entry SET late = 1 WHERE pos IN (
    SELECT pos FROM (
        SELECT pos, date, max(date) OVER (
            PARTITION BY tape ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS newest
        FROM entry
    ) WHERE date < newest
);

CREATE TRIGGER entry_never_updated BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: an entry is never changed'); END;

CREATE INDEX entry_late ON entry (tape, date, id) WHERE late = 1;
