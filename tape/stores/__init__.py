"""The built-in stores: memory, SQLite, and JSONL files."""
