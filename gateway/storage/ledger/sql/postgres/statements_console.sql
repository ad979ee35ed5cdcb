-- name: issue_console_code
INSERT INTO console_code (digest, account_id, person, token, expires_at)
VALUES (:digest, :account_id, :person, :token, :expires_at)

-- name: console_code
-- A code that can still be used.
SELECT account_id, person FROM console_code
WHERE digest = :digest AND token = :token AND expires_at > :now

-- name: use_console_code
-- Changes nothing if somebody else was faster.
DELETE FROM console_code WHERE digest = :digest AND token = :token AND expires_at > :now

-- name: drop_console_codes
-- Remove the codes that have expired, and a person's earlier ones.
DELETE FROM console_code
WHERE expires_at <= :now OR (account_id = :account_id AND person = :person)

-- name: open_console_session
INSERT INTO console_session (digest, account_id, person, token, opened_at, expires_at)
VALUES (:digest, :account_id, :person, :token, :opened_at, :expires_at)

-- name: console_session
-- A session that has not expired, opened with the present access token.
SELECT account_id, person FROM console_session
WHERE digest = :digest AND token = :token AND expires_at > :now

-- name: console_sessions
-- The sessions that hold, opened with the present access token, the newest first: of those behind
-- a session, the first ones.
SELECT digest, account_id, person, opened_at, expires_at FROM console_session
WHERE token = :token AND expires_at > :now
    AND (opened_at < :opened_at OR (opened_at = :opened_at AND digest > :digest))
ORDER BY opened_at DESC, digest LIMIT :limit

-- name: end_console_session
DELETE FROM console_session WHERE digest = :digest

-- name: drop_console_sessions
DELETE FROM console_session WHERE expires_at <= :now

-- name: record_opening
-- Record that somebody opened a private chat, once an hour.
INSERT INTO console_opening (person, session_id, hour, opened_at)
VALUES (:person, :session_id, :hour, :opened_at)
ON CONFLICT (person, session_id, hour) DO NOTHING

-- name: drop_openings
-- Remove the openings of private chats before a moment.
DELETE FROM console_opening WHERE opened_at < :until

-- name: console_openings
-- The newest openings of private chats: of every chat, or of some.
SELECT person, session_id, opened_at FROM console_opening
WHERE :every = 1 OR session_id = ANY (text_list(:sessions))
ORDER BY opened_at DESC, person, session_id LIMIT :limit

-- name: console_chat
-- A chat with its newest message, from which its kind and place are known.
SELECT session.session_id, session.tape, inbox.account_id, inbox.chat_id, inbox.received_at,
       inbox.payload,
       (SELECT title FROM chat_title WHERE chat_title.session_id = session.session_id) AS given_title
FROM session JOIN inbox ON inbox.id =
    (SELECT max(id) FROM inbox AS own WHERE own.session_id = session.session_id)
WHERE session.session_id = :session_id

-- name: console_chats
-- Every chat in which something was said, as in `console_chat`.
SELECT session.session_id, session.tape, inbox.account_id, inbox.chat_id, inbox.received_at,
       inbox.payload,
       (SELECT title FROM chat_title WHERE chat_title.session_id = session.session_id) AS given_title
FROM session JOIN inbox ON inbox.id =
    (SELECT max(id) FROM inbox AS own WHERE own.session_id = session.session_id)

-- name: console_chats_of
-- The chats of an account in which somebody has a number, as in `console_chat`: the newest of them.
SELECT session.session_id, session.tape, inbox.account_id, inbox.chat_id, inbox.received_at,
       inbox.payload,
       (SELECT title FROM chat_title WHERE chat_title.session_id = session.session_id) AS given_title
FROM person
JOIN session ON session.session_id = person.session_id
JOIN inbox ON inbox.id =
    (SELECT max(id) FROM inbox AS own WHERE own.session_id = session.session_id)
WHERE person.person = :person AND inbox.account_id = :account_id
ORDER BY inbox.id DESC LIMIT :limit

-- name: takes_part
-- The chats in which somebody has a number.
SELECT session_id FROM person
WHERE person = :person AND (:session_id = '' OR session_id = :session_id)

-- name: open_by_chat
-- What is open in each chat: messages that wait, and those that a turn has taken.
SELECT session_id,
       sum(CASE WHEN status = 'taken' THEN 0 ELSE 1 END)::bigint AS waiting,
       sum(CASE WHEN status = 'taken' THEN 1 ELSE 0 END)::bigint AS running,
       min(received_at) AS oldest
