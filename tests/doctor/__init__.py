"""Forty things broken on purpose; doctor runs as a command and must name each with its remedy."""
