"""The terminal: `tapeway chat` and `tapeway run`.

adapter   the channel            inbound   lines
outbound  printing               format    what may reach a terminal
"""
