"""Chats are opened, and owners are paired, while the gateway runs.

place     a chat or server that can be opened, and the sentences about it
openings  opens and closes chats, for commands, cards and the terminal
requests  asks an owner in private about a chat that wants to be opened
pairer    makes the sender of a pairing code an owner
"""
