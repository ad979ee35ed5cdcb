"""Durable state: the ledger, a store for plugins' tapes, and protection against a full disk."""
