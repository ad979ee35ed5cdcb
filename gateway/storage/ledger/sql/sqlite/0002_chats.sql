-- A session that goes on under another id: a group that became a supergroup.
CREATE TABLE alias (
    session_id TEXT PRIMARY KEY,
    same_as    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether the agent was ever asked in a lane.
CREATE INDEX inbox_asked ON inbox (session_id, lane) WHERE turn_id IS NOT NULL;
