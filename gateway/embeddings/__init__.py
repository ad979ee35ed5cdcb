"""Embedders for semantic search: a server's, or a small model on this machine."""
