-- name: erase_entry
UPDATE entry
SET name = :name, author = :author, lane = :lane, turn = :turn, about = :about
WHERE pos = :tape * 4294967296 + :id

-- name: move_entry
-- The line of an entry stands elsewhere after its file was written anew.
UPDATE entry SET place = ?3, size = ?4 WHERE pos = ?1 * 4294967296 + ?2
