-- A read-only link shows one tape to whoever has it. Only digests of its secret and of its readers'
-- cookies are kept, with who made it: the account and the platform's id of the person, or the access
-- token's holder. `token` is a digest of the access token at the time: with another token, all links
-- are void. Who made and revoked a link is known for a while after its end.
CREATE TABLE console_link (
    link_id    TEXT PRIMARY KEY,
    digest     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    person     TEXT NOT NULL,
    holder     INTEGER NOT NULL,
    token      TEXT NOT NULL,
    made_at    TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    opened     INTEGER NOT NULL DEFAULT 0,
    revoked_at TEXT NOT NULL DEFAULT '',
    revoked_by TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE console_reader (
    digest     TEXT PRIMARY KEY,
    link_id    TEXT NOT NULL,
    opened_at  TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX console_link_digest ON console_link (digest);
CREATE INDEX console_link_session ON console_link (session_id, made_at);
CREATE INDEX console_reader_link ON console_reader (link_id, opened_at);
