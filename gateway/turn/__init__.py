"""Turns: one answer each."""
