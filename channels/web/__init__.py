"""The gateway's own page, where people talk in rooms.

adapter   the channel            inbound   parses posts, and decides if they are for the agent
outbound  serves the files       format    renders Markdown as HTML
drawing   HTML of the events of Markdown     links  which addresses are links
defined   links defined elsewhere in a text  attached  the files of a post
"""
