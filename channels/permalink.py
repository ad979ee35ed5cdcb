"""A link to a message, as people copy it from a platform."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessageLink:
    """The message that a link points to.

    chat_id  empty if the link has only the chat's name; a thread's id on platforms whose links do
             not distinguish the two
    """

    message_id: str
    chat_id: str = ""
