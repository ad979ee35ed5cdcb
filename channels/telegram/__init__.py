"""Telegram: groups, forum topics and private chats, by long poll or webhook.

adapter   the channel                     api       requests, and what their errors mean
inbound   from an update to a message     outbound  sending, editing, drafts, typing
format    Markdown to entities, pieces    media     what came with a message
"""
