"""A link to a message, as people copy it from a platform."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessageLink:
    """What a link names: `chat_id` is empty where it tells the chat's name only.

    chat_id may also be that of a thread, where the platform's links do not tell the two apart.
    """

    message_id: str
    chat_id: str = ""
