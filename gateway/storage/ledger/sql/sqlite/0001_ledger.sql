-- What was accepted and what is to be sent, beside the tapes: one transaction covers both.

CREATE TABLE account (
    account_id TEXT PRIMARY KEY,
    channel    TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'on'
) STRICT, WITHOUT ROWID;

CREATE TABLE cursor (
    account_id TEXT NOT NULL,
    chat_id    TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (account_id, chat_id)
) STRICT, WITHOUT ROWID;

-- owner and epoch are the fence: who takes a session over makes the epoch greater, and what the
-- former owner still tries to commit changes nothing.
CREATE TABLE session (
    session_id  TEXT PRIMARY KEY,
    tape        TEXT NOT NULL,
    owner       TEXT NOT NULL DEFAULT '',
    epoch       INTEGER NOT NULL DEFAULT 0,
    lease_until TEXT NOT NULL DEFAULT '',
    ready_at    TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- status: accepted -> waiting -> taken -> done | failed | stopped | dead, or at intake: taped | refused
CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY,
    account_id  TEXT NOT NULL,
    ext_id      TEXT NOT NULL,
    alt_id      TEXT,
    chat_id     TEXT NOT NULL,
    message_id  TEXT NOT NULL,
    session_id  TEXT,
    entry_id    INTEGER,
    lane        TEXT,
    turn_id     TEXT,
    payload     TEXT NOT NULL,
    status      TEXT NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    received_at TEXT NOT NULL,
    UNIQUE (account_id, ext_id)
) STRICT;

CREATE INDEX inbox_open ON inbox (id) WHERE status IN ('accepted', 'waiting', 'taken');
CREATE INDEX inbox_waiting ON inbox (session_id, entry_id) WHERE status = 'waiting';
CREATE INDEX inbox_message ON inbox (account_id, chat_id, message_id);
CREATE INDEX inbox_turn ON inbox (turn_id) WHERE turn_id IS NOT NULL;

-- status: draft -> pending -> sending -> sent | ambiguous | dead
CREATE TABLE outbox (
    id          INTEGER PRIMARY KEY,
    account_id  TEXT NOT NULL,
    chat_id     TEXT NOT NULL,
    session_id  TEXT NOT NULL,
    turn_id     TEXT NOT NULL,
    part        INTEGER NOT NULL,
    idem        TEXT NOT NULL UNIQUE,
    op          TEXT NOT NULL,
    lane        TEXT,
    payload     TEXT NOT NULL,
    status      TEXT NOT NULL,
    platform_id TEXT,
    attempts    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX outbox_open ON outbox (id) WHERE status IN ('draft', 'pending', 'sending');
CREATE INDEX outbox_turn ON outbox (turn_id) WHERE status = 'draft';
CREATE INDEX outbox_sent ON outbox (account_id, chat_id, platform_id) WHERE platform_id IS NOT NULL;
