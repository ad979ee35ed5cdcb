-- name: processes
-- Every process that has not said goodbye, and what it works on; `silent` is in seconds.
WITH busy AS MATERIALIZED (
    SELECT session.owner, count(DISTINCT turn_id) AS turns FROM inbox JOIN session USING (session_id)
    WHERE inbox.status = 'taken' AND inbox.running = 1 GROUP BY session.owner)
SELECT owner, home, role, version, place, started_at, seen_at, digests, state,
       coalesce(extract(epoch FROM clock_timestamp() AT TIME ZONE 'UTC' - seen_at::timestamp), 0)
           ::double precision AS silent,
       (SELECT count(*) FROM session WHERE session.owner = worker.owner AND session.owner <> '')
       AS sessions,
       coalesce((SELECT turns FROM busy WHERE busy.owner = worker.owner), 0) AS turns,
       (SELECT coalesce(json_agg(name ORDER BY name)::text, '[]') FROM poller
        WHERE poller.owner = worker.owner AND poller.lease_until > utc_after(0)
          AND poller.name <> 'chores') AS channels
FROM worker WHERE ended_at = '' AND seen_at > utc_after(-86400)
ORDER BY started_at, owner

-- name: overdue
-- What a process still held when its lease ended, at least so many seconds ago.
SELECT 'session' AS kind, session_id AS name, owner, lease_until FROM session
WHERE owner <> '' AND lease_until < utc_after(- CAST(:grace AS double precision))
UNION ALL
SELECT 'poller', name, owner, lease_until FROM poller
WHERE owner <> '' AND lease_until < utc_after(- CAST(:grace AS double precision))
ORDER BY kind, lease_until LIMIT 20

-- name: make_salt
-- Choose what the digests of secrets are made with, unless it was chosen; it is not for processes'
-- copies of the facts.
INSERT INTO fact (channel, name, value, version) VALUES ('', 'salt', :salt, 0)
ON CONFLICT (channel, name) DO NOTHING

-- name: rule_version
-- How often access and aliases have changed.
SELECT number FROM rule_version
