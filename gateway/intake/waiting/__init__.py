"""Messages that wait to be placed on their tapes: their order, and what stands on the disk."""