FROM inbox
WHERE status IN ('accepted', 'waiting', 'taken') AND session_id IS NOT NULL
GROUP BY session_id

-- name: failed_by_chat
-- What ended in each chat without an answer since a moment, or could not be read.
SELECT session_id, count(*) AS messages FROM inbox
WHERE status IN ('failed', 'dead') AND (status = 'dead' OR received_at >= :since)
GROUP BY session_id

-- name: unsent_by_chat
-- The messages of each chat of which it is unknown whether they were sent, or that were given up.
SELECT session_id, count(*) AS messages FROM outbox
WHERE status IN ('dead', 'ambiguous') AND op <> 'draft'
GROUP BY session_id

-- name: held_by_chat
-- What each chat has that a restore holds.
SELECT session_id, count(*) AS messages FROM (
    SELECT session_id FROM inbox WHERE status = 'held' AND session_id IS NOT NULL
    UNION ALL
    SELECT session_id FROM outbox WHERE status = 'held') AS held
GROUP BY session_id

-- name: used_by_chat
-- What each chat used on a day.
SELECT session_id, sum(input + cached + output)::bigint AS tokens, sum(cost) AS cost,
       sum(CASE WHEN cost IS NULL THEN calls ELSE 0 END)::bigint AS unpriced FROM usage
WHERE day = :day
GROUP BY session_id

-- name: waiting_inbox
-- The newest messages that have not ended: of every chat, or of some.
SELECT id, session_id, account_id, chat_id, entry_id, turn_id, status, attempts, received_at, why,
       json_text(payload, '{sender,name}') AS name
FROM inbox
WHERE status IN ('accepted', 'waiting', 'taken') AND (:every = 1 OR session_id = ANY (text_list(:sessions)))
ORDER BY id DESC LIMIT :limit

-- name: waiting_outbox
-- The newest sends that have not ended: of every chat, or of some.
SELECT id, session_id, account_id, chat_id, turn_id, status, attempts, why,
       json_text(payload, '{date}') AS sent_at
FROM outbox
WHERE status IN ('draft', 'pending', 'sending') AND status <> 'draft'
  AND (:every = 1 OR session_id = ANY (text_list(:sessions)))
ORDER BY id DESC LIMIT :limit

-- name: failed_inbox
-- The newest messages that ended without what was wanted: of every chat, or of some.
SELECT id, session_id, account_id, chat_id, entry_id, turn_id, status, attempts, received_at, why,
       json_text(payload, '{sender,name}') AS name
FROM inbox
WHERE status IN ('failed', 'dead') AND (:every = 1 OR session_id = ANY (text_list(:sessions)))
ORDER BY id DESC LIMIT :limit

-- name: failed_outbox
-- The newest sends that ended without what was wanted: of every chat, or of some.
SELECT id, session_id, account_id, chat_id, turn_id, status, attempts, why,
       json_text(payload, '{date}') AS sent_at
FROM outbox
WHERE status IN ('dead', 'ambiguous') AND op <> 'draft'
  AND (:every = 1 OR session_id = ANY (text_list(:sessions)))
ORDER BY id DESC LIMIT :limit

-- name: held_inbox
-- The newest messages that a restore holds: of every chat, or of some.
SELECT id, session_id, account_id, chat_id, entry_id, turn_id, status, attempts, received_at, why,
       json_text(payload, '{sender,name}') AS name
FROM inbox
WHERE status = 'held' AND (:every = 1 OR session_id = ANY (text_list(:sessions)))
ORDER BY id DESC LIMIT :limit

-- name: held_outbox
-- The newest sends that a restore holds: of every chat, or of some.
SELECT id, session_id, account_id, chat_id, turn_id, status, attempts, why,
       json_text(payload, '{date}') AS sent_at
FROM outbox
WHERE status = 'held'
  AND (:every = 1 OR session_id = ANY (text_list(:sessions)))
ORDER BY id DESC LIMIT :limit

