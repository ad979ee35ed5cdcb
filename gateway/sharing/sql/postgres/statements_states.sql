-- name: published_states
-- What the newest other process of each home published, and whether it was seen lately.
SELECT DISTINCT ON (worker.home) worker.state,
       worker.ended_at = '' AND worker.seen_at > (SELECT utc_after(:since)) AS alive,
       worker.home = (SELECT home FROM worker WHERE owner = :owner) AS is_own_home
FROM worker WHERE worker.owner <> :owner AND worker.state <> '{}'
ORDER BY worker.home, worker.started_at DESC
