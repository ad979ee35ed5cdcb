-- name: accept
-- Insert a received message; a known key changes nothing and returns nothing. Its session is known
-- already where several processes share the work: a former chat's goes on under its old name.
INSERT INTO inbox
    (account_id, ext_id, alt_id, chat_id, message_id, thread_id, session_id, payload, status,
     received_at)
VALUES
    (:account_id, :ext_id, :alt_id, :chat_id, :message_id, :thread_id,
     coalesce((SELECT same_as FROM alias WHERE alias.session_id = :session_id ::text),
              :session_id ::text),
     :payload, 'accepted', :received_at)
ON CONFLICT (account_id, ext_id) DO NOTHING
RETURNING id, session_id, received_at

-- name: move_cursor
-- Move the cursor up to which a chat's messages are accepted; it never moves back.
INSERT INTO cursor (account_id, chat_id, value) VALUES (:account_id, :chat_id, :value)
ON CONFLICT (account_id, chat_id) DO UPDATE SET value = greatest(cursor.value, excluded.value)

-- name: marks
-- The cursors of a channel's chats.
SELECT account_id, chat_id, value FROM cursor
WHERE account_id = :channel OR starts_with(account_id, :channel ::text || ':')

-- name: readings
-- How far the histories of a channel's chats were read.
SELECT account_id, chat_id, complete_until, began_at, thread_id FROM reading
WHERE account_id = :channel OR starts_with(account_id, :channel ::text || ':')

-- name: keep_reading
-- Record how far a chat's history was read.
INSERT INTO reading (account_id, chat_id, complete_until, began_at, thread_id)
VALUES (:account_id, :chat_id, :complete_until, :began_at, :thread_id)
ON CONFLICT (account_id, chat_id) DO UPDATE
SET complete_until = greatest(reading.complete_until, excluded.complete_until),
    began_at = excluded.began_at, thread_id = excluded.thread_id

-- name: forget_readings
-- Remove what a channel's own cursor says as well.
DELETE FROM reading
WHERE complete_until <= :value AND began_at <= :value
  AND (account_id = :channel OR starts_with(account_id, :channel ::text || ':'))

-- name: threads
-- The threads of a chat with messages accepted since a moment.
SELECT DISTINCT thread_id FROM inbox
WHERE account_id = :account_id AND chat_id = :chat_id AND received_at >= :since
  AND thread_id IS NOT NULL

-- name: answered_messages
-- The messages of a chat outside threads that turns took since a moment.
SELECT DISTINCT message_id FROM inbox
WHERE account_id = :account_id AND chat_id = :chat_id AND received_at >= :since
  AND turn_id IS NOT NULL AND thread_id IS NULL

-- name: know_session
-- Record a session and its tape.
INSERT INTO session (session_id, tape) VALUES (:session_id, :tape)
ON CONFLICT (session_id) DO NOTHING

-- name: sessions
-- Every known session, and its tape.
SELECT session_id, tape FROM session

-- name: rooms
-- The sessions whose ids begin like this, those of the newest messages first, with their titles.
SELECT session_id, (SELECT title FROM chat_title WHERE chat_title.session_id = session.session_id) AS title
FROM session
WHERE starts_with(session_id, :prefix)
ORDER BY (SELECT max(id) FROM inbox WHERE inbox.session_id = session.session_id) DESC NULLS LAST,
         session_id LIMIT :limit

-- name: chat_names
-- The title of each session's chat when it last asked something, or its person's name in private.
SELECT session_id, CASE WHEN json_text(payload, '{chat_kind}') = 'private'
                        THEN json_text(payload, '{sender,name}')
                        ELSE json_text(payload, '{chat_title}') END AS name
FROM inbox
WHERE id IN (SELECT max(id) FROM inbox WHERE turn_id IS NOT NULL GROUP BY session_id)

-- name: claim_session
-- Take a session for this process, for some seconds of the database's clock; its epoch grows if it
-- changes hands. Changes nothing while another process's lease lasts.
INSERT INTO session (session_id, tape, owner, epoch, lease_until)
VALUES (:session_id, :tape, :owner, 1,
        utc_after(:seconds))
ON CONFLICT (session_id) DO UPDATE
SET epoch = session.epoch + CASE WHEN session.owner = excluded.owner THEN 0 ELSE 1 END,
    owner = excluded.owner,
    lease_until = excluded.lease_until
WHERE session.owner = excluded.owner OR session.lease_until <= utc_after(0)
RETURNING session.epoch

