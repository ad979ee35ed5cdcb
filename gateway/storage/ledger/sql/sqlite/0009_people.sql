-- The short number by which a chat's views name a person. It is never given to somebody else.
CREATE TABLE person (
    session_id TEXT NOT NULL,
    person     TEXT NOT NULL,
    number     INTEGER NOT NULL,
    PRIMARY KEY (session_id, person),
    UNIQUE (session_id, number)
) STRICT, WITHOUT ROWID;
