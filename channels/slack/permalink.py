"""Parses links to messages: WORKSPACE.slack.com/archives/CHANNEL/pTIMESTAMP.

The timestamp has no dot there. For a message in a thread, the link's query contains the thread.
"""

from __future__ import annotations

import re
from typing import Final

from channels.message import MessageLink

_LINK: Final = re.compile(
    r"(?:https?://)?[\w-]+(?:\.[\w-]+)?\.slack\.com/archives/"
    r"(?P<chat>[A-Z0-9]{3,20})/p(?P<seconds>\d{10})(?P<rest>\d{6})/?(?:\?\S*)?"
)


def read_link(text: str) -> MessageLink | None:
    """Return the message that a link points to, or None if it is no link to a Slack message."""
    found = _LINK.fullmatch(text)
    return MessageLink(f"{found['seconds']}.{found['rest']}", found["chat"]) if found else None


def write_link(message_id: str, chat_id: str, workspace: str) -> str:
    """Return the link to a message, below the workspace's address."""
    return f"{workspace.rstrip('/')}/archives/{chat_id}/p{message_id.replace('.', '')}"
