"""Supervision: keeps channels connected, and gives each its interface to the gateway."""
