-- readable from: 1
-- How far chats' histories were read by a process that has not yet filled its gap: the chat's messages
-- are accepted up to complete_until, or "" if that is unknown; a reading that began at began_at came as
-- far as a thread, or "" if it has ended.
CREATE TABLE reading (
    account_id TEXT COLLATE "C" NOT NULL,
    chat_id TEXT COLLATE "C" NOT NULL,
    complete_until TEXT COLLATE "C" NOT NULL,
    began_at TEXT COLLATE "C" NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, chat_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
