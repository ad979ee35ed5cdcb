"""What an operator may do: inspect the ledger and the tapes, and change them by hand."""
