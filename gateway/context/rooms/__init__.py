"""The recent messages of each chat, kept in memory so that new ones can be linked to them.

memory    what is remembered of one chat
memories  the chats that were active last; others are read from the tape
reading   what the tape says of a message, as the linker gets it
"""
