"""SQLite for tapes: schemas, connections, compiled queries, and group commit."""
