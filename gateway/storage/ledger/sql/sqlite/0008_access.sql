-- Who may talk to the agent, by the platform's numeric id: of a person, a chat, a server or a
-- workspace. `account_id` is a channel (every account of it) or `channel:account`. `role` is owner,
-- admin, member (of a chat or server: it is open), or none, which also overrules the settings.
CREATE TABLE access_rule (
    account_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    role         TEXT NOT NULL,
    name         TEXT NOT NULL,
    server_id    TEXT NOT NULL,
    private_chat TEXT NOT NULL,
    granted_by   TEXT NOT NULL,
    granted_at   TEXT NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- Chats that want to be opened: each is asked for once. `state` is sent (the owner has a message with
-- buttons), listed (the owner finds it in the list) or former (it worked until an upgrade).
CREATE TABLE access_request (
    account_id TEXT NOT NULL,
    chat_id    TEXT NOT NULL,
    title      TEXT NOT NULL,
    server_id  TEXT NOT NULL,
    asked_by   TEXT NOT NULL,
    state      TEXT NOT NULL,
    day        TEXT NOT NULL,
    PRIMARY KEY (account_id, chat_id)
) STRICT, WITHOUT ROWID;