-- name: renew_leases
-- Keep the sessions that this process holds.
UPDATE session SET lease_until = utc_after(:seconds)
WHERE owner = :owner AND session_id = ANY (text_list(:sessions))

-- name: end_leases
-- End the leases of other processes, which are known to be gone.
UPDATE session SET lease_until = '' WHERE lease_until <> '' AND owner <> :owner

-- name: fence
-- Changes one row while the session is ours, and none after another process has taken it.
UPDATE session SET owner = :owner
WHERE session_id = :session_id AND owner = :owner AND epoch = :epoch

-- name: taken_in
-- The message is on its tape (or was refused), unless somebody has ended it meanwhile. A unit that is
-- run again finds its entry, and changes nothing.
UPDATE inbox
SET status = CASE status WHEN 'accepted' THEN :status ELSE status END,
    session_id = :session_id, entry_id = :entry_id,
    lane = CASE status WHEN 'accepted' THEN :lane ELSE lane END
WHERE id = :id AND (status = 'accepted' OR (session_id = :session_id AND entry_id = :entry_id))

-- name: take
-- A turn takes a message; a turn that is resumed takes it again, which leaves the first date.
UPDATE inbox
SET status = 'taken', turn_id = :turn_id, attempts = attempts + 1, running = 1,
    taken_at = CASE WHEN turn_id = :turn_id THEN taken_at ELSE :taken_at END
WHERE id = :id AND status IN ('waiting', 'taken')

-- name: begin_command
-- A command begins to run, or a later process begins with one that another has begun.
UPDATE inbox SET status = 'taken', attempts = attempts + 1, taken_at = :taken_at
WHERE id = :id AND status IN ('waiting', 'taken')

-- name: still_open
-- The messages of a JSON list of ids that have not ended.
SELECT id FROM inbox
WHERE id = ANY (id_list(:ids)) AND status IN ('accepted', 'waiting', 'taken')

-- name: still_accepted
-- The messages of a JSON list of ids that are not on their tapes, and have not ended.
SELECT id FROM inbox WHERE id = ANY (id_list(:ids)) AND status = 'accepted'

-- name: hand_over
-- A turn is left to the next start on purpose, so it is no lost attempt.
UPDATE inbox SET attempts = attempts - 1, running = 0
WHERE turn_id = :turn_id AND status = 'taken'

-- name: count_crash
-- Turns were running when a process ended: the crash counts against the suspect among them, or
-- against all if none is. It had nothing to do with a turn that was not running; but a suspect that
-- waited stays one, or two of them could clear each other for ever.
UPDATE inbox
SET running = 0,
    crashes = CASE
        WHEN running = 0 AND crashes < :suspect THEN 0
        WHEN running = 0 THEN crashes
        WHEN crashes < :suspect AND :suspect <= crash.most THEN crashes
        ELSE crashes + 1 END
FROM (SELECT max(crashes) AS most FROM inbox WHERE status = 'taken' AND running = 1) AS crash
WHERE status = 'taken' AND crash.most IS NOT NULL

-- name: waiting_entries
-- The entries of a session that wait for turns of their own, as one JSON list: there may be thousands.
SELECT coalesce(json_agg(entry_id), '[]')::text AS entries FROM inbox
WHERE session_id = :session_id AND status = 'waiting' AND entry_id IS NOT NULL

-- name: end_message
-- Record how a waiting or taken message ended.
UPDATE inbox SET status = :status, why = coalesce(:why, why)
WHERE id = :id AND status IN ('accepted', 'waiting', 'taken')

-- name: open_inbox
-- Every message that has not ended, oldest first.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes,
       received_at, held_as
FROM inbox
WHERE status IN ('accepted', 'waiting', 'taken')
ORDER BY id

-- name: lane_of_message
-- The lane of a person's message, by the platform's id.
SELECT session_id, lane, entry_id, turn_id FROM inbox
WHERE account_id = :account_id AND chat_id = :chat_id AND message_id = :message_id
  AND entry_id IS NOT NULL
ORDER BY id DESC
LIMIT 1

-- name: lane_of_question
-- The lane of a question, by the platform's id.
SELECT lane FROM inbox
WHERE account_id = :account_id AND chat_id = :chat_id AND message_id = :message_id
  AND entry_id IS NOT NULL AND json_text(payload, '{addressed}') = 'true'
ORDER BY id DESC
LIMIT 1

