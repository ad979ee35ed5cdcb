"""The names of topics, as content of their messages: each is somebody's words.

Telegram sends a name when the topic is made, with each message there that answers no other one, and
when it changes. The gateway shows the first of these in the topic once, and every change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from channels.message import TITLE, Excerpt
from channels.telegram.fields import Raw, author_of, moment_of, part, string

RENAMED: Final = "forum_topic_edited"
MADE: Final = "forum_topic_created"
NEW_TITLE: Final = "the new name of a topic"
"""Why the message that gives a topic a name does not ask."""


def new_title(raw: Raw) -> Iterator[Excerpt]:
    """Yield the name that a service message gives to its topic, if it gives one."""
    name = string(part(raw, RENAMED), "name")
    if name:
        yield Excerpt(TITLE, name)


def title_of(raw: Raw, bot: int) -> Iterator[Excerpt]:
    """Yield the name that the topic of a message was made with, if the message has it."""
    made = part(raw, "reply_to_message")
    name = string(part(made, MADE), "name")
    if not (name and raw.get("is_topic_message")):
        return
    if not (made.get("from") or made.get("sender_chat")):
        yield Excerpt(TITLE, name)
        return
    author = author_of({"chat": raw["chat"], **made})
    date = moment_of(made["date"]) if made.get("date") else ""
    yield Excerpt(TITLE, name, author.name, author.id, date, ours=author.id == str(bot))
