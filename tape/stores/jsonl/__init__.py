"""The file store: a JSONL file for each tape, sealed line by line, and an index next to them."""
