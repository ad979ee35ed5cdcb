"""`tapeway ledger`: the rows of the inbox and the outbox."""
