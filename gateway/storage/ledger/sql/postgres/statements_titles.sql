-- name: title
-- What a room is called, and since which entry of its tape.
SELECT title, entry_id FROM chat_title WHERE session_id = :session_id

-- name: give_title
-- The event that is later on the tape wins.
INSERT INTO chat_title (session_id, title, person, entry_id)
VALUES (:session_id, :title, :person, :entry_id)
ON CONFLICT (session_id) DO UPDATE
SET title = excluded.title, person = excluded.person, entry_id = excluded.entry_id
WHERE excluded.entry_id > chat_title.entry_id

-- name: wipe_title
DELETE FROM chat_title
WHERE (:person = '' OR person = :person) AND (:session_id = '' OR session_id = :session_id)
