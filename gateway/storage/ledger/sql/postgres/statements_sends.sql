-- name: sent_keys
-- The keys of a chat's newest sends and drafts; only recent ones are looked at.
SELECT idem FROM outbox
WHERE id > (SELECT coalesce(max(id), 0) - 2000 FROM outbox)
  AND account_id = :account_id AND chat_id = :chat_id
ORDER BY id DESC LIMIT 100

-- name: begun
-- Whether there was a draft of a message (its op says so), and how often it was tried.
SELECT op, attempts FROM outbox WHERE idem = :idem

-- name: last_sent
-- The newest message that a platform has, of one channel; only recent ones are looked at.
SELECT payload, platform_id FROM outbox
WHERE id > (SELECT coalesce(max(id), 0) - 2000 FROM outbox)
  AND status = 'sent' AND platform_id IS NOT NULL AND folded = 0
  AND (account_id = :channel OR account_id LIKE :channel || ':%')
ORDER BY id DESC LIMIT 1