-- name: lane_of_answer
-- The lane of our message, by the platform's id.
SELECT session_id, lane, turn_id, payload, why FROM outbox
WHERE account_id = :account_id AND chat_id = :chat_id AND platform_id = :message_id
ORDER BY id DESC
LIMIT 1

-- name: open_draft
-- Partial text is about to be shown.
INSERT INTO outbox
    (account_id, chat_id, session_id, turn_id, part, idem, op, lane, payload, status, first_text_at)
VALUES
    (:account_id, :chat_id, :session_id, :turn_id, :part, :idem, 'draft', :lane, '{}', 'draft',
     :first_text_at)
ON CONFLICT (idem) DO NOTHING

-- name: place_draft
-- The platform has shown a draft under this id.
UPDATE outbox SET platform_id = :platform_id
WHERE idem = :idem AND platform_id IS NULL AND status IN ('draft', 'pending', 'sending')

-- name: drop_draft
-- A turn ended without an answer: its draft will not become one.
UPDATE outbox SET status = 'dead' WHERE turn_id = :turn_id AND status = 'draft'

-- name: bury_inbox
-- A row that this version cannot read.
UPDATE inbox SET status = 'dead', why = :why WHERE id = :id

-- name: bury_outbox
-- A row that this version cannot read.
UPDATE outbox SET status = 'dead', why = :why WHERE id = :id

-- name: send_later
-- Add a message to send. It replaces the draft with the same key (its op records that there was
-- one); an existing message stays as it is.
INSERT INTO outbox
    (account_id, chat_id, thread_id, session_id, turn_id, part, idem, op, lane, payload, status,
     first_text_at, pending_at)
VALUES
    (:account_id, :chat_id, :thread_id, :session_id, :turn_id, :part, :idem, 'send', :lane, :payload,
     'pending', :first_text_at, :pending_at)
ON CONFLICT (idem) DO UPDATE
SET payload = CASE outbox.status WHEN 'draft' THEN excluded.payload ELSE outbox.payload END,
    thread_id = excluded.thread_id,
    op = CASE outbox.status WHEN 'draft' THEN 'place' ELSE outbox.op END,
    status = 'pending',
    first_text_at = CASE outbox.status
        WHEN 'draft' THEN coalesce(outbox.first_text_at, excluded.first_text_at)
        ELSE outbox.first_text_at END,
    pending_at = CASE outbox.status WHEN 'draft' THEN excluded.pending_at
                                    ELSE outbox.pending_at END
WHERE outbox.status IN ('draft', 'pending')
RETURNING outbox.id, outbox.platform_id, outbox.op

-- name: sending
-- A send begins; the date is that of the newest attempt.
UPDATE outbox SET status = 'sending', attempts = attempts + 1, sending_at = :sending_at
WHERE id = :id

-- name: unsent
-- A send that had begun did not happen.
UPDATE outbox SET status = 'pending', sending_at = NULL WHERE id = :id AND status = 'sending'

-- name: unplaced
-- A send's draft is gone, so it can no longer replace it.
UPDATE outbox SET status = :status, platform_id = NULL WHERE id = :id

-- name: sent
-- The platform has it. Where a send can be repeated freely, this alone records when it began.
UPDATE outbox
SET status = 'sent', platform_id = :platform_id, sent_at = :sent_at,
    sending_at = coalesce(:sending_at, sending_at)
WHERE id = :id

-- name: end_send
-- A send that will not be retried automatically: ambiguous or dead.
UPDATE outbox SET status = :status, why = :why WHERE id = :id

-- name: open_outbox
-- Every send that has not ended, oldest first.
SELECT id, account_id, chat_id, session_id, turn_id, part, idem, op, lane, payload, status,
       platform_id, attempts
FROM outbox
WHERE status IN ('draft', 'pending', 'sending')
ORDER BY id

-- name: draft_of
-- The draft of a key, as a resumed turn finds it.
SELECT platform_id FROM outbox WHERE idem = :idem AND status = 'draft'

-- name: rewrite
-- Replace a message's text, unless it is folded.
UPDATE inbox SET payload = :payload WHERE id = :id AND folded = 0

-- name: complete
-- More of a message was looked up; it was not ended, nor erased, meanwhile.
UPDATE inbox SET payload = :payload WHERE id = :id AND status = 'accepted'

-- name: unask
-- A question was deleted, or edited into another, before a turn took it.
UPDATE inbox SET status = 'dropped', why = :why
WHERE id = :id AND status IN ('waiting', 'held', 'dropped')

