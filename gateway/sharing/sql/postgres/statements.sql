-- name: notify
-- Wake the processes that listen to these channels; both lists are JSON, of the same length.
SELECT pg_notify(channel, payload)
FROM unnest(text_list(:channels), text_list(:payloads)) AS sent (channel, payload)

-- name: wake
-- After a commit: wake the holders of sessions to which work was added. For each that nobody holds,
-- wake one process that works, unless this one does: if all were woken, all but one would ask in
-- vain. It is not part of the transaction: transactions with notifications wait for each other until
-- they are on the disk.
SELECT pg_notify(:channels || CASE owner WHEN '' THEN coalesce(
                     (SELECT worker.owner FROM worker
                      WHERE ended_at = '' AND role <> 'ingress' AND seen_at >= utc_after(-15)
                        AND session.number > 0 -- or it were the same one for all
                      ORDER BY random() LIMIT 1), :ready) ELSE owner END,
                 CASE owner WHEN '' THEN '0' ELSE number::text END)
FROM session
WHERE session_id = ANY (
        ARRAY(SELECT coalesce((SELECT same_as FROM alias WHERE alias.session_id = added.id), added.id)
              FROM unnest(text_list(:sessions)) AS added (id)))
  AND owner <> :own AND (owner <> '' OR :works = 0)

-- name: arrive
-- Work is added to a session: lock it, so that its rows get their ids in the order of commits.
INSERT INTO session (session_id, tape, ready_at, arrived, asked, asks)
VALUES (coalesce((SELECT same_as FROM alias WHERE alias.session_id = :session_id ::text),
                 :session_id ::text),
        :tape, utc_after(0), 1, :asked, :asks)
ON CONFLICT (session_id) DO UPDATE
SET arrived = session.arrived + 1,
    asked = session.asked + excluded.asked,
    asks = greatest(session.asks, excluded.asks),
    ready_at = CASE WHEN session.owner = '' AND session.ready_at = '' THEN excluded.ready_at
                    ELSE session.ready_at END
RETURNING session.session_id, session.tape, session.number, session.owner, session.arrived

-- name: touch
-- Somebody else than its holder appends to a session's tape: the holder has to read it once more.
-- Also nobody's is locked until then, so that whoever claims it reads what was appended.
UPDATE session SET arrived = arrived + 1, asked = asked + 1
WHERE tape = ANY (text_list(:tapes))
RETURNING session_id, tape, number, owner, arrived

-- name: claim
-- Take sessions whose holder is lost, or which are ready and nobody's; `was` is the lost holder. Those
-- in which somebody asks are taken before those in which people only talk.
-- Our own whose lease ran out while nobody could renew it are still ours: `renew` keeps them. Nobody
-- waits for the disk: of a claim that a crash of the server undoes, the fence lets nothing through.
-- What reads their open work in the same transaction finds their ids in a setting.
-- Whether there still is a suspect in a session, its new holder sees in the rows: it may long be
-- answered.
WITH lost AS (
    SELECT session_id, owner AS was FROM session
    WHERE owner <> '' AND lease_until <= (SELECT utc_after(0)) AND suspect = :suspect
      AND owner <> :owner
    ORDER BY asks DESC, lease_until LIMIT :most_lost FOR UPDATE SKIP LOCKED),
asking AS (
    SELECT session_id, '' AS was FROM session
    WHERE owner = '' AND ready_at <> '' AND suspect = :suspect AND asks = 1
      AND (:since ::double precision = 0 OR ready_at <= (SELECT utc_after(:since)))
    ORDER BY ready_at LIMIT :most FOR UPDATE SKIP LOCKED),
talking AS (
    SELECT session_id, '' AS was FROM session
    WHERE owner = '' AND ready_at <> '' AND suspect = :suspect AND asks = 0
      AND (:since ::double precision = 0 OR ready_at <= (SELECT utc_after(:since)))
    ORDER BY ready_at LIMIT (SELECT greatest(0, :most ::bigint - count(*)) FROM asking)
    FOR UPDATE SKIP LOCKED),
free AS (
    SELECT session_id, was FROM lost UNION ALL SELECT session_id, was FROM asking
    UNION ALL SELECT session_id, was FROM talking),
claimed AS (
    UPDATE session
    SET owner = :owner, epoch = epoch + 1, lease_until = utc_after(:seconds), ready_at = '',
        suspect = 0
    WHERE session_id = ANY (ARRAY(SELECT free.session_id FROM free))
      AND set_config('synchronous_commit', 'off', true) = 'off'
    RETURNING session.session_id, tape, number, epoch, arrived, asked,
              (SELECT free.was FROM free WHERE free.session_id = session.session_id) AS was),
named AS (
    SELECT set_config('tapeway.claimed', coalesce(json_agg(session_id)::text, '[]'), true) AS list
    FROM claimed)
