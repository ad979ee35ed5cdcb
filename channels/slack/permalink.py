"""Parse links to messages: WORKSPACE.slack.com/archives/CHANNEL/pSTAMP.

The stamp has no dot there. The link to a message in a thread names the thread in its query.
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
    """Return the message that a link names, None if it is no link to a Slack message."""
    found = _LINK.fullmatch(text)
    return MessageLink(f"{found['seconds']}.{found['rest']}", found["chat"]) if found else None
