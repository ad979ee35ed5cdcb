-- name: room_piece
-- What is remembered of a tape's newest messages.
SELECT piece FROM room_piece WHERE tape = :tape

-- name: keep_room_piece
INSERT INTO room_piece (tape, upto, piece) VALUES (:tape, :upto, :piece)
ON CONFLICT (tape) DO UPDATE SET upto = excluded.upto, piece = excluded.piece

-- name: drop_room_piece
DELETE FROM room_piece WHERE tape = :tape

-- name: drop_room_pieces
-- Those of a database that was restored.
DELETE FROM room_piece
