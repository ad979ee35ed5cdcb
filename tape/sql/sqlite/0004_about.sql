-- What became of a message (it reads otherwise, it was deleted, its images), by the message: to be
-- found for a few of them without reading all that was ever edited.
CREATE INDEX entry_about ON entry (tape, payload ->> '$.data.entry', id)
WHERE kind = 'event' AND name IN ('message.delete', 'message.edit', 'message.media');
