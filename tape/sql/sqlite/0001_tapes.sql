-- Tapes and their entries. An entry's place is its tape and its id in one integer, so that a tape
-- lies together on the disk and its newest entry is one seek away.

CREATE TABLE tape (
    tape INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE entry (
    pos     INTEGER PRIMARY KEY,
    tape    INTEGER NOT NULL REFERENCES tape (tape),
    id      INTEGER NOT NULL CHECK (id BETWEEN 1 AND 4294967295),
    kind    TEXT NOT NULL,
    name    TEXT,
    author  TEXT,
    lane    TEXT,
    turn    TEXT,
    payload TEXT NOT NULL,
    meta    TEXT NOT NULL,
    date    TEXT NOT NULL,
    CHECK (pos = tape * 4294967296 + id)
) STRICT;

CREATE INDEX entry_anchor ON entry (tape, name, id) WHERE kind = 'anchor';
CREATE INDEX entry_anchor_order ON entry (tape, id) WHERE kind = 'anchor';
CREATE INDEX entry_lane ON entry (tape, lane, id) WHERE lane IS NOT NULL;
CREATE INDEX entry_turn ON entry (turn, tape, id) WHERE turn IS NOT NULL;

-- A key of an append and the block that it wrote.
CREATE TABLE append_key (
    tape  INTEGER NOT NULL REFERENCES tape (tape),
    key   TEXT NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tape, key)
) STRICT, WITHOUT ROWID;

-- History is append-only, whoever holds the connection. The third trigger stops INSERT OR REPLACE,
-- which the first two do not see, and every gap.
CREATE TRIGGER entry_never_updated BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: an entry is never changed'); END;

CREATE TRIGGER entry_never_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: an entry is never removed'); END;

CREATE TRIGGER entry_in_order BEFORE INSERT ON entry
WHEN NEW.id IS NOT (
    SELECT coalesce(max(pos), NEW.tape * 4294967296) - NEW.tape * 4294967296 + 1
    FROM entry
    WHERE pos BETWEEN NEW.tape * 4294967296 AND NEW.tape * 4294967296 + 4294967295
)
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: the next id is the newest plus one'); END;

CREATE TRIGGER tape_never_updated BEFORE UPDATE ON tape
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: it is never renamed'); END;

CREATE TRIGGER tape_never_deleted BEFORE DELETE ON tape
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: it is never removed'); END;

CREATE TRIGGER tape_never_replaced BEFORE INSERT ON tape
WHEN EXISTS (SELECT 1 FROM tape WHERE tape = NEW.tape OR name = NEW.name)
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: it is never replaced'); END;

CREATE TRIGGER append_key_never_updated BEFORE UPDATE ON append_key
BEGIN SELECT RAISE(ABORT, 'a key of an append is never changed'); END;

CREATE TRIGGER append_key_never_deleted BEFORE DELETE ON append_key
BEGIN SELECT RAISE(ABORT, 'a key of an append is never removed'); END;

CREATE TRIGGER append_key_never_replaced BEFORE INSERT ON append_key
WHEN EXISTS (SELECT 1 FROM append_key WHERE tape = NEW.tape AND key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'a key of an append is never replaced'); END;
