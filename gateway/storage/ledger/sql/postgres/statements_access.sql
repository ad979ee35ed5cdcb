-- name: access_rules
-- Every rule.
SELECT account_id, id, role, name, server_id, private_chat, granted_by, granted_at FROM access_rule
ORDER BY account_id, granted_at

-- name: grant_access
-- Set a rule; a name or a private chat that is not known now is kept.
INSERT INTO access_rule
    (account_id, id, role, name, server_id, private_chat, granted_by, granted_at)
VALUES
    (:account_id, :id, :role, :name, :server_id, :private_chat, :granted_by, :granted_at)
ON CONFLICT (account_id, id) DO UPDATE
SET role = excluded.role, granted_by = excluded.granted_by, granted_at = excluded.granted_at,
    name = coalesce(nullif(excluded.name, ''), access_rule.name),
    server_id = coalesce(nullif(excluded.server_id, ''), access_rule.server_id),
    private_chat = coalesce(nullif(excluded.private_chat, ''), access_rule.private_chat)

-- name: request_access
-- Record that a chat wants to be opened; one that is known, unless from an upgrade, changes nothing.
INSERT INTO access_request (account_id, chat_id, title, server_id, asked_by, state, day)
VALUES (:account_id, :chat_id, :title, :server_id, :asked_by, :state, :day)
ON CONFLICT (account_id, chat_id) DO UPDATE
SET asked_by = excluded.asked_by, state = excluded.state, day = excluded.day
WHERE access_request.state = 'former'

-- name: access_request
-- What is known of a chat that wanted to be opened.
SELECT account_id, chat_id, title, server_id, asked_by, state, day FROM access_request
WHERE account_id = :account_id AND chat_id = :chat_id

-- name: access_requests
-- Every chat that wanted to be opened, oldest first.
SELECT account_id, chat_id, title, server_id, asked_by, state, day FROM access_request
ORDER BY day, account_id, chat_id

-- name: count_requests
-- How many chats of an account wanted to be opened on a day.
SELECT count(*) AS count FROM access_request
WHERE account_id = :account_id AND day = :day AND state <> 'former'

-- name: former_groups
-- The groups in which listed people were answered, each with its newest title. `people` is a JSON
-- list of `channel:id`.
SELECT DISTINCT ON (account_id, chat_id)
       account_id, chat_id, json_text(payload, '{channel}') AS channel,
       coalesce(json_text(payload, '{chat_title}'), '') AS title,
       coalesce(json_text(payload, '{server_id}'), '') AS server_id, id AS newest
FROM inbox
WHERE status NOT IN ('refused', 'accepted') AND entry_id IS NOT NULL
  AND json_text(payload, '{kind}') = 'message' AND json_text(payload, '{chat_kind}') = 'group'
  AND json_text(payload, '{channel}') || ':' || json_text(payload, '{sender,id}')
      = ANY (text_list(:people))
ORDER BY account_id, chat_id, id DESC

-- name: chat_of_id
-- The newest message of a chat, in any account of a channel.
SELECT payload FROM inbox
WHERE chat_id = :chat_id AND (account_id = :channel OR starts_with(account_id, :channel ::text || ':'))
ORDER BY id DESC
LIMIT 1
