-- What each person may still use in a chat on a day: the turns that began, and the questions that
-- were refused because the budget was used up. Who has no limit has no row.
CREATE TABLE budget (
    day        TEXT NOT NULL,
    person     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    turns      INTEGER NOT NULL DEFAULT 0,
    refused    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, person, session_id)
) STRICT, WITHOUT ROWID;

-- Of a turn's calls, those whose tokens the server did not report: they are estimated.
ALTER TABLE usage ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
