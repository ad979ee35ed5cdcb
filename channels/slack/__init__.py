"""Slack: channels, private channels, group and direct messages, threads; Socket Mode or HTTP.

adapter      the channel                    inbound     from an event to a message
socket_mode  its one connection             mrkdwn      Slack's own text, to plain text and back
presence     how that is, what it missed    echoes      whether events come, when they must
events       the way in, until it is kept   held        order, restored
api          requests, what errors mean     outbound    posting, editing, deleting
methods      what is asked, and its scopes  streams     partial text in Slack's own way
budgets      how often it may be asked      status      "is thinking ..."
workspaces   where the app is installed     past        what was said meanwhile, or sent already
names        what ids are called            install     adding the app to a further workspace
format       Markdown as Slack takes it     media       the files of a message
places       where an answer goes           waiting     for the first of two things
"""
