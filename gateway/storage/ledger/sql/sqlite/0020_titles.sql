-- What the people of a room of the page call it; `person` is `channel:person`, `entry_id` the event of
-- the tape that says so. Without a row, or with an empty title, a room has its id.
CREATE TABLE chat_title (
    session_id TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    person     TEXT NOT NULL,
    entry_id   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
