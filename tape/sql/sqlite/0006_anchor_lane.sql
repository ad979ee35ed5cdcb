-- The anchors of a lane, and those of none: the latest that holds for a lane is found without reading
-- those of all the others.
CREATE INDEX entry_anchor_lane ON entry (tape, lane, id) WHERE kind = 'anchor';
