-- name: hold_vectors
-- Take or keep the right to make the vectors of an embedder, for some seconds of the database's clock;
-- no row while another process's lease lasts. Also return whether pgvector is there.
WITH made AS (
    INSERT INTO search_vector_model (embedder, owner, until)
    SELECT :embedder, :owner, clock_timestamp() + make_interval(secs => :seconds)
    WHERE NOT EXISTS (SELECT FROM search_vector_model WHERE embedder = :embedder)
    ON CONFLICT (embedder) DO NOTHING
    RETURNING model
), kept AS (
    UPDATE search_vector_model
    SET owner = :owner, until = clock_timestamp() + make_interval(secs => :seconds)
    WHERE embedder = :embedder AND (owner = :owner OR until <= clock_timestamp())
    RETURNING model
)
SELECT model, search_pgvector() IS NOT NULL FROM (TABLE made UNION ALL TABLE kept) AS held

-- name: release_vectors
-- Give that right back.
UPDATE search_vector_model SET owner = '', until = clock_timestamp()
WHERE embedder = :embedder AND owner = :owner

-- name: lacking_vectors
-- The tapes that have entries to be looked at, which of them were, and the stamp of the last erasure.
SELECT t.name, t.size, coalesce(c.low, t.size + 1) AS low, coalesce(c.high, t.size) AS high,
       coalesce(e.stamp, '') AS stamp
FROM tape AS t
LEFT JOIN search_vector_covered AS c ON c.model = :model AND c.tape = t.tape
LEFT JOIN search_erased AS e ON e.tape = t.tape
WHERE t.size > 0 AND (coalesce(c.high, 0) < t.size OR c.low > greatest(1, t.size - :kept))
  AND strpos(t.name, :fork) = 0 AND NOT starts_with(t.name, :staging)
ORDER BY t.tape

-- name: put_vectors
SELECT search_vector_put(:model, :owner, :name, :stamp, :low, :high, :ids ::bigint[],
    :signs ::bit varying[], :halves ::bytea[], :numbers ::real[])

-- name: nearest_vectors
SELECT entry_id, distance, halves, numbers FROM search_vector_nearest(:embedder, :name, :signs ::bit varying,
    :query ::real[], :before, :most, :compared)

-- name: unused_vectors
-- An embedder that no process has used for some days.
SELECT model FROM search_vector_model
WHERE until < clock_timestamp() - make_interval(days => :days) LIMIT 1

-- name: drop_vectors
-- Remove some vectors of such an embedder, and the embedder once it has none. Nobody who erases waits
-- for this.
WITH gone AS (
    DELETE FROM search_vector WHERE (model, tape, id) IN (
        SELECT model, tape, id FROM search_vector
        WHERE model = :model LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    RETURNING 1
), covered AS (
    DELETE FROM search_vector_covered WHERE model = :model
)
DELETE FROM search_vector_model
WHERE model = :model AND until < clock_timestamp() - make_interval(days => :days)
  AND NOT EXISTS (SELECT FROM gone)
