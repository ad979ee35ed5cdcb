-- How far chats' histories were read by a process that has not yet filled its gap: the chat's messages
-- are accepted up to complete_until, or "" if that is unknown; a reading that began at began_at came as
-- far as a thread, or "" if it has ended.
CREATE TABLE reading (
    account_id     TEXT NOT NULL,
    chat_id        TEXT NOT NULL,
    complete_until TEXT NOT NULL,
    began_at       TEXT NOT NULL,
    thread_id      TEXT NOT NULL,
    PRIMARY KEY (account_id, chat_id)
) STRICT, WITHOUT ROWID;
