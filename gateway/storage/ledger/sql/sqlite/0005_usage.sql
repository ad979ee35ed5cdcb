-- What each turn used, by model: the tokens that the provider reported, and what they cost by the
-- prices in the settings of that day. `input` leaves out the cached tokens.
CREATE TABLE usage (
    turn_id    TEXT NOT NULL,
    model      TEXT NOT NULL,
    day        TEXT NOT NULL,
    session_id TEXT NOT NULL,
    person     TEXT NOT NULL,
    name       TEXT NOT NULL,
    calls      INTEGER NOT NULL,
    input      INTEGER NOT NULL,
    cached     INTEGER NOT NULL,
    output     INTEGER NOT NULL,
    cost       REAL NOT NULL,
    PRIMARY KEY (turn_id, model)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_day ON usage (day);
