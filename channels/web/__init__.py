"""The gateway's own page, where people talk in rooms.

adapter   the channel            inbound   posts, and whether they are for the agent
outbound  the page's files       format    Markdown to HTML
"""
