-- name: hold_inbox
-- Hold every received message that has not ended.
UPDATE inbox SET held_as = status, status = 'held', running = 0, why = :why
WHERE status IN ('accepted', 'waiting', 'taken')

-- name: hold_outbox
-- Hold every send that has not ended; a draft is no send, and waits for its turn.
UPDATE outbox SET held_as = status, status = 'held', why = :why
WHERE status IN ('pending', 'sending')

-- name: close_cards
-- Close every card that waits for an answer.
UPDATE card SET expires_at = :now WHERE choice IS NULL AND expires_at > :now

-- name: hold_question
-- Hold a question that was just taken in.
UPDATE inbox SET held_as = 'waiting', why = :why WHERE id = :id

-- name: resume_inbox
-- Let held messages go on: all, one, or those of one turn. Of those that are not on their tapes,
-- thousands may wait: their content is read when their turn comes.
UPDATE inbox SET status = held_as, held_as = 'resumed', why = NULL
WHERE status = 'held' AND (:id = 0 OR id = :id
    OR (turn_id = (SELECT turn_id FROM inbox WHERE id = :id) AND held_as = 'taken'))
RETURNING id, account_id, session_id, entry_id, lane, turn_id,
          CASE WHEN status <> 'accepted' THEN payload END AS payload, status, attempts, crashes,
          held_as

-- name: resume_outbox
-- Let held sends go on: all or one.
UPDATE outbox SET status = held_as, held_as = NULL, why = NULL
WHERE status = 'held' AND (:id = 0 OR id = :id)
RETURNING id, account_id, chat_id, session_id, turn_id, part, idem, op, lane, payload, status,
          platform_id, attempts

-- name: count_held
SELECT (SELECT count(*) FROM inbox WHERE status = 'held') AS messages,
       (SELECT count(*) FROM outbox WHERE status = 'held') AS sends

-- name: held_accounts
SELECT account_id FROM inbox WHERE status = 'held' UNION
SELECT account_id FROM outbox WHERE status = 'held'

-- name: record_restore
INSERT INTO restore (restored_at, taken_at) VALUES (:restored_at, :taken_at)
ON CONFLICT (restored_at) DO UPDATE SET taken_at = excluded.taken_at

-- name: last_restore
SELECT restored_at, taken_at FROM restore ORDER BY restored_at DESC LIMIT 1

-- name: skip_row_ids
-- Leave a gap behind the numbers of the rows: tapes in files may have entries under the next ones.
INSERT INTO inbox (id, account_id, ext_id, chat_id, message_id, payload, status, received_at, why)
SELECT coalesce(max(id), 0) + 1000000, '', :ext_id, '', '', '{}', 'dropped', :received_at, :why
FROM inbox

-- name: alias_workspace
INSERT INTO workspace (path, same_as) VALUES (:path, :same_as)
ON CONFLICT (path) DO UPDATE SET same_as = excluded.same_as

-- name: found_workspace
INSERT INTO workspace (path, same_as) VALUES (:path, :same_as) ON CONFLICT (path) DO NOTHING

-- name: workspace
SELECT same_as FROM workspace WHERE path = :path
