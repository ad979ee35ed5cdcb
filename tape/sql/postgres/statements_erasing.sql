-- name: erase_entry
-- Put what is left in the place of an entry.
SELECT tape_erase(:tape, :id, :name, :author, :lane, :turn, :about, :payload, :meta)

-- name: tables
-- What may hold erased words in rows that were changed.
SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename
