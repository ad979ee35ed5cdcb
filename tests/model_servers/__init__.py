"""Scenarios of model servers: what each one sends, and what a person must see of it."""
