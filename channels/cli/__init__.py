"""The terminal: `tapeway chat` and `tapeway run`.

adapter   the channel            inbound   lines
outbound  printing               format    text without control sequences
"""
