"""Context: which conversation a message belongs to, and what a model sees of it."""
