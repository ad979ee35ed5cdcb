-- Why a message or a send ended as it did, for whoever asks.
ALTER TABLE inbox ADD COLUMN why TEXT;
ALTER TABLE outbox ADD COLUMN why TEXT;
