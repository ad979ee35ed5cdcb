"""The terminal: `tapeway chat` and `tapeway run`.

adapter   the channel            inbound   parses typed lines
outbound  prints answers         format    removes control sequences
"""
