"""Place accepted messages on their tapes, and record what else happens in chats."""
