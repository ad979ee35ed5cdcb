-- A message is also asked for by the platform's id alone, whatever its chat: the id comes first in the
-- indexes by which a chat's message is found.
DROP INDEX inbox_message;
CREATE INDEX inbox_message ON inbox (message_id, chat_id, account_id);

DROP INDEX outbox_sent;
CREATE INDEX outbox_sent ON outbox (platform_id, chat_id, account_id) WHERE platform_id IS NOT NULL;
