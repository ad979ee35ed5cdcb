"""The gateway's own page, where people talk in rooms.

adapter   the channel            inbound   posts, and who is asked
outbound  the page's files       format    Markdown to HTML
"""
