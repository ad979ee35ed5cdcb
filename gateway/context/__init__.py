"""Context: decides which conversation a message belongs to, and what the model sees."""
