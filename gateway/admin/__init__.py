"""The operator's actions: inspect the ledger and the tapes, and change them by hand."""
