-- A message with buttons. It can be answered once, until it expires, by the person it was made for;
-- if `person` is empty, whoever handles its purpose decides who may answer.
CREATE TABLE card (
    card_id    TEXT PRIMARY KEY,
    purpose    TEXT NOT NULL,
    channel    TEXT NOT NULL,
    person     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    data       TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    choice     TEXT,
    chosen_by  TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX card_open ON card (expires_at) WHERE choice IS NULL;
