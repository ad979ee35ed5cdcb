"""jsonl."""
