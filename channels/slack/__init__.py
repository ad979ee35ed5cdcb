"""Slack: channels, private channels, group and direct messages, threads; Socket Mode or HTTP.

An event passes through socket_mode or events, receiver, inbound, reorder and adapter, in order.

adapter   workspaces installations oauth      the channel, and the workspaces it is in
receiver  socket_mode events reorder          store deliveries in order
inbound   mrkdwn media name_cache             parse events into messages
outbound  streams threads format assistant_status    send answers, partial text and status
format    drawing growing                     draw each block of an answer once
history   connection_monitor self_events gap_filler  notice stalls, and fill gaps
api       api_methods                         requests, scopes and rate limits
settings  permalink
"""
