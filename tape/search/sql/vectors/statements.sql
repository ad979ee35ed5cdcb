-- name: embedder
SELECT value FROM about WHERE key = 'embedder'

-- name: set_embedder
INSERT INTO about (key, value) VALUES ('embedder', :embedder)

-- name: covered
SELECT tape, low, high FROM covered WHERE name = :name

-- name: all_covered
SELECT name, low, high FROM covered

-- name: cover
-- How far a tape was looked at, from now on.
INSERT INTO covered (name, low, high) VALUES (:name, :low, :high)
ON CONFLICT (name) DO UPDATE SET low = excluded.low, high = excluded.high
RETURNING tape

-- name: add
INSERT INTO vector (tape, id, signs, value) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET signs = excluded.signs, value = excluded.value

-- name: signs
-- The newest entries of a tape, before an id, with the signs of their vectors.
SELECT id, signs FROM vector INDEXED BY vector_signs
WHERE tape = :tape AND id < :before ORDER BY id DESC LIMIT :limit

-- name: values
-- The vectors of entries: a JSON list of ids.
SELECT id, value FROM vector
WHERE tape = :tape AND id IN (SELECT value FROM json_each(:ids))

-- name: forget
DELETE FROM vector WHERE id = :id AND tape = (SELECT tape FROM covered WHERE name = :name)
