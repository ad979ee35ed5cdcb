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

-- name: end_console_session
DELETE FROM console_session WHERE digest = :digest

-- name: drop_console_sessions
DELETE FROM console_session WHERE expires_at <= :now

-- name: record_opening
-- Record that somebody opened a private chat, once an hour.
INSERT INTO console_opening (person, session_id, hour, opened_at)
VALUES (:person, :session_id, :hour, :opened_at)
ON CONFLICT (person, session_id, hour) DO NOTHING

-- name: console_openings
-- The newest openings of private chats.
SELECT person, session_id, opened_at FROM console_opening
ORDER BY opened_at DESC, person, session_id LIMIT :limit

-- name: console_chat
-- A chat with its newest message, from which its kind and place are known.
SELECT session.session_id, session.tape, inbox.account_id, inbox.chat_id, inbox.received_at,
       inbox.payload
FROM session JOIN inbox ON inbox.id =
    (SELECT max(id) FROM inbox AS own WHERE own.session_id = session.session_id)
WHERE session.session_id = :session_id

-- name: console_chats
-- Every chat in which something was said, as in `console_chat`.
SELECT session.session_id, session.tape, inbox.account_id, inbox.chat_id, inbox.received_at,
       inbox.payload
FROM session JOIN inbox ON inbox.id =
    (SELECT max(id) FROM inbox AS own WHERE own.session_id = session.session_id)

-- name: takes_part
-- The chats in which somebody has a number.
SELECT session_id FROM person
WHERE person = :person AND (:session_id = '' OR session_id = :session_id)

-- name: open_by_chat
-- What is open in each chat: messages that wait, and those that a turn has taken.
SELECT session_id,
       sum(CASE WHEN status = 'taken' THEN 0 ELSE 1 END) AS waiting,
       sum(CASE WHEN status = 'taken' THEN 1 ELSE 0 END) AS running,
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
SELECT session_id, sum(input + cached + output) AS tokens, sum(cost) AS cost FROM usage
WHERE day = :day
GROUP BY session_id
