"""The file store: one JSONL file per tape, sealed line by line, with an index next to them."""
