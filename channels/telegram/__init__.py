"""Telegram: groups, forum topics and private chats, by long polling or webhook.

adapter  polling     the channel, and its updates
inbound  fields addressing chat_changes media    parse updates into messages
outbound format      sending, editing, drafts and typing; Markdown to entities
api                  requests, and what their errors mean
settings permalink
"""
