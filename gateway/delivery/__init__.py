"""Delivery: outbox: put messages there with a commit; sender: send them."""
