-- readable from: 1
-- A read-only link shows one tape to whoever has it. Only digests of its secret and of its readers'
-- cookies are kept, with who made it: the account and the platform's id of the person, or the access
-- token's holder. `token` is a digest of the access token at the time: with another token, all links
-- are void. Who made and revoked a link is known for a while after its end.
CREATE TABLE console_link (
    link_id TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    holder INTEGER NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    made_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL,
    opened INTEGER NOT NULL DEFAULT 0,
    revoked_at TEXT COLLATE "C" NOT NULL DEFAULT '',
    revoked_by TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (link_id)
);

CREATE TABLE console_reader (
    digest TEXT COLLATE "C" NOT NULL,
    link_id TEXT COLLATE "C" NOT NULL,
    opened_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (digest)
);

CREATE UNIQUE INDEX console_link_digest ON console_link (digest);
CREATE INDEX console_link_session ON console_link (session_id, made_at);
CREATE INDEX console_reader_link ON console_reader (link_id, opened_at);
