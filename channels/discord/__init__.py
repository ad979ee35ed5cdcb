"""Discord: servers, threads, forum posts and private messages, by one connection or several.

adapter   the channel                        api       requests, and what their errors mean
shard     one connection, and its proof      hearing   what comes in, in its order, onto the disk
places    servers, channels and threads      backfill  what was said while nobody listened
patrol    whether what is said comes in      commands  slash commands
inbound   from an event to a message         media     what came with a message
outbound  sending, editing, looking up       format    Markdown as Discord draws it
sdk_socket    the SDK's socket without its client
"""
