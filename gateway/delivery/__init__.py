"""Delivery: the outbox module stores messages with a commit, and the sender sends them."""
