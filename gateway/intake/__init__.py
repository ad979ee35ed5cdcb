"""Intake: accepted messages become entries on their tapes."""
