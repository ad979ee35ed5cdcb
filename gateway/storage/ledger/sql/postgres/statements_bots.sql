-- name: known_bot
-- The bot of an account, if it has received anything, or nothing if it is not known.
SELECT bot_id FROM account
WHERE account_id = :account_id AND bot_id <> ''
  AND EXISTS (SELECT 1 FROM inbox WHERE inbox.account_id = account.account_id)

-- name: know_bot
-- Another bot takes the place of one that has received nothing.
INSERT INTO account (account_id, channel, bot_id) VALUES (:account_id, :account_id, :bot_id)
ON CONFLICT (account_id) DO UPDATE SET bot_id = excluded.bot_id
WHERE account.bot_id = ''
   OR NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.account_id = account.account_id)
