"""Turns a post from the page into a message, and decides whether it is for the agent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from channels.commands import after_mention, command_line
from channels.markdown.render import text_outside_code
from channels.mentions import begins_with_mention, end_of_mention, mentions
from channels.message import Author, InboundMessage
from channels.room.routes import Post
from channels.room.session import PageSession
from channels.web.attached import attached

EVERYONE: Final = ("everyone", "here")

_ADDRESS: Final = re.compile(r"://|\w\.\w{2,}/")

MAX_PARSED: Final = 16_000
"""Maximum characters in which a mention is looked for: parsing more would delay other chats."""


def addressed(
    text: str, agent: str, others: Sequence[str], *, to_agent: bool, to_ours: bool
) -> tuple[bool, str]:
    """Return whether a message is for the agent, and by which rule; code and links are ignored.

    to_agent  whether the page's switch is set to the agent
    to_ours   whether the message replies to one of the agent's messages
    """
    plain = " ".join(
        word for word in text_outside_code(text[:MAX_PARSED]).split() if not _ADDRESS.search(word)
    )
    if mentions(plain, agent):
        return True, "mention"
    if to_ours:
        return True, "reply"
    if any(begins_with_mention(plain, name) for name in (*others, *EVERYONE)):
        return False, "a mention of somebody else"
    return (True, "asked on the page") if to_agent else (False, "said to the room")


def as_command(text: str, agent: str) -> str:
    """Return the command line that a text has the form of, beginning with a comma, or ""."""
    return command_line(after_mention(text, end_of_mention(text, agent)))


def parse(
    room: str, post: Post, session: PageSession, date: str, agent: str, others: Sequence[str]
) -> InboundMessage:
    is_addressed, why = addressed(
        post.text,
        agent,
        [name for name in others if name not in (agent, post.person.name)],
        to_agent=post.to_agent,
        to_ours=post.reply_to is not None and ":" in post.reply_to,
    )
    return InboundMessage(
        channel="web",
        chat_id=room,
        chat_kind="group",
        chat_title=room,
        ext_id=f"{room}/{post.id}",
        message_id=str(post.id),
        sender=Author(session.person, post.person.name),
        text=post.text,
        command=as_command(post.text, agent),
        date=date,
        reply_to=post.reply_to,
        media=tuple(media for media, _data in attached(room, session.person, post)),
        addressed=is_addressed,
        why=why,
        owner=session.owner,
        invited=not session.owner,
    )
