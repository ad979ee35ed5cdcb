-- The thread of a message outlives its content: old rows are folded, that is, emptied of it.
ALTER TABLE inbox ADD COLUMN thread_id TEXT;
ALTER TABLE inbox ADD COLUMN folded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN thread_id TEXT;
ALTER TABLE outbox ADD COLUMN folded INTEGER NOT NULL DEFAULT 0;
UPDATE inbox SET thread_id = payload ->> '$.thread_id' WHERE payload ->> '$.thread_id' IS NOT NULL;
UPDATE outbox SET thread_id = payload ->> '$.thread_id' WHERE payload ->> '$.thread_id' IS NOT NULL;

DROP INDEX inbox_thread;
CREATE INDEX inbox_thread ON inbox (account_id, chat_id, received_at) WHERE thread_id IS NOT NULL;

-- Up to which row each table is folded.
CREATE TABLE folding (
    box   TEXT PRIMARY KEY,
    up_to INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a restore found open is held: `held_as` is the status to which a row returns.
ALTER TABLE inbox ADD COLUMN held_as TEXT;
ALTER TABLE outbox ADD COLUMN held_as TEXT;
CREATE INDEX inbox_held ON inbox (id) WHERE status = 'held';
CREATE INDEX outbox_held ON outbox (id) WHERE status = 'held';

-- When this database was restored, and of which moment the backup was.
CREATE TABLE restore (
    restored_at TEXT PRIMARY KEY,
    taken_at    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A workspace whose tapes have the names of another one's: a home that was restored elsewhere.
CREATE TABLE workspace (
    path    TEXT PRIMARY KEY,
    same_as TEXT NOT NULL
) STRICT, WITHOUT ROWID;
