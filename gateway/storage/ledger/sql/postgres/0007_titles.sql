-- readable from: 1
-- What the people of a room of the page call it; `person` is `channel:person`, `entry_id` the event of
-- the tape that says so. Without a row, or with an empty title, a room has its id.
CREATE TABLE chat_title (
    session_id TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    entry_id BIGINT NOT NULL,
    PRIMARY KEY (session_id)
);
