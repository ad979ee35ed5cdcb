-- name: ask_allowed
-- Let a call that a person has allowed wait for its turn, once.
INSERT INTO inbox (account_id, ext_id, chat_id, message_id, thread_id, payload, status, received_at,
                   session_id, entry_id, lane)
VALUES (:account_id, :ext_id, :chat_id, :message_id, :thread_id, :payload, 'waiting', :received_at,
        :session_id, :entry_id, :lane)
ON CONFLICT (account_id, ext_id) DO NOTHING

-- name: message_by_key
-- A message by its key: a question, or the call that a person has allowed.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes
FROM inbox
WHERE account_id = :account_id AND ext_id = :ext_id
