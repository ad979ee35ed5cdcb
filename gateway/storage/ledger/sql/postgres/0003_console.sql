-- readable from: 1
-- The console is entered with a link from a private chat. Only digests of its code and of the cookie
-- are kept, with the account and the platform's id of the person; `token` is a digest of the access
-- token at the time: with another token, both are void.
CREATE TABLE console_code (
    digest TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (digest)
);

CREATE TABLE console_session (
    digest TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    opened_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (digest)
);

-- Who opened a private chat in the console: one row per person, chat and hour.
CREATE TABLE console_opening (
    person TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    hour TEXT COLLATE "C" NOT NULL,
    opened_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (person, session_id, hour)
);

-- The chats in which somebody is known.
CREATE INDEX person_chats ON person (person, session_id);

-- The newest message of each chat, and what ended without an answer.
CREATE INDEX inbox_session ON inbox (session_id, id);
CREATE INDEX inbox_failed ON inbox (id) WHERE status IN ('failed', 'dead');
CREATE INDEX outbox_failed ON outbox (id) WHERE status IN ('dead', 'ambiguous') AND op <> 'draft';
