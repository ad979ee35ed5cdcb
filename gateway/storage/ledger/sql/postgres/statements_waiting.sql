-- What waits to be placed on its tape: its ids are kept in memory, and its content is read in pieces.

-- name: waiting_chats
-- The accepted messages of each chat: all their ids, those that go first, and where the chat moves to.
-- An edit or a deletion goes first if it is about a question that no turn has taken.
WITH said AS (
    SELECT id, account_id, chat_id, session_id,
           coalesce(json_text(payload, '{output_channel}'), json_text(payload, '{channel}'),
                    split_part(account_id, ':', 1)) AS channel,
           json_text(payload, '{to_chat}') AS to_chat,
           json_text(payload, '{addressed}') = 'true' OR json_text(payload, '{follows}') = 'true'
           OR json_text(payload, '{command}') <> ''
           OR json_text(payload, '{kind}') IN ('press', 'pairing', 'change')
           OR (json_text(payload, '{kind}') IN ('edit', 'delete') AND EXISTS (
               SELECT 1 FROM inbox AS said
               WHERE said.message_id = open.message_id AND said.chat_id = open.chat_id
                 AND said.account_id = open.account_id AND said.id < open.id
                 AND (said.status IN ('waiting', 'held')
                      OR (said.status = 'accepted'
                          AND (json_text(said.payload, '{addressed}') = 'true'
                               OR json_text(said.payload, '{follows}') = 'true'))))
           ) AS urgent
    FROM inbox AS open
    WHERE status IN ('accepted', 'waiting', 'taken') AND status = 'accepted'
)
SELECT account_id, chat_id, session_id, channel, json_agg(id)::text AS ids,
       coalesce(json_agg(id) FILTER (WHERE urgent), '[]')::text AS urgent,
       max(to_chat) AS to_chat
FROM said GROUP BY account_id, chat_id, session_id, channel

-- name: to_place
-- Those of a JSON list of ids that are not on their tapes, and have not ended, oldest first.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes,
       received_at, held_as
FROM inbox WHERE id = ANY (id_list(:ids)) AND status = 'accepted' ORDER BY id

-- name: about_questions
-- Those of a JSON list of ids of edits and deletions that are about questions which no turn has taken.
SELECT id FROM inbox AS later
WHERE id = ANY (id_list(:ids)) AND EXISTS (
    SELECT 1 FROM inbox AS said
    WHERE said.message_id = later.message_id AND said.chat_id = later.chat_id
      AND said.account_id = later.account_id AND said.id < later.id
      AND (said.status IN ('waiting', 'held')
           OR (said.status = 'accepted' AND (json_text(said.payload, '{addressed}') = 'true'
                                             OR json_text(said.payload, '{follows}') = 'true'))))

-- name: waiting_before
-- How many accepted messages stand before one in its session, which may not be known before it is placed.
SELECT count(*) AS messages FROM inbox
WHERE status IN ('accepted', 'waiting', 'taken') AND status = 'accepted' AND id < :id
  AND (session_id = :session_id OR (account_id = :account_id AND chat_id = :chat_id))

-- name: open_questions
-- Every message on its tape that has not ended, oldest first.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes,
       received_at, held_as
FROM inbox
WHERE status IN ('accepted', 'waiting', 'taken') AND status <> 'accepted'
ORDER BY id

-- name: newest_row
-- The id of the newest message.
SELECT coalesce(max(id), 0) AS newest FROM inbox
