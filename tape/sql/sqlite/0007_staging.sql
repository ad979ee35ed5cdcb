-- An import fills a staging tape, which then gets the name of the tape that it is for; the tape that
-- it replaces becomes a staging tape. Only staging tapes may be renamed and removed.
DROP TRIGGER tape_never_updated;
CREATE TRIGGER tape_never_updated BEFORE UPDATE ON tape
WHEN NEW.tape IS NOT OLD.tape
    OR (OLD.name NOT LIKE 'import.staging.%' AND NEW.name NOT LIKE 'import.staging.%')
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: it is never renamed'); END;

DROP TRIGGER tape_never_deleted;
CREATE TRIGGER tape_never_deleted BEFORE DELETE ON tape
WHEN OLD.name NOT LIKE 'import.staging.%'
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: it is never removed'); END;

DROP TRIGGER entry_never_deleted;
CREATE TRIGGER entry_never_deleted BEFORE DELETE ON entry
WHEN (SELECT name FROM tape WHERE tape = OLD.tape) NOT LIKE 'import.staging.%'
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: an entry is never removed'); END;

DROP TRIGGER append_key_never_deleted;
CREATE TRIGGER append_key_never_deleted BEFORE DELETE ON append_key
WHEN (SELECT name FROM tape WHERE tape = OLD.tape) NOT LIKE 'import.staging.%'
BEGIN SELECT RAISE(ABORT, 'a key of an append is never removed'); END;