-- name: console_usage
-- The usage of some days by day, chat, person or model, or in total: of every chat, or of some.
SELECT * FROM (
    SELECT CASE :by WHEN 'day' THEN day WHEN 'chat' THEN session_id WHEN 'person' THEN person
                    WHEN 'model' THEN model ELSE 'total' END AS key,
           CASE WHEN :by = 'person' THEN (array_agg(name ORDER BY day DESC))[1] ELSE '' END AS name,
           max(day) AS latest, count(DISTINCT turn_id) AS turns, sum(calls)::bigint AS calls,
           sum(input)::bigint AS input, sum(cached)::bigint AS cached,
           sum(output)::bigint AS output, sum(cost) AS cost,
           sum(CASE WHEN cost IS NULL THEN calls ELSE 0 END)::bigint AS unpriced,
           sum(estimated)::bigint AS estimated
    FROM usage
    WHERE day BETWEEN :since AND :until AND (:every = 1 OR session_id = ANY (text_list(:sessions)))
    GROUP BY 1) AS summed
ORDER BY CASE WHEN :by = 'day' THEN latest END DESC NULLS LAST, cost DESC NULLS LAST,
         input + output DESC
LIMIT :limit

-- name: console_usage_page
-- The same in the order of the keys: the first page, or what follows a key.
SELECT key, CASE WHEN :by = 'person' THEN (array_agg(name ORDER BY day DESC))[1] ELSE '' END AS name,
       max(day) AS latest,
       count(DISTINCT turn_id) AS turns, sum(calls)::bigint AS calls, sum(input)::bigint AS input,
       sum(cached)::bigint AS cached, sum(output)::bigint AS output, sum(cost) AS cost,
       sum(CASE WHEN cost IS NULL THEN calls ELSE 0 END)::bigint AS unpriced,
       sum(estimated)::bigint AS estimated
FROM (SELECT usage.*, CASE :by WHEN 'day' THEN day WHEN 'chat' THEN session_id
                      WHEN 'person' THEN person ELSE model END AS key
      FROM usage
      WHERE day BETWEEN :since AND :until AND (:every = 1 OR session_id = ANY (text_list(:sessions)))) AS used
WHERE :first = 1 OR key > :after ::text
GROUP BY key ORDER BY key LIMIT :limit

-- name: used_by_person
-- What each person used on a day, by chat: of every chat, or of some.
SELECT budget.person, budget.session_id, max(budget.name) AS name, max(budget.turns) AS turns,
       max(budget.refused) AS refused,
       coalesce(sum(usage.input + usage.cached + usage.output), 0)::bigint AS tokens,
       sum(usage.cost) AS cost,
       coalesce(sum(CASE WHEN usage.cost IS NULL THEN usage.calls END), 0)::bigint AS unpriced
FROM budget LEFT JOIN usage ON usage.day = budget.day AND usage.person = budget.person
  AND usage.session_id = budget.session_id
WHERE budget.day = :day
  AND (:every = 1 OR budget.session_id = ANY (text_list(:sessions)))
GROUP BY budget.person, budget.session_id
ORDER BY turns DESC, budget.person LIMIT :limit

-- name: messages_of_chat
-- The newest messages of a chat before a number, those alone that were not answered if `unanswered`.
SELECT id, session_id, entry_id, turn_id, status, received_at,
       json_text(payload, '{sender,name}') AS name
FROM inbox
WHERE session_id = :session_id AND id < :before
  AND (:unanswered = 0 OR status NOT IN ('done', 'joined'))
ORDER BY id DESC LIMIT :limit

-- name: messages_of_chats
-- The same of some chats, read in the order of their numbers.
SELECT id, session_id, entry_id, turn_id, status, received_at,
       json_text(payload, '{sender,name}') AS name
FROM inbox
WHERE session_id = ANY (text_list(:sessions)) AND id < :before
  AND (:unanswered = 0 OR status NOT IN ('done', 'joined'))
ORDER BY id DESC LIMIT :limit

-- name: found_messages
-- Messages by their numbers, and those that turns took.
SELECT id, session_id, entry_id, turn_id, status, received_at,
       json_text(payload, '{sender,name}') AS name
FROM inbox
WHERE id = ANY (id_list(:ids))
   OR turn_id = ANY (text_list(:turns))
ORDER BY id DESC LIMIT :limit

-- name: message_from
-- The first message from a number on, and when it was received.
SELECT id, received_at FROM inbox WHERE id >= :id ORDER BY id LIMIT 1

-- name: used_by_turn
-- What a turn used, or nothing if no model was called.
SELECT sum(input + cached + output)::bigint AS tokens, sum(cost) AS cost,
       sum(CASE WHEN cost IS NULL THEN calls ELSE 0 END)::bigint AS unpriced
FROM usage WHERE turn_id = :turn_id HAVING count(*) > 0
