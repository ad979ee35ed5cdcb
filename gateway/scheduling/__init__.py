"""Scheduling: which question runs when, and what a chat reads about the others."""