-- name: joined
-- A part of a message in another row, unless somebody has ended it meanwhile.
UPDATE inbox
SET status = 'joined', session_id = :session_id, entry_id = :entry_id, lane = :lane
WHERE id = :id AND (status = 'accepted' OR (status = 'joined' AND entry_id = :entry_id))

-- name: original_of
-- The message that an edit changes: the first one on a tape under its id, if one says something.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes,
       folded
FROM inbox
WHERE account_id = :account_id AND chat_id = :chat_id AND message_id = :message_id AND id < :before
  AND entry_id IS NOT NULL
ORDER BY status = 'refused' OR coalesce(json_text(payload, '{kind}') = 'change', false), id
LIMIT 1

-- name: later_versions
-- Those of a JSON list of ids that are not the first row of their message.
SELECT later.id FROM inbox AS later
WHERE later.id = ANY (id_list(:ids))
  AND EXISTS (
      SELECT 1 FROM inbox AS first
      WHERE first.message_id = later.message_id AND first.chat_id = later.chat_id
        AND first.account_id = later.account_id AND first.id < later.id
  )

-- name: asked_version
-- The newest version of a message or of its parts that has asked the agent, or its deletion.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes,
       folded
FROM inbox
WHERE account_id = :account_id AND chat_id = :chat_id AND id < :before
  AND message_id = ANY (text_list(:message_ids))
  AND (status NOT IN ('accepted', 'taped', 'refused', 'joined')
       OR message_id = :message_id AND json_text(payload, '{kind}') = 'delete')
ORDER BY id DESC
LIMIT 1

-- name: asked_in_lane
-- Whether the agent was ever asked in a lane.
SELECT 1 AS asked FROM inbox
WHERE session_id = :session_id AND lane = :lane AND turn_id IS NOT NULL
LIMIT 1

-- name: alias
-- A session continues under another id.
INSERT INTO alias (session_id, same_as) VALUES (:session_id, :same_as)
ON CONFLICT (session_id) DO UPDATE SET same_as = excluded.same_as

-- name: aliases
-- Every session that continues under another id.
SELECT session_id, same_as FROM alias

-- name: head_of
-- The row of the message that another row is a part of: its parts follow each other.
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes
FROM inbox
WHERE id BETWEEN :before - 1000 AND :before
  AND session_id = :session_id AND entry_id = :entry_id AND status <> 'joined'
LIMIT 1

-- name: album
-- What a chat has said before a row with the platform's key of an album, the oldest first.
WITH recent AS (
    SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes,
           chat_id
    FROM inbox
    WHERE session_id = :session_id AND id < :before
    ORDER BY id DESC
    LIMIT 300
)
SELECT id, account_id, session_id, entry_id, lane, turn_id, payload, status, attempts, crashes
FROM recent
WHERE account_id = :account_id AND chat_id = :chat_id AND entry_id IS NOT NULL
  AND status <> 'joined' AND json_text(payload, '{joins}') = :joins
ORDER BY id

-- name: list_inbox
-- The newest received messages, with one status or any. A text that is on no tape is not shown.
SELECT id, account_id, chat_id, message_id, session_id, entry_id, turn_id, status, attempts,
       received_at, why,
       json_text(payload, '{sender,name}') AS name,
       json_text(payload, '{chat_title}') AS chat_title,
       CASE WHEN entry_id IS NOT NULL AND status <> 'refused'
            THEN substr(json_text(payload, '{text}'), 1, 200) END AS text
FROM inbox
WHERE (:status = '' OR status = :status) AND (:status <> '' OR status NOT IN ('taped', 'joined'))
ORDER BY id DESC
LIMIT :limit

-- name: list_outbox
-- The newest messages to send, with one status or any.
SELECT id, account_id, chat_id, session_id, turn_id, part, idem, status, platform_id, attempts, why,
       json_text(payload, '{date}') AS sent_at,
       substr(json_text(payload, '{text}'), 1, 200) AS text
FROM outbox
WHERE :status = '' OR status = :status
ORDER BY id DESC
LIMIT :limit

-- name: inbox_row
-- One received message, with all columns.
SELECT id, account_id, ext_id, alt_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
       payload, status, attempts, crashes, received_at, why, folded, held_as, taken_at
FROM inbox WHERE id = :id

-- name: outbox_row
-- One message to send, with all columns.
SELECT id, account_id, chat_id, session_id, turn_id, part, idem, op, lane, payload, status,
       platform_id, attempts, why, folded, first_text_at, pending_at, sending_at, sent_at
