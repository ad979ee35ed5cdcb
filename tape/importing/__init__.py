"""Imports of JSONL files from Tapeway or another tool."""