SELECT claimed.* FROM named LEFT JOIN claimed ON list <> ''

-- name: set_aside
-- Give back a session with a suspect, for a process that works on nothing else.
UPDATE session SET owner = '', lease_until = '', ready_at = utc_after(0), suspect = 1
WHERE session_id = :session_id AND owner = :owner

-- name: suspects
-- How many sessions with suspects wait for a process that works on nothing else.
SELECT count(*) AS waiting FROM session WHERE suspect = 1 AND owner = '' AND ready_at <> ''

-- name: renew
-- Keep everything that this process holds, and say what that is. What somebody has locked is kept
-- with the next look: whoever is cut off in a transaction must not cost us all other sessions.
WITH free AS (
    SELECT session_id FROM session WHERE owner = :owner AND owner <> '' FOR UPDATE SKIP LOCKED),
kept AS (
    UPDATE session SET lease_until = utc_after(:seconds)
    WHERE session_id = ANY (ARRAY(SELECT free.session_id FROM free)) AND owner = :owner
    RETURNING session_id)
SELECT session_id, tape, number, epoch, arrived, asked, '' AS was,
       session_id IN (SELECT kept.session_id FROM kept) AS renewed
FROM session WHERE owner = :owner AND owner <> ''

-- name: lock_idle
-- Lock those of these sessions that nobody works for just now; the statement behind it, in the same
-- transaction, finds their ids in a setting, and sees all that was added to them.
WITH free AS (
    SELECT session_id FROM session
    WHERE session_id = ANY (text_list(:sessions)) AND owner = :owner FOR UPDATE SKIP LOCKED)
SELECT set_config('tapeway.idle', coalesce(json_agg(session_id)::text, '[]'), true) AS list
FROM free

-- name: lock_held
-- Lock everything that this process holds, in the order in which messages are accepted. A statement
-- behind it, in the same transaction, sees all that was added: while it waited for a lock itself, it
-- would look for rows as of before.
SELECT session_id FROM session WHERE owner = :owner AND owner <> '' ORDER BY session_id FOR UPDATE

-- name: give_back
-- Give back sessions that have nothing open, and to which nothing was added since they were read;
-- `lock_idle` stands before it.
UPDATE session SET owner = '', lease_until = '', ready_at = '', asks = 0
FROM unnest(text_list(:sessions), id_list(:arrived)) AS known (session_id, arrived)
WHERE session.session_id = known.session_id AND session.arrived = known.arrived
  AND session.session_id = ANY (text_list(current_setting('tapeway.idle', true)::json))
  AND session.owner = :owner
  AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.session_id = known.session_id
                  AND inbox.status IN ('accepted', 'waiting', 'taken'))
  AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.session_id = known.session_id
                  AND outbox.status IN ('draft', 'pending', 'sending'))
  AND NOT EXISTS (SELECT 1 FROM control WHERE control.session_id = known.session_id
                  AND control.answer IS NULL)
RETURNING session.session_id

-- name: leave_all
-- Give everything back at the end of a process; what has open work is ready for others. `lock_held`
-- stands before it.
UPDATE session
SET owner = '', lease_until = '',
    ready_at = CASE
        WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.session_id = session.session_id
                     AND inbox.status IN ('accepted', 'waiting', 'taken'))
          OR EXISTS (SELECT 1 FROM outbox WHERE outbox.session_id = session.session_id
                     AND outbox.status IN ('draft', 'pending', 'sending'))
          OR EXISTS (SELECT 1 FROM control WHERE control.session_id = session.session_id
                     AND control.answer IS NULL)
        THEN utc_after(0) ELSE '' END
WHERE owner = :owner AND owner <> ''
RETURNING number, ready_at

-- name: make_ready
-- A net: sessions that nobody holds, but which have open work, are ready.
UPDATE session SET ready_at = utc_after(0)
WHERE session_id = ANY (ARRAY(
        SELECT session_id FROM session
        WHERE owner = '' AND ready_at = '' AND session_id = ANY (ARRAY(
            SELECT session_id FROM inbox WHERE status IN ('accepted', 'waiting', 'taken')
            UNION
            SELECT session_id FROM outbox WHERE status IN ('draft', 'pending', 'sending')
            UNION
            SELECT session_id FROM control WHERE answer IS NULL))
        FOR UPDATE SKIP LOCKED))
  AND owner = '' AND ready_at = ''
RETURNING session_id

-- name: end_home
-- Processes of this home have ended, since we hold its lock: what they held is free.
WITH listened AS (
    UPDATE poller SET lease_until = ''
    FROM worker
    WHERE poller.owner = worker.owner AND worker.home = :home AND worker.owner <> :owner
)
UPDATE session SET lease_until = ''
FROM worker
WHERE session.owner = worker.owner AND session.owner <> '' AND worker.home = :home
  AND worker.owner <> :owner

