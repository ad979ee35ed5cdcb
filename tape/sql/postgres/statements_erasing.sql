-- name: erase_entry
-- Put what is left in the place of an entry.
SELECT tape_erase(:tape, :id, :name, :author, :lane, :turn, :about, :payload, :meta)
