-- readable from: 1
-- What is remembered of a tape's newest messages, up to the entry `upto`, with names and words. It is
-- made of the tape alone: a row that is missing is made again, and whatever erases from a tape deletes
-- its row. It is not compressed, so that a search for words finds them in the files of the database.
CREATE TABLE room_piece (
    tape TEXT COLLATE "C" NOT NULL,
    upto BIGINT NOT NULL,
    piece BYTEA NOT NULL,
    PRIMARY KEY (tape)
);
ALTER TABLE room_piece ALTER COLUMN piece SET STORAGE EXTERNAL;
