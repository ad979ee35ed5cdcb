"""Discord: servers, threads, forum posts and private messages, over one connection or several.

adapter   slash_commands                     the channel, and its commands
shard     gateway_socket identify_limit      one connection and its probe
event_handler  event_queue guild_cache       events, in order, to disk
inbound   media                              parse events into messages
outbound  format                             sending, editing, finding; Discord's Markdown
catch_up  backfill history_audit             what was missed
api       settings permalink
"""
