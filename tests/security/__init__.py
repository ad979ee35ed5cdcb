"""Attacks by people who are in the room, and what they must not achieve."""
