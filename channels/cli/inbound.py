"""Turns a line typed in a terminal into a message, which is always for the agent."""

from __future__ import annotations

from channels.commands import command_line
from channels.message import Author, InboundMessage
from channels.room.routes import Post
from channels.room.session import PageSession


def parse(chat: str, post: Post, session: PageSession, date: str) -> InboundMessage:
    return InboundMessage(
        channel="cli",
        chat_id=chat,
        ext_id=f"{chat}/{post.id}",
        message_id=str(post.id),
        sender=Author(session.person, post.person.name),
        text=post.text,
        command=command_line(post.text),
        date=date,
        addressed=True,
        why="private chat",
        owner=session.owner,
    )
