-- The images that people sent, which every process shows to its models. They are compressed already.

CREATE TABLE shared_file (
    name TEXT COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    kept_at TEXT COLLATE "C" NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (name)
);

ALTER TABLE shared_file ALTER COLUMN data SET STORAGE EXTERNAL;
