"""Parses links to Discord messages: discord.com/channels/SERVER/CHANNEL/MESSAGE (@me if private).

CHANNEL is the thread's id if the message is in a thread.
"""

from __future__ import annotations

import re
from typing import Final

from channels.message import MessageLink

_LINK: Final = re.compile(
    r"(?:https?://)?(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com/channels/"
    r"(?:@me|\d{1,20})/(?P<chat>\d{1,20})/(?P<message>\d{1,20})/?(?:\?\S*)?"
)


def read_link(text: str) -> MessageLink | None:
    """Return the message that a link points to, or None if it is no link to a Discord message."""
    found = _LINK.fullmatch(text)
    return MessageLink(found["message"], found["chat"]) if found else None


def write_link(message_id: str, channel_id: str, guild: str) -> str:
    """Return the link to a message; without a guild, the channel is private."""
    return f"https://discord.com/channels/{guild or '@me'}/{channel_id}/{message_id}"
