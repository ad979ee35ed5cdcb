-- When a message went through each joint of its way, in UTC: a turn took it; the turn's first text came
-- from the model; the answer was committed; its send began; the platform's confirmation was recorded.
-- Rows from before have none of these dates, and neither have those of a program that knows none.
ALTER TABLE inbox ADD COLUMN taken_at TEXT;
ALTER TABLE outbox ADD COLUMN first_text_at TEXT;
ALTER TABLE outbox ADD COLUMN pending_at TEXT;
ALTER TABLE outbox ADD COLUMN sending_at TEXT;
ALTER TABLE outbox ADD COLUMN sent_at TEXT;
