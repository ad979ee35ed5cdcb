-- name: take_poller
-- Take the right to listen on a channel, for some seconds of the database's clock, or keep it.
-- Changes nothing while another process's lease lasts.
INSERT INTO poller (name, owner, epoch, lease_until)
VALUES (:name, :owner, 1, utc_after(:seconds))
ON CONFLICT (name) DO UPDATE
SET epoch = poller.epoch + CASE WHEN poller.owner = excluded.owner THEN 0 ELSE 1 END,
    owner = excluded.owner,
    lease_until = excluded.lease_until
WHERE poller.owner = excluded.owner OR poller.lease_until <= utc_after(0)
RETURNING poller.epoch

-- name: renew_poller
-- Keep the right to listen; changes nothing if another process has taken it.
UPDATE poller SET lease_until = utc_after(:seconds) WHERE name = :name AND owner = :owner

-- name: release_poller
-- Give the right to listen back, and wake those who wait for it.
WITH given AS (
    UPDATE poller SET owner = '', lease_until = '' WHERE name = :name AND owner = :owner
    RETURNING name
)
SELECT pg_notify(:topic, '') FROM given

-- name: poller
-- Who may listen on a channel, and for how many seconds.
SELECT owner,
       greatest(0, extract(epoch FROM lease_until::timestamp - utc_after(0)::timestamp))
       ::double precision AS seconds
FROM poller WHERE name = :name AND owner <> ''
