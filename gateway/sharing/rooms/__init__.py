"""Rooms on the pages of several processes: `shared_rooms` between them, `shared_hub` at each."""
