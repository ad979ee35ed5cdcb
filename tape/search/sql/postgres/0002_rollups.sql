-- Counts of what is indexed of a tape: by the blocks of 1024 ids, and by the hours since 1970.
CREATE TABLE rollup (
    tape     BIGINT NOT NULL,
    grain    TEXT COLLATE "C" NOT NULL,
    slot     BIGINT NOT NULL,
    entries  BIGINT NOT NULL,
    said     BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    failed   BIGINT NOT NULL,
    refused  BIGINT NOT NULL,
    changed  BIGINT NOT NULL,
    anchors  BIGINT NOT NULL,
    first    BIGINT NOT NULL,
    last     BIGINT NOT NULL,
    oldest   TEXT COLLATE "C" NOT NULL,
    newest   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tape, grain, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- The lanes of each block.
CREATE TABLE rollup_lane (
    tape    BIGINT NOT NULL,
    slot    BIGINT NOT NULL,
    lane    TEXT COLLATE "C" NOT NULL,
    entries BIGINT NOT NULL,
    first   BIGINT NOT NULL,
    last    BIGINT NOT NULL,
    PRIMARY KEY (tape, slot, lane)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
