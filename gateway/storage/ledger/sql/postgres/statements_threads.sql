-- name: old_threads
-- The old threads that must not be shown to others, as far as is known.
SELECT account_id, session_id, thread_id, open FROM old_thread WHERE open IS DISTINCT FROM 1

-- name: said_in_old_threads
-- The entries and turns of those threads, by their messages.
SELECT DISTINCT old.session_id, old.thread_id, said.entry_id, said.turn_id
FROM old_thread AS old
JOIN inbox AS said ON said.account_id = old.account_id AND said.chat_id = old.chat_id
    AND said.thread_id = old.thread_id
WHERE old.open IS DISTINCT FROM 1 AND said.thread_id IS NOT NULL

-- name: know_old_thread
-- Record whether everybody of the chat may read an old thread.
UPDATE old_thread SET open = :open WHERE session_id = :session_id AND thread_id = :thread_id
