-- The index of a database's words, in a file of its own: whatever is here can be made again from
-- the tapes. A row's place is that of its entry: tape * 2^32 + id.

-- By which rules this index was made.
CREATE TABLE about (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which entries of a tape are in the index: all from `low` to `high`. It changes in the transaction
-- that puts them there. `mark` is the date of the entry `high`: another one means another history.
CREATE TABLE covered (
    tape INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    low  INTEGER NOT NULL,
    high INTEGER NOT NULL,
    mark TEXT NOT NULL
) STRICT;

-- The oldest and the newest date of each 4096 ids of a tape, so that a search between two dates
-- leaves out what lies elsewhere, whatever dates an import brought.
CREATE TABLE span (
    tape   INTEGER NOT NULL,
    block  INTEGER NOT NULL,
    oldest TEXT NOT NULL,
    newest TEXT NOT NULL,
    PRIMARY KEY (tape, block)
) STRICT, WITHOUT ROWID;

-- What people search: messages, anchors. `pairs` holds neighbours among characters that stand
-- alone, `tags` what narrows a search (author, lane, kind). The text comes in terms, split by us:
-- all that this tokenizer does is to take it apart at the spaces again.
CREATE VIRTUAL TABLE talk USING fts5 (
    text, pairs, who, tags, content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- What is searched where it is asked for: calls, results, events.
CREATE VIRTUAL TABLE work USING fts5 (
    text, pairs, who, tags, content = '', contentless_delete = 1, tokenize = 'ascii'
);
