-- Erasures, on record before anything is erased: one that was cut off is finished at the next start.
-- What they are about is gone from `data` when they are done; `found` lists the entries of others that
-- may still mention it.
CREATE TABLE erasure (
    erasure_id TEXT PRIMARY KEY,
    what       TEXT NOT NULL,
    asked_by   TEXT NOT NULL,
    asked_at   TEXT NOT NULL,
    data       TEXT NOT NULL,
    state      TEXT NOT NULL,
    entries    INTEGER NOT NULL DEFAULT 0,
    found      TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;
