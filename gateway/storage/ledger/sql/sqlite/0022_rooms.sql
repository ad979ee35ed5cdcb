-- What is remembered of a tape's newest messages, up to the entry `upto`, with names and words. It is
-- made of the tape alone: a row that is missing is made again, and whatever erases from a tape deletes
-- its row.
CREATE TABLE room_piece (
    tape  TEXT PRIMARY KEY,
    upto  INTEGER NOT NULL,
    piece BLOB NOT NULL
) STRICT;
