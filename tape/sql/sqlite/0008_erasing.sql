-- The one way to take words out of an entry: its place stands here while a transaction erases it. Its
-- id, kind, date and place among the others stay, and so does everything about entries not listed.
CREATE TABLE erasing (pos INTEGER PRIMARY KEY) STRICT;

DROP TRIGGER entry_never_updated;
CREATE TRIGGER entry_never_updated BEFORE UPDATE ON entry
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE pos = OLD.pos)
    OR NEW.pos IS NOT OLD.pos OR NEW.tape IS NOT OLD.tape OR NEW.id IS NOT OLD.id
    OR NEW.kind IS NOT OLD.kind OR NEW.date IS NOT OLD.date OR NEW.late IS NOT OLD.late
BEGIN SELECT RAISE(ABORT, 'a tape is append-only: an entry is never changed'); END;
