-- What goes on in rooms right now, from the process where it happens to those with listeners. A
-- crash of the server may empty it: who listens sees drafts and people once more when they change.

-- `place` is a channel and a room; '' is for what concerns every room. `sent_to` is everybody (''),
-- 'owners' or a person. Each write gives a row a new `version`. Rows end with their process, and
-- some before (`until`).
CREATE SEQUENCE room_version;
CREATE UNLOGGED TABLE room_now (
    place TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    sent_to TEXT COLLATE "C" NOT NULL,
    until TEXT COLLATE "C" NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (place, kind, key)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