-- name: count_crashes
-- Turns were running when a holder was lost: see `count_crash` of the ledger.
UPDATE inbox
SET running = 0,
    crashes = CASE
        WHEN running = 0 AND crashes < :suspect THEN 0
        WHEN running = 0 THEN crashes
        WHEN crashes < :suspect AND :suspect <= crash.most THEN crashes
        ELSE crashes + 1 END
FROM (SELECT session_id, max(crashes) AS most FROM inbox
      WHERE session_id = ANY (text_list(:sessions)) AND status = 'taken' AND running = 1
      GROUP BY session_id) AS crash
WHERE inbox.session_id = crash.session_id AND status = 'taken'

-- name: claimed_ends
-- The ends of the tapes of sessions that were claimed just now; see `tape.ends`.
SELECT * FROM tape_ends(
    ARRAY(SELECT tape FROM session WHERE session_id = ANY (
        text_list(current_setting('tapeway.claimed', true)::json))), :most, :most_bytes)

-- name: claimed_people
-- The numbers of the people of sessions that were claimed just now.
SELECT session_id, person, person.number FROM person
WHERE session_id = ANY (text_list(current_setting('tapeway.claimed', true)::json))

-- name: open_inbox
-- Every message of these sessions, or of those that were claimed just now, that has not ended;
-- oldest first. Of the accepted ones, only the first have their content; of all others is said
-- whether somebody waits for them, or may do so, as they may change a question.
SELECT inbox.id, account_id, session_id, entry_id, lane, turn_id,
       CASE WHEN place <= :most_read OR inbox.status <> 'accepted' THEN payload END AS payload,
       inbox.status, attempts, crashes, received_at, held_as,
       CASE WHEN total > :most_read AND inbox.status = 'accepted'
            THEN (json_text(payload, '{addressed}') = 'true' OR json_text(payload, '{follows}') = 'true'
                  OR json_text(payload, '{command}') <> ''
                  OR json_text(payload, '{kind}') IN ('press', 'pairing', 'change')) END AS urgent,
       CASE WHEN total > :most_read AND inbox.status = 'accepted'
            THEN json_text(payload, '{kind}') IN ('edit', 'delete') END AS unsure
FROM (SELECT id, count(*) FILTER (WHERE status = 'accepted') OVER (ORDER BY id) AS place,
             count(*) FILTER (WHERE status = 'accepted') OVER () AS total
      FROM inbox
      WHERE session_id = ANY (text_list(
              coalesce(:sessions ::text, current_setting('tapeway.claimed', true))::json))
        AND status IN ('accepted', 'waiting', 'taken')) AS found
JOIN inbox ON inbox.id = found.id
ORDER BY inbox.id

-- name: open_outbox
-- Every send of these sessions, or of those that were claimed just now, that has not ended; oldest
-- first.
SELECT id, account_id, chat_id, session_id, turn_id, part, idem, op, lane, payload, status,
       platform_id, attempts
FROM outbox
WHERE session_id = ANY (text_list(
        coalesce(:sessions ::text, current_setting('tapeway.claimed', true))::json))
  AND status IN ('pending', 'sending')
ORDER BY id

-- name: news
-- What was added to sessions that we hold, behind the newest row that we know of each. Of the
-- accepted messages, only the first have their content, as in `open_inbox`.
SELECT added.held_id, added.arrived, added.asked, inbox.id, account_id, session_id,
       entry_id, lane, turn_id,
       CASE WHEN place <= :most_read OR status <> 'accepted' THEN payload END AS payload,
       status, attempts, crashes, received_at, held_as,
       CASE WHEN total > :most_read AND status = 'accepted'
            THEN (json_text(payload, '{addressed}') = 'true' OR json_text(payload, '{follows}') = 'true'
                  OR json_text(payload, '{command}') <> ''
                  OR json_text(payload, '{kind}') IN ('press', 'pairing', 'change')) END AS urgent,
       CASE WHEN total > :most_read AND status = 'accepted'
            THEN json_text(payload, '{kind}') IN ('edit', 'delete') END AS unsure
FROM (SELECT held.session_id AS held_id, session.arrived, session.asked, inbox.id,
             count(inbox.id) FILTER (WHERE status = 'accepted') OVER (ORDER BY inbox.id) AS place,
             count(inbox.id) FILTER (WHERE status = 'accepted') OVER () AS total
      FROM unnest(text_list(:sessions), id_list(:newest)) AS held (session_id, newest)
      JOIN session ON session.session_id = held.session_id AND session.owner = :owner
      LEFT JOIN inbox ON inbox.session_id = held.session_id AND inbox.id > held.newest
           AND inbox.status IN ('accepted', 'waiting', 'taken')) AS added
LEFT JOIN inbox ON inbox.id = added.id
ORDER BY inbox.id

