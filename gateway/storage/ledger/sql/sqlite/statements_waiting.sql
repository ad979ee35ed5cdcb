-- What waits to be placed on its tape: its ids are kept in memory, and its content is read in pieces.

-- name: waiting_chats
-- The accepted messages of each chat: all their ids, those that go first, and where the chat moves to.
-- An edit or a deletion goes first if it is about a question that no turn has taken.
-- Materialized, as otherwise the sorter carries every payload.
WITH open AS MATERIALIZED (
    SELECT id, account_id, chat_id, message_id, session_id,
           coalesce(payload ->> '$.output_channel', payload ->> '$.channel') AS channel,
           payload ->> '$.to_chat' AS to_chat, payload ->> '$.kind' AS kind,
           payload ->> '$.addressed' OR payload ->> '$.follows' OR payload ->> '$.command' <> ''
               AS asks
    FROM inbox INDEXED BY inbox_open -- left to itself, SQLite reads every row
    WHERE status IN ('accepted', 'waiting', 'taken') AND status = 'accepted'
      AND json_valid(payload)
    UNION ALL
    SELECT id, account_id, chat_id, message_id, session_id, NULL, NULL, NULL, 0
    FROM inbox INDEXED BY inbox_open
    WHERE status IN ('accepted', 'waiting', 'taken') AND status = 'accepted'
      AND NOT json_valid(payload)
), said AS (
    SELECT id, account_id, chat_id, session_id, to_chat,
           coalesce(channel, substr(account_id, 1, instr(account_id || ':', ':') - 1)) AS channel,
           asks OR kind IN ('press', 'pairing', 'change')
           OR (kind IN ('edit', 'delete') AND EXISTS (
               SELECT 1 FROM inbox AS said
               WHERE said.message_id = open.message_id AND said.chat_id = open.chat_id
                 AND said.account_id = open.account_id AND said.id < open.id
                 AND (said.status IN ('waiting', 'held')
                      OR (said.status = 'accepted' AND json_valid(said.payload)
                          AND (said.payload ->> '$.addressed' OR said.payload ->> '$.follows'))))
           ) AS urgent
    FROM open
)
SELECT account_id, chat_id, session_id, channel, json_group_array(id) AS ids,
       json_group_array(id) FILTER (WHERE urgent) AS urgent,
       max(to_chat) AS to_chat
FROM said GROUP BY account_id, chat_id, session_id, channel

-- name: to_place
-- Those of a JSON list of ids that are not on their tapes, and have not ended, oldest first.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes,
       received_at, held_as
FROM inbox WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'accepted' ORDER BY id

-- name: about_questions
-- Those of a JSON list of ids of edits and deletions that are about questions which no turn has taken.
SELECT id FROM inbox AS later
WHERE id IN (SELECT value FROM json_each(:ids)) AND EXISTS (
    SELECT 1 FROM inbox AS said
    WHERE said.message_id = later.message_id AND said.chat_id = later.chat_id
      AND said.account_id = later.account_id AND said.id < later.id
      AND (said.status IN ('waiting', 'held')
           OR (said.status = 'accepted' AND json_valid(said.payload)
               AND (said.payload ->> '$.addressed' OR said.payload ->> '$.follows'))))

-- name: waiting_before
-- How many accepted messages stand before one in its session, which may not be known before it is placed.
SELECT count(*) AS messages FROM inbox INDEXED BY inbox_open -- left to itself, SQLite reads every row
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
