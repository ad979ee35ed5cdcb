-- name: put_facts
-- Set facts of a channel, for some seconds (0: until they are removed); both lists are JSON.
WITH next AS (
    UPDATE fact_version SET number = number + 1 RETURNING number
)
INSERT INTO fact (channel, name, value, version, ends_at)
SELECT :channel, given.name, given.value, next.number,
       CASE WHEN :seconds = 0 THEN '' ELSE utc_after(:seconds) END
FROM next, unnest(text_list(:names), text_list(:values)) AS given (name, value)
ON CONFLICT (channel, name) DO UPDATE
SET value = excluded.value, version = excluded.version, ends_at = excluded.ends_at
RETURNING version

-- name: facts_since
-- The facts that changed since a version, the latest change last, and for how long they are true.
SELECT channel, name, value, version,
       CASE ends_at WHEN '' THEN 0::double precision
            ELSE greatest(0.001, extract(epoch FROM ends_at::timestamp - utc_after(0)::timestamp))
       END AS seconds
FROM fact WHERE version > :version
ORDER BY version

-- name: fact
-- A fact as it is now.
SELECT value FROM fact
WHERE channel = :channel AND name = :name AND (ends_at = '' OR ends_at > utc_after(0))

-- name: drop_ended_facts
-- Delete what is true no more.
DELETE FROM fact WHERE ends_at <> '' AND ends_at <= utc_after(0)
