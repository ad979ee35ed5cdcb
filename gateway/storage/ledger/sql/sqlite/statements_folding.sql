-- name: folded_up_to
SELECT up_to FROM folding WHERE box = :box

-- name: fold_up_to
INSERT INTO folding (box, up_to) VALUES (:box, :up_to)
ON CONFLICT (box) DO UPDATE SET up_to = max(up_to, excluded.up_to)

-- name: next_inbox
-- The next messages up to a moment that can be emptied.
SELECT id, payload FROM inbox
WHERE id > :after AND NOT folded AND received_at < :until
  AND status IN ('done', 'taped', 'refused', 'joined', 'failed', 'stopped', 'dropped')
ORDER BY id LIMIT :limit

-- name: next_outbox
-- The next sends up to a moment; one with buttons that wait for an answer keeps them.
SELECT id, payload FROM outbox
WHERE id > :after AND NOT folded AND status IN ('sent', 'dropped')
  AND iif(json_valid(payload), coalesce(payload ->> '$.date', ''), '') < :until
  AND NOT EXISTS (
    SELECT 1 FROM card WHERE choice IS NULL AND expires_at > :now
      AND instr(outbox.payload, card.card_id || ':') > 0)
ORDER BY id LIMIT :limit

-- name: fold_inbox
-- Empty messages of their content; `rows` is a JSON list of ids, of what is left, and of what was read.
-- What was changed since then, such as erased, is not: it would come back.
UPDATE inbox SET folded = 1, payload = rows.value ->> 1
FROM json_each(:rows) AS rows
WHERE inbox.id = rows.value ->> 0 AND inbox.payload = rows.value ->> 2

-- name: fold_outbox
UPDATE outbox SET folded = 1, payload = rows.value ->> 1
FROM json_each(:rows) AS rows
WHERE outbox.id = rows.value ->> 0 AND outbox.payload = rows.value ->> 2