-- name: behind
-- The sessions that we hold to which more was added than we know of.
SELECT session.number
FROM unnest(text_list(:sessions), id_list(:arrived)) AS known (session_id, arrived)
JOIN session ON session.session_id = known.session_id AND session.arrived > known.arrived
WHERE session.owner = :owner

-- name: still_pending
-- Whether a send that somebody else added has not been sent yet.
SELECT 1 AS pending FROM outbox WHERE id = :id AND status = 'pending'

-- name: rekey
-- A chat has a new id: what was accepted under it belongs to the session that it continues. What waits
-- for a turn is accepted once more, as its entry stands on another tape. A turn that has begun, its
-- sends and a call that was allowed stay where their tape is, and whoever claims that session ends
-- them: nothing is added to it any more. What an earlier try has moved, whose answer was lost, is
-- returned with it.
UPDATE inbox
SET session_id = :same_as, status = 'accepted', entry_id = NULL, lane = NULL
WHERE session_id IN (:session_id, :same_as)
  AND (status = 'accepted'
       OR (status = 'waiting' AND session_id = :session_id
           AND coalesce(json_text(payload, '{kind}'), 'message') = 'message'))
RETURNING id, session_id,
          (json_text(payload, '{addressed}') = 'true' OR json_text(payload, '{follows}') = 'true'
             OR json_text(payload, '{command}') <> ''
             OR json_text(payload, '{kind}') IN ('press', 'pairing', 'change')) AS urgent,
          json_text(payload, '{kind}') IN ('edit', 'delete') AS unsure

-- name: dissolve
-- Nobody holds a session any more that continues under another id; what is open in it goes on.
UPDATE session SET owner = '', lease_until = '', ready_at = utc_after(0), epoch = epoch + 1
WHERE session_id = :session_id

-- name: put_code
-- Every process knows the newest pairing code, until it is void.
INSERT INTO pairing (one, code, until) VALUES (1, :code, utc_after(:seconds))
ON CONFLICT (one) DO UPDATE SET code = excluded.code, until = excluded.until

-- name: code
-- The pairing code, and for how many seconds it is good.
SELECT code, extract(epoch FROM until::timestamp - utc_after(0)::timestamp)::float8 AS seconds
FROM pairing WHERE until > utc_after(0) AND code <> ''

-- name: void_code
-- A pairing code was used, or seen by others: only the first process to say so changes a row.
UPDATE pairing SET code = '' WHERE code = :code AND code <> '' AND until > utc_after(0)

-- name: ask_holder
-- Ask the holder of a session to do something.
INSERT INTO control (session_id, op, asked_by, data, asked_at)
VALUES (:session_id, :op, :asked_by, :data, utc_after(0))
RETURNING id

-- name: open_controls
-- What was asked of the holder of these sessions, oldest first.
SELECT id, session_id, op, asked_by, data FROM control
WHERE session_id = ANY (text_list(
        coalesce(:sessions ::text, current_setting('tapeway.claimed', true))::json))
  AND answer IS NULL
ORDER BY id

-- name: answer_control
-- The holder has done what was asked, which may have said something about people.
UPDATE control SET answer = :answer, answered_at = utc_after(0), data = '{}', asked_by = ''
WHERE id = :id AND answer IS NULL

-- name: forget_controls
-- Forget what was done an hour ago, or by a version that did not say when.
DELETE FROM control
WHERE answer IS NOT NULL AND greatest(asked_at, answered_at) < utc_after(-3600)

-- name: control_answer
-- What the holder answered.
SELECT answer FROM control WHERE id = :id

-- name: begin_worker
-- A process begins.
INSERT INTO worker (owner, home, role, version, place, started_at, seen_at)
VALUES (:owner, :home, :role, :version, :place, utc_after(0), utc_after(0))
ON CONFLICT (owner) DO NOTHING

-- name: worker_seen
-- A process lives, and says how it is.
UPDATE worker SET seen_at = utc_after(0), state = :state, digests = :digests WHERE owner = :owner

-- name: end_workers
-- Processes have ended: this one, or others of its home.
UPDATE worker SET ended_at = utc_after(0)
WHERE ended_at = '' AND CASE WHEN :others THEN home = :home AND owner <> :owner
                             ELSE owner = :owner END

-- name: forget_workers
-- Forget processes that ended, or were not seen, for a day.
DELETE FROM worker WHERE seen_at < utc_after(-86400)

-- name: workers
-- The processes that are not known to have ended, with the sessions that each holds.
SELECT owner, home, role, version, place, started_at, seen_at, digests, state,
       seen_at >= utc_after(-15) AS is_live,
       (SELECT count(*) FROM session WHERE session.owner = worker.owner AND session.owner <> '')
       AS sessions
FROM worker WHERE ended_at = ''
ORDER BY started_at, owner
