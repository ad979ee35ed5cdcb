-- name: people
-- The people of a session who have a number.
SELECT person, number FROM person WHERE session_id = :session_id

-- name: number_person
-- Give a person of a session a number; a known person keeps theirs.
INSERT INTO person (session_id, person, number) VALUES (:session_id, :person, :number)
ON CONFLICT (session_id, person) DO NOTHING
