-- name: begin_erasing
INSERT INTO erasing (pos) VALUES (:tape * 4294967296 + :id)

-- name: erase_entry
-- Put what is left in the place of an entry.
UPDATE entry
SET name = :name, author = :author, lane = :lane, turn = :turn, payload = :payload, meta = :meta
WHERE pos = :tape * 4294967296 + :id

-- name: end_erasing
DELETE FROM erasing
