-- Sessions of the page. Only digests of the cookies are kept. `token` is a digest of the access
-- token at the time: with another token, the session is over. A member has one `room`.
CREATE TABLE page_session (
    digest     TEXT PRIMARY KEY,
    person     TEXT NOT NULL UNIQUE,
    owner      INTEGER NOT NULL,
    room       TEXT NOT NULL,
    token      TEXT NOT NULL,
    opened_at  TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Codes that open sessions: invitations to a room, and links for the owner. Only digests are kept.
CREATE TABLE page_code (
    digest     TEXT PRIMARY KEY,
    owner      INTEGER NOT NULL,
    room       TEXT NOT NULL,
    token      TEXT NOT NULL,
    uses       INTEGER NOT NULL,
    expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
