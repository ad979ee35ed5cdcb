-- name: begin_erasure
INSERT INTO erasure (erasure_id, what, asked_by, asked_at, data, state)
VALUES (:erasure_id, :what, :asked_by, :asked_at, :data, 'open')
ON CONFLICT (erasure_id) DO NOTHING

-- name: erasures
-- Every erasure, newest first.
SELECT erasure_id, what, asked_by, asked_at, data, state, entries, found FROM erasure
ORDER BY asked_at DESC LIMIT 1000

-- name: end_erasure
UPDATE erasure SET state = 'purging', data = '{}', entries = :entries, found = :found
WHERE erasure_id = :erasure_id

-- name: refuse_erasure
UPDATE erasure SET state = 'refused', data = :data WHERE erasure_id = :erasure_id

-- name: purged
UPDATE erasure SET state = 'done' WHERE state = 'purging'

-- name: sessions_of_channel
-- The sessions with messages of a channel, also those that a plugin named.
SELECT session_id, tape FROM session
WHERE starts_with(session_id, :channel ::text || ':')
   OR EXISTS (
    SELECT 1 FROM inbox WHERE inbox.session_id = session.session_id
      AND (account_id = :channel OR starts_with(account_id, :channel ::text || ':')))

-- name: rows_of_person
-- What a person wrote on a channel, in any chat, and what others forwarded of it. Messages that were
-- accepted, and are on no tape, may have no session.
SELECT id, account_id, chat_id, session_id, entry_id, message_id,
       CASE WHEN json_text(payload, '{sender,id}') = :person THEN turn_id END AS turn_id
FROM inbox
WHERE (account_id = :channel OR starts_with(account_id, :channel ::text || ':'))
  AND (json_text(payload, '{sender,id}') = :person OR json_text(payload, '{forwarded,author_id}') = :person)
  AND (:session_id = '' OR session_id = :session_id
       OR (session_id IS NULL AND account_id || CASE WHEN strpos(account_id, ':') > 0 THEN '/' ELSE ':' END || chat_id = :session_id))

-- name: rows_of_entries
-- The messages with these entries, and what came under the same ids: edits and deletions.
SELECT id, account_id, chat_id, session_id, entry_id, turn_id, message_id FROM inbox
WHERE session_id = :session_id AND entry_id = ANY (id_list(:entries))
UNION
SELECT other.id, other.account_id, other.chat_id, other.session_id, other.entry_id, other.turn_id,
       other.message_id
FROM inbox AS own
JOIN inbox AS other ON other.message_id = own.message_id AND other.chat_id = own.chat_id
    AND other.account_id = own.account_id
WHERE own.session_id = :session_id AND own.message_id <> ''
  AND own.entry_id = ANY (id_list(:entries))

-- name: rows_of_session
-- What was received in a chat before a moment.
SELECT id, account_id, chat_id, session_id, entry_id, turn_id, message_id FROM inbox
WHERE (session_id = :session_id OR (session_id IS NULL
       AND account_id || CASE WHEN strpos(account_id, ':') > 0 THEN '/' ELSE ':' END || chat_id = :session_id))
  AND received_at < :until AND json_text(payload, '{why}') IS DISTINCT FROM 'erased'

-- name: quotes_of
-- Others' messages that quote a person or pass on their words, or quote these messages, in a session
-- or in all; `passes_on` says that there are excerpts in it.
SELECT id, message_id,
       CASE WHEN json_text(payload, '{excerpts}') <> '[]' THEN 1 ELSE 0 END AS passes_on
FROM inbox
WHERE (session_id = :session_id AND json_text(payload, '{reply_to}') = ANY (text_list(:ids))
       AND json_text(payload, '{quote}') IS NOT NULL)
   OR (:person <> '' AND json_text(payload, '{channel}') = :channel
       AND (:session_id = '' OR session_id = :session_id)
       AND (json_text(payload, '{quote,author_id}') = :person
            OR EXISTS (SELECT 1 FROM json_array_elements(
                           coalesce(json_text(payload, '{excerpts}'), '[]')::json) AS one
                       WHERE one ->> 'author_id' = :person)))

