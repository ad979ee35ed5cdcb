-- readable from: 5
-- When a control was answered, and which process runs an erasure: '' if it is a version that did not
-- say so.
ALTER TABLE control ADD COLUMN answered_at TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE erasure ADD COLUMN owner TEXT COLLATE "C" NOT NULL DEFAULT '';
