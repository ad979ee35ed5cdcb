-- name: keep_file
-- A file that is sent again counts as new.
INSERT INTO shared_file (name, size, kept_at, data) VALUES (:name, :size, utc_after(0), :data)
ON CONFLICT (name) DO UPDATE SET kept_at = excluded.kept_at

-- name: file
SELECT data FROM shared_file WHERE name = :name

-- name: drop_files
DELETE FROM shared_file WHERE name = ANY (text_list(:names))

-- name: drop_oldest_files
-- A fresh file stays, however small the bound.
DELETE FROM shared_file USING (
    SELECT name, sum(size) OVER (ORDER BY kept_at DESC, name) AS total FROM shared_file
) AS newer
WHERE shared_file.name = newer.name AND newer.total > :most
  AND shared_file.kept_at < (SELECT utc_after(:fresh))
