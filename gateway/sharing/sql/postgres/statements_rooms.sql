-- name: show_rooms
-- Write what goes on in rooms, in the order of the keys; what has no data is removed.
WITH given AS (
    SELECT place, kind, key, sent_to, seconds, data
    FROM json_to_recordset(CAST(:changes AS json)) AS change
        (place text, kind text, key text, sent_to text, seconds double precision, data text)
), gone AS (
    DELETE FROM room_now USING given
    WHERE given.data IS NULL AND room_now.owner = :owner
      AND (room_now.place, room_now.kind, room_now.key) = (given.place, given.kind, given.key)
)
INSERT INTO room_now (place, kind, key, owner, version, sent_to, until, data)
SELECT place, kind, key, :owner, nextval('room_version'), sent_to,
       CASE WHEN seconds IS NULL THEN '' ELSE utc_after(seconds) END, data
FROM given WHERE data IS NOT NULL ORDER BY place, kind, key
ON CONFLICT (place, kind, key) DO UPDATE
SET owner = excluded.owner, version = excluded.version, sent_to = excluded.sent_to,
    until = excluded.until, data = excluded.data

-- name: rooms_now
-- What goes on in places, oldest first, without the data of known versions; rows of a process that
-- was not seen for some seconds are left out.
SELECT room_now.place, kind, key, room_now.owner, room_now.version, sent_to,
       CASE WHEN room_now.version = ANY (CAST((SELECT id_list(:known)) AS bigint[])) THEN NULL ELSE data END AS data
FROM room_now JOIN worker ON worker.owner = room_now.owner AND worker.ended_at = ''
WHERE room_now.place = ANY (text_list(:places))
  AND worker.seen_at > (SELECT utc_after(:since))
  AND (until = '' OR until > (SELECT utc_after(0)))
ORDER BY room_now.version

-- name: sweep_rooms
-- Remove what has ended, by itself or with its process, which was not seen for some seconds.
DELETE FROM room_now
WHERE (until <> '' AND until < (SELECT utc_after(:since)))
   OR owner <> ALL (ARRAY(
       SELECT owner FROM worker
       WHERE ended_at = '' AND seen_at > (SELECT utc_after(:since))))

-- name: leave_rooms
-- Remove what a process shows in rooms.
DELETE FROM room_now WHERE owner = :owner
