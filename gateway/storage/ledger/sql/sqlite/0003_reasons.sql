-- Why a message or a send ended as it did, for whoever asks.
ALTER TABLE inbox ADD COLUMN why TEXT;
ALTER TABLE outbox ADD COLUMN why TEXT;

-- In which threads of a chat something was said lately.
CREATE INDEX inbox_thread ON inbox (account_id, chat_id, received_at)
WHERE payload ->> '$.thread_id' IS NOT NULL;
