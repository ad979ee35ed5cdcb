"""The store of tapes on PostgreSQL."""
