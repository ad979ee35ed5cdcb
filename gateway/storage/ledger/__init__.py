"""The ledger: inbox, outbox, leases and cursors over one store.

ledger    what it guarantees, and the four together
rows      rows as values
sql/      tables and statements, one folder per dialect
"""
