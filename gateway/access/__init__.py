"""Who may talk to the agent, and with which role.

access          decides about each message, in memory
roles           the role of a person who asks, for which a platform may be asked
administrators  the chats that a person administers on their platform, for the console
pairing         the codes by which somebody becomes an owner
console_door    the links and sessions of the console
console_links   the read-only links to single tapes
"""
