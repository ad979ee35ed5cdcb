-- readable from: 1
-- The bot of an account, by its id on the platform: the ids of messages may be counted per bot, so the
-- rows of one bot are no other's.
ALTER TABLE account ADD COLUMN bot_id TEXT COLLATE "C" NOT NULL DEFAULT '';
