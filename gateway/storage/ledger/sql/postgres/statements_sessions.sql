-- name: open_page_session
-- Record a session of the page.
INSERT INTO page_session (digest, person, owner, room, token, opened_at, expires_at)
VALUES (:digest, :person, :owner, :room, :token, :opened_at, :expires_at)

-- name: page_session
-- A session that has not expired, opened with the present access token.
SELECT person, owner, room FROM page_session
WHERE digest = :digest AND token = :token AND expires_at > :now

-- name: page_sessions
-- The sessions that have not expired, oldest first.
SELECT person, owner, room, opened_at, expires_at FROM page_session
WHERE token = :token AND expires_at > :now ORDER BY opened_at, person

-- name: join_page_room
-- Add a room to a member's session: a slash, which no room has in its name, stands between two.
UPDATE page_session SET room = room || '/' || :room
WHERE person = :person AND owner = 0 AND strpos('/' || room || '/', '/' || :room || '/') = 0

-- name: end_page_session
-- Remove a person's session.
DELETE FROM page_session WHERE person = :person RETURNING digest

-- name: issue_page_code
-- Record a code.
INSERT INTO page_code (digest, owner, room, token, uses, expires_at)
VALUES (:digest, :owner, :room, :token, :uses, :expires_at)

-- name: page_code
-- A code that can still be used.
SELECT owner, room FROM page_code
WHERE digest = :digest AND token = :token AND uses > 0 AND expires_at > :now

-- name: use_page_code
-- Use a code once; changes nothing if it was used up meanwhile.
UPDATE page_code SET uses = uses - 1
WHERE digest = :digest AND uses > 0 AND expires_at > :now

-- name: page_codes
-- The invitations that can still be used, by a handle that opens nothing.
SELECT substr(digest, 1, 12) AS code, room, uses, expires_at FROM page_code
WHERE owner = 0 AND token = :token AND uses > 0 AND expires_at > :now ORDER BY expires_at, digest

-- name: drop_page_code
-- Revoke an invitation.
DELETE FROM page_code WHERE substr(digest, 1, 12) = :code

-- name: drop_page_codes
-- Remove the codes that can no longer be used.
DELETE FROM page_code WHERE uses <= 0 OR expires_at <= :now

-- name: drop_page_sessions
-- Remove the sessions that have expired.
DELETE FROM page_session WHERE expires_at <= :now

-- name: open_card_sends
-- The messages of a chat below which buttons wait for an answer, oldest first. The outbox is read only
-- if there are such buttons on the channel: no parallel worker begins to before they are known.
WITH waiting AS MATERIALIZED (
    SELECT card_id FROM card
    WHERE choice IS NULL AND expires_at > :now AND channel = :account_id
)
SELECT outbox.payload FROM waiting
JOIN outbox ON outbox.account_id = :account_id AND outbox.chat_id = :chat_id
  AND outbox.status = 'sent' AND strpos(outbox.payload, waiting.card_id || ':') > 0
WHERE EXISTS (SELECT FROM waiting)
ORDER BY outbox.id
