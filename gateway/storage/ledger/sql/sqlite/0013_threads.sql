-- Discord's threads in which something was said before private threads were chats of their own, and whether
-- everybody of the chat may read them: 1, 0, or NULL until Discord was asked.
CREATE TABLE old_thread (
    account_id TEXT NOT NULL,
    chat_id    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    thread_id  TEXT NOT NULL,
    open       INTEGER,
    PRIMARY KEY (session_id, thread_id)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO old_thread (account_id, chat_id, session_id, thread_id)
SELECT DISTINCT account_id, chat_id, coalesce(session_id, account_id || ':' || chat_id), payload ->> '$.thread_id'
FROM inbox
WHERE payload ->> '$.thread_id' IS NOT NULL AND account_id = 'discord';
