"""Turns: each answers one question."""
