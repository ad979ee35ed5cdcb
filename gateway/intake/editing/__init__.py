"""What an edit makes of its message.

versions  the versions of a message, and whether an edit of it may ask the agent
edits     records edits and deletions
revision  what a message says after an edit, and what differs
"""
