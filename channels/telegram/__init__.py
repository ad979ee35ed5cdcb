"""Telegram: groups, forum topics and private chats, by long polling or webhook.

adapter  polling     the channel, and how it receives updates
inbound  fields addressing chat_changes          parse updates into messages
content  entities rich_text rich_blocks media    read what a message says
details  quotes   text_files
outbound format      send, edit, show drafts and typing; convert Markdown to entities
api                  requests, and what Telegram's errors mean
settings permalink
"""
