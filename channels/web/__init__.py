"""The gateway's own page, where people talk in rooms.

adapter   the channel            inbound   parses posts, and decides if they are for the agent
outbound  serves the files       format    renders Markdown as HTML
inlines   the page's own Markdown       attached  the files of a post
"""
