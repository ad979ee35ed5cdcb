"""Turns a line typed in a terminal into a message, which is always for the agent."""

from __future__ import annotations

from channels.message import Author, InboundMessage
from channels.room.routes import Post


def parse(channel: str, chat: str, post: Post, date: str) -> InboundMessage:
    return InboundMessage(
        channel=channel,
        chat_id=chat,
        ext_id=f"{chat}/{post.id}",
        message_id=str(post.id),
        sender=Author(post.person.id, post.person.name),
        text=post.text,
        date=date,
        addressed=True,
        why="private chat",
        owner=True,
    )
