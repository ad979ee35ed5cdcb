"""Embedders for semantic search: one uses a server, the other a small model on this machine."""
