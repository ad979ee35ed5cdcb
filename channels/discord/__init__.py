"""Discord: servers, threads, forum posts and private messages, over one connection or several.

adapter   slash_commands interactions        the channel, its commands and buttons
administrators                               who administers a server
shard     gateway_socket identify_limit      one connection and its probe
event_handler  event_queue guild_cache       store events on disk in order
inbound   media                              parse events into messages
outbound  format                             send, edit and find messages; Discord's Markdown
catch_up  backfill history_audit             read messages that were missed
api       settings permalink
"""
