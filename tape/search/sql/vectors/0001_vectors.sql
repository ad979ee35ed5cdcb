-- What entries mean, as an embedder sees it, in a file of its own beside the database: whatever is
-- here can be made again, at the embedder's price.

CREATE TABLE about (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which entries of a tape have been looked at: all from `low` to `high`.
CREATE TABLE covered (
    tape INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    low  INTEGER NOT NULL,
    high INTEGER NOT NULL
) STRICT;

-- A vector of length one, as half floats, and the signs of its numbers, one bit each: by these the
-- candidates are found quickly.
CREATE TABLE vector (
    tape  INTEGER NOT NULL,
    id    INTEGER NOT NULL,
    signs BLOB NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (tape, id)
) STRICT;

-- The signs alone lie together, so that many are read fast.
CREATE INDEX vector_signs ON vector (tape, id, signs);
