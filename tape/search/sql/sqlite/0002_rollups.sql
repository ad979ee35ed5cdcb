-- Counts of what is indexed of a tape: by the blocks of 1024 ids, and by the hours since 1970.
CREATE TABLE rollup (
    tape     INTEGER NOT NULL,
    grain    TEXT NOT NULL,
    slot     INTEGER NOT NULL,
    entries  INTEGER NOT NULL,
    said     INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    failed   INTEGER NOT NULL,
    refused  INTEGER NOT NULL,
    changed  INTEGER NOT NULL,
    anchors  INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    oldest   TEXT NOT NULL,
    newest   TEXT NOT NULL,
    PRIMARY KEY (tape, grain, slot)
) STRICT, WITHOUT ROWID;

-- The lanes of each block.
CREATE TABLE rollup_lane (
    tape    INTEGER NOT NULL,
    slot    INTEGER NOT NULL,
    lane    TEXT NOT NULL,
    entries INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    PRIMARY KEY (tape, slot, lane)
) STRICT, WITHOUT ROWID;
