-- An answer may begin a thread of the message that it answers: this finds those of a chat.
CREATE INDEX inbox_answered ON inbox (account_id, chat_id, received_at)
WHERE turn_id IS NOT NULL AND thread_id IS NULL;
