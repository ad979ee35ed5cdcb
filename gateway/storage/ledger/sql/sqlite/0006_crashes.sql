-- A turn that is running, and in how many crashes in a row it was: one that always is may be their cause.
ALTER TABLE inbox ADD COLUMN running INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
