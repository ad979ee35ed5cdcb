"""`tapeway backup`, `restore` and `migrate`."""