FROM outbox WHERE id = :id

-- name: retry_inbox
-- Ask a question again that ended without an answer; one that is on no tape is accepted again.
UPDATE inbox
SET status = CASE WHEN entry_id IS NULL THEN 'accepted' ELSE 'waiting' END,
    attempts = 0, crashes = 0, running = 0, turn_id = NULL, why = NULL, held_as = 'resumed',
    taken_at = NULL
WHERE id = :id AND status IN ('dead', 'failed', 'stopped', 'dropped') AND folded = 0

-- name: drop_inbox
-- A message that will not be answered.
UPDATE inbox SET status = 'dropped' WHERE id = :id AND status IN ('accepted', 'waiting', 'held', 'dead')

-- name: retry_outbox
-- Make a send again that was given up or held.
UPDATE outbox SET status = 'pending', attempts = 0, why = NULL, sending_at = NULL
WHERE id = :id AND status IN ('dead', 'ambiguous', 'dropped') AND op <> 'draft' AND folded = 0

-- name: drop_outbox
-- A message that will not be sent.
UPDATE outbox SET status = 'dropped'
WHERE id = :id AND status IN ('pending', 'sending', 'held', 'ambiguous', 'dead')

-- name: told_inbox
-- What was received under a message's id, oldest first; in one chat (or thread), or in any.
SELECT id, account_id, ext_id, alt_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
       payload, status, attempts, received_at, why, folded, taken_at
FROM inbox WHERE message_id = :message_id
  AND (:chat_id = '' OR chat_id = :chat_id OR thread_id = :chat_id)
  AND (:channel = '' OR account_id = :channel
       OR starts_with(account_id, :channel ::text || ':'))
ORDER BY id LIMIT :limit

-- name: told_outbox
-- What was sent and got this id from the platform, oldest first; in one chat, or in any.
SELECT id, account_id, chat_id, session_id, turn_id, part, idem, op, lane, payload, status,
       platform_id, attempts, why, folded, first_text_at, pending_at, sending_at, sent_at
FROM outbox WHERE platform_id = :message_id
  AND (:chat_id = '' OR chat_id = :chat_id OR thread_id = :chat_id)
  AND (:channel = '' OR account_id = :channel
       OR starts_with(account_id, :channel ::text || ':'))
ORDER BY id LIMIT :limit

-- name: told_chat_message
-- Everything received under one message's id: itself first, then its edits and deletion.
SELECT id, account_id, ext_id, alt_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
       payload, status, attempts, received_at, why, folded, taken_at
FROM inbox
WHERE message_id = :message_id AND chat_id = :chat_id AND account_id = :account_id
ORDER BY id LIMIT :limit

-- name: told_key
-- What was received under a key.
SELECT id, account_id, ext_id, alt_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
       payload, status, attempts, received_at, why, folded, taken_at
FROM inbox WHERE account_id = :account_id AND ext_id = :ext_id

-- name: told_turn
-- The messages that a turn took, in order.
SELECT id, account_id, ext_id, alt_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
       payload, status, attempts, received_at, why, folded, taken_at
FROM inbox WHERE turn_id = :turn_id
ORDER BY id LIMIT :limit

-- name: told_sends
-- The sends of a turn or a notice: the keys of its parts and pieces begin with its own. They are found
-- before they are put in order, as a plan for any values would walk through all ids.
SELECT * FROM (
    SELECT id, account_id, chat_id, session_id, turn_id, part, idem, op, lane, payload, status,
           platform_id, attempts, why, folded, first_text_at, pending_at, sending_at, sent_at
    FROM outbox
    WHERE idem = :key OR (idem > :key ::text || ':' AND idem < :key ::text || ';')
       OR (idem > :key ::text || '.' AND idem < :key ::text || '/')
    OFFSET 0) AS found
ORDER BY id LIMIT :limit

-- name: told_session
-- The tape of a session.
SELECT tape FROM session WHERE session_id = :session_id

-- name: told_near
-- Messages with ids near one, before and after it, in any chat.
SELECT * FROM (
    SELECT message_id, chat_id, account_id, id FROM inbox
    WHERE message_id < :message_id
    ORDER BY message_id DESC LIMIT :limit) AS earlier
UNION ALL
SELECT * FROM (
    SELECT message_id, chat_id, account_id, id FROM inbox
    WHERE message_id > :message_id
    ORDER BY message_id LIMIT :limit) AS later
