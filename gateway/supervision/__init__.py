"""Supervision: keeps channels connected, and shows them the gateway."""
