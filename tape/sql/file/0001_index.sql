-- Where the entries of tapes stand in their files, and what queries go by. The files are the truth:
-- this can be thrown away at any time, and is made again from them.

CREATE TABLE tape (
    tape  INTEGER PRIMARY KEY,
    name  TEXT NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    sum   BLOB NOT NULL
) STRICT;

CREATE TABLE entry (
    pos    INTEGER PRIMARY KEY,
    tape   INTEGER NOT NULL REFERENCES tape (tape),
    id     INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    name   TEXT,
    author TEXT,
    lane   TEXT,
    turn   TEXT,
    about  INTEGER,
    late   INTEGER,
    date   TEXT NOT NULL,
    place  INTEGER NOT NULL,
    size   INTEGER NOT NULL,
    CHECK (pos = tape * 4294967296 + id)
) STRICT;

CREATE INDEX entry_anchor ON entry (tape, name, id) WHERE kind = 'anchor';
CREATE INDEX entry_anchor_order ON entry (tape, id) WHERE kind = 'anchor';
CREATE INDEX entry_lane ON entry (tape, lane, id) WHERE lane IS NOT NULL;
CREATE INDEX entry_turn ON entry (turn, tape, id) WHERE turn IS NOT NULL;
CREATE INDEX entry_author ON entry (tape, author, id) WHERE author IS NOT NULL;
CREATE INDEX entry_event ON entry (tape, name, id) WHERE kind = 'event' AND name NOT IN
    ('turn.start', 'turn.end', 'loop.step', 'tool.done', 'outbound', 'send.receipt');
CREATE INDEX entry_kind ON entry (tape, kind, id) WHERE kind NOT IN ('message', 'event', 'anchor');
CREATE INDEX entry_about ON entry (tape, about, id) WHERE about IS NOT NULL;
CREATE INDEX entry_late ON entry (tape, date, id) WHERE late = 1;

CREATE TABLE append_key (
    tape  INTEGER NOT NULL REFERENCES tape (tape),
    key   TEXT NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (tape, key)
) STRICT, WITHOUT ROWID;
