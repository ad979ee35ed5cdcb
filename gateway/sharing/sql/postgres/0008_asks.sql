-- Whether somebody waits for what was added to a session since it was last given back: such a session
-- is claimed before those in which people only talk.
ALTER TABLE session ADD COLUMN asks BIGINT NOT NULL DEFAULT 0;
CREATE INDEX session_asking ON session (asks, ready_at) WHERE ready_at <> '' AND owner = '';
DROP INDEX session_ready;
