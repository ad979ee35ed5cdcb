"""Telegram's links to messages: t.me/c/ID/MESSAGE in private groups, otherwise t.me/NAME/MESSAGE.

In a forum, the topic's id precedes the message's id. https://core.telegram.org/api/links
"""

from __future__ import annotations

import re
from typing import Final

from channels.message import MessageLink

_LINK: Final = re.compile(
    r"(?:https?://)?(?:www\.)?(?:t|telegram)\.me/"
    r"(?:c/(?P<private>\d{1,20})|(?P<name>[A-Za-z]\w{3,31}))"
    r"(?:/\d{1,20})?/(?P<message>\d{1,20})/?(?:\?\S*)?"
)
_SUPERGROUP: Final = re.compile(r"-100(\d+)")
_APP: Final = re.compile(
    r"tg://privatepost\?(?:\S*&)?channel=(\d{1,20})&(?:\S*&)?post=(\d{1,20})\S*"
)


def read_link(text: str) -> MessageLink | None:
    """Parse a link to a Telegram message, or return None for any other text."""
    found = _LINK.fullmatch(text)
    if found is not None:
        private = found["private"]
        return MessageLink(found["message"], f"-100{private}" if private else "")
    app = _APP.fullmatch(text)
    return MessageLink(app[2], f"-100{app[1]}") if app else None


def write_link(message_id: str, chat_id: str) -> str:
    """Return the link to a message of a supergroup; other chats have no links."""
    found = _SUPERGROUP.fullmatch(chat_id)
    return f"https://t.me/c/{found[1]}/{message_id}" if found else ""
