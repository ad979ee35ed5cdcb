"""From a line of the terminal to a message: everything there is said to the agent."""

from __future__ import annotations

from channels.message import Author, InboundMessage
from channels.room.routes import Post


def parse(channel: str, chat: str, post: Post, date: str) -> InboundMessage:
    """Make a message of a post."""
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
