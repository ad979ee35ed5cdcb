-- name: make_console_link
-- Changes nothing if a chat has as many links as it may.
INSERT INTO console_link (link_id, digest, session_id, account_id, person, holder, token, made_at,
                          expires_at)
SELECT :link_id, :digest, :session_id, :account_id, :person, :holder, :token, :made_at, :expires_at
WHERE (SELECT count(*) FROM console_link
       WHERE session_id = :session_id AND revoked_at = '' AND expires_at > :made_at) < :limit

-- name: drop_console_links
-- Remove the links that were made before a moment: they ended long ago.
DELETE FROM console_link WHERE made_at < :until

-- name: console_link
-- A link that can be used.
SELECT link_id, session_id, account_id, person, holder, expires_at FROM console_link
WHERE digest = :digest AND token = :token AND revoked_at = '' AND expires_at > :now

-- name: count_console_link
-- Changes nothing if the link has ended.
UPDATE console_link SET opened = opened + 1
WHERE link_id = :link_id AND revoked_at = '' AND expires_at > :now

-- name: admit_console_reader
INSERT INTO console_reader (digest, link_id, opened_at, expires_at)
VALUES (:digest, :link_id, :opened_at, :expires_at)

-- name: drop_console_readers
-- Remove the readers whose time is over.
DELETE FROM console_reader WHERE expires_at <= :now

-- name: keep_console_readers
-- Remove all readers of a link but the newest.
DELETE FROM console_reader WHERE link_id = :link_id AND digest NOT IN
    (SELECT digest FROM console_reader WHERE link_id = :link_id
     ORDER BY opened_at DESC, digest LIMIT :limit)

-- name: console_reader
-- The link by which a cookie was given, while both hold.
SELECT link.link_id, link.session_id, link.account_id, link.person, link.holder, link.expires_at
FROM console_reader AS reader JOIN console_link AS link ON link.link_id = reader.link_id
WHERE reader.digest = :digest AND reader.expires_at > :now
  AND link.token = :token AND link.revoked_at = '' AND link.expires_at > :now

-- name: chat_of_console_link
SELECT session_id FROM console_link WHERE link_id = :link_id

-- name: revoke_console_link
-- Changes nothing if somebody else was faster.
UPDATE console_link SET revoked_at = :now, revoked_by = :by
WHERE link_id = :link_id AND revoked_at = ''

-- name: end_console_readers
DELETE FROM console_reader WHERE link_id = :link_id

-- name: console_links
-- The links of every chat, or of some: first those that can be used, then the newest.
SELECT link_id, session_id, account_id, person, holder, made_at, expires_at, opened, revoked_at,
       revoked_by,
       CASE WHEN revoked_at = '' AND expires_at > :now AND token = :token THEN 1 ELSE 0 END AS usable
FROM console_link
WHERE :every = 1 OR session_id IN (SELECT value FROM json_each(:sessions))
ORDER BY usable DESC, made_at DESC, link_id LIMIT :limit

-- name: close_console_links
-- Revoke every link.
UPDATE console_link SET revoked_at = :now, revoked_by = :by WHERE revoked_at = ''

-- name: others_in
-- Whether anybody else than a person has a number in a chat.
SELECT person FROM person WHERE session_id = :session_id AND person <> :person LIMIT 1

-- name: wipe_console_links
-- The links that a person made, to one chat or in every account of a channel, and those to an erased
-- chat; see `wipe_usage`.
DELETE FROM console_link
WHERE (:session_id = '' OR session_id = :session_id) AND (:person = '' OR (person = :person AND
    (account_id = :channel OR substr(account_id, 1, length(:channel) + 1) = :channel || ':')))

-- name: wipe_console_revoker
-- Keep that a link was revoked, and not by whom.
UPDATE console_link SET revoked_by = ''
WHERE revoked_by = :person AND (:session_id = '' OR session_id = :session_id)
