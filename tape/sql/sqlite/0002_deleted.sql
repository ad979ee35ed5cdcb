-- What was deleted where people talk: the events that say so, to be found without reading a tape.
CREATE INDEX entry_deleted ON entry (tape, id) WHERE kind = 'event' AND name = 'message.delete';
