-- name: own_erasure
-- This process runs an erasure.
UPDATE erasure SET owner = :owner WHERE erasure_id = :erasure_id

-- name: take_erasures
-- Take over what is not finished and whose process has ended, or was not seen for a minute; with
-- `own`, also what this process has begun.
UPDATE erasure SET owner = :owner
WHERE state IN ('open', 'purging') AND (owner <> :owner OR :own)
  AND owner <> ALL (ARRAY(
      SELECT owner FROM worker WHERE owner <> :owner AND ended_at = '' AND seen_at > (SELECT utc_after(-60))))
RETURNING state, data, asked_at
