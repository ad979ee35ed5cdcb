"""Metrics: what `/metrics` shows, counted where it happens or read when it is asked for."""