-- name: rows_passing_on
-- What was received in a session with words of others in it, and these words: of a forward, unless
-- somebody else than the person is known to have written it.
SELECT id, message_id, json_text(payload, '{excerpts}') AS excerpts,
       json_text(payload, '{quote,text}') AS quote,
       CASE WHEN json_text(payload, '{forwarded}') IS NOT NULL
                 AND (:person = '' OR json_text(payload, '{forwarded,author_id}') IN ('', :person))
            THEN json_text(payload, '{text}') END AS forwarded
FROM inbox
WHERE session_id = :session_id
  AND (json_text(payload, '{excerpts}') <> '[]' OR json_text(payload, '{quote,text}') <> ''
       OR json_text(payload, '{forwarded}') IS NOT NULL)

-- name: sends_of
-- What was sent in these turns, or in reply to these messages, or in a chat before a moment.
SELECT id, platform_id FROM outbox
WHERE (turn_id <> '' AND turn_id = ANY (text_list(:turns)))
   OR (session_id = :session_id
       AND (json_text(payload, '{reply_to}') = ANY (text_list(:ids))
            OR json_text(payload, '{date}') < :until))

-- name: wipe_inbox
-- The key, the ids and the end of a message stay, so that it is not accepted again.
UPDATE inbox SET
    why = :why,
    status = CASE WHEN status IN ('accepted', 'waiting', 'held') THEN 'stopped' ELSE status END,
    payload = json_with(payload, '{"text": "", "why": "erased", "sender": {"id": "", "name": ""},
        "quote": null, "forwarded": null, "media": [], "mentions": [], "parts": [], "raw": {},
        "excerpts": [], "omitted": [], "command": "",
        "chat_title": "", "press": "", "owner": false}')
WHERE id = ANY (id_list(:ids))

-- name: wipe_quotes
UPDATE inbox SET payload = json_with(payload, '{"quote": null, "excerpts": [], "omitted": []}')
WHERE id = ANY (id_list(:ids))

-- name: wipe_outbox
UPDATE outbox SET
    why = :why,
    status = CASE WHEN status IN ('draft', 'pending', 'sending', 'held', 'ambiguous') THEN 'dropped'
                  ELSE status END,
    payload = json_with(payload, '{"text": "", "buttons": []}')
WHERE id = ANY (id_list(:ids))

-- name: wipe_usage
-- What was used still counts, but for nobody. Here and below, a `person` or `session_id` that is ''
-- stands for all of them.
UPDATE usage SET person = '', name = ''
WHERE (:person = '' OR person = :person) AND (:session_id = '' OR session_id = :session_id)

-- name: wipe_number
-- A person's short number is never given to somebody else.
UPDATE person SET person = 'erased:' || number
WHERE person = :person AND session_id = :session_id

-- name: wipe_budget
-- The day's budget stays, without the name: who is forgotten does not begin the day once more.
UPDATE budget SET name = ''
WHERE (:person = '' OR person = :person) AND (:session_id = '' OR session_id = :session_id)

-- name: wipe_old_budget
DELETE FROM budget
WHERE day < :day AND (:person = '' OR person = :person)
  AND (:session_id = '' OR session_id = :session_id)

-- name: wipe_cards
DELETE FROM card
WHERE (:person = '' OR (channel = :channel AND person = :person))
  AND (:session_id = '' OR session_id = :session_id)

-- name: wipe_console_codes
-- A person's links into the console, of every account of a channel.
DELETE FROM console_code
WHERE person = :person AND (account_id = :channel ::text OR starts_with(account_id, :channel ::text || ':'))

-- name: wipe_console_sessions
-- A person's sessions of the console, of every account of a channel.
DELETE FROM console_session
WHERE person = :person AND (account_id = :channel ::text OR starts_with(account_id, :channel ::text || ':'))
