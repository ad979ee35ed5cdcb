-- What /metrics counts: both read only the open rows, by their partial indexes.

-- name: open_messages
-- How many messages of each account have not ended, and how many of these are not on their tapes;
-- and when the oldest of each was accepted.
SELECT account_id, count(*) AS messages, min(received_at) AS oldest,
       count(*) FILTER (WHERE status = 'accepted') AS unplaced,
       min(received_at) FILTER (WHERE status = 'accepted') AS unplaced_oldest
FROM inbox INDEXED BY inbox_open -- left to itself, SQLite reads every row, in the order of accounts
WHERE status IN ('accepted', 'waiting', 'taken')
GROUP BY account_id

-- name: open_sends
-- How many messages of each account wait to be sent.
SELECT account_id, count(*) AS messages FROM outbox INDEXED BY outbox_open
WHERE status IN ('draft', 'pending', 'sending') AND status <> 'draft'
GROUP BY account_id

-- name: asked_at
-- When the newest question of a turn was accepted.
SELECT max(received_at) AS asked_at FROM inbox WHERE turn_id = :turn_id
