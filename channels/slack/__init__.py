"""Slack: channels, private channels, group and direct messages, threads; Socket Mode or HTTP.

An event passes socket_mode or events, receiver, inbound, reorder, and adapter, in this order.

adapter             the channel                       inbound           parse events
socket_mode         the WebSocket                     mrkdwn            Slack's markup
events              check deliveries                  media             files of a message
receiver            events to stored messages         name_cache        names of ids
reorder             restore the order                 outbound          post, edit, delete
connection_monitor  lost, stalled, second reader      streams           partial text
self_events         detect a stall                    assistant_status  "is thinking ..."
gap_filler          fill gaps                         threads           thread and key of an answer
history             backfill, outcome checks          format            Markdown for Slack
workspaces          where the app is                  permalink         links to messages
installations       join and leave workspaces         oauth             install in a workspace
api                 requests and their errors         api_methods       scopes and rate limits
settings            the settings
"""
