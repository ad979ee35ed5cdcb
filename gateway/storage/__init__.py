"""Durable state: the ledger, a store for plugins' tapes, and protection from a full disk."""
