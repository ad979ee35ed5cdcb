"""Import JSONL files that Tapeway or another tool has written."""
