"""Discord: servers, threads, forum posts and private messages, over one connection or several.

adapter   the channel                        api             requests and their errors
inbound   events to messages                 outbound        sending, editing, finding
format    Markdown in Discord's dialect      media           attachments
settings  the channel's settings             permalink       links to messages
shard     one connection and its probe       gateway_socket  the SDK's socket without its client
event_queue    events in order, to disk      event_handler   what each event means
catch_up  when the history is read           backfill        how it is read
history_audit  whether messages arrive       guild_cache     servers, channels and threads
slash_commands  their use and their notes    identify_limit  Discord's limit of new sessions
"""
