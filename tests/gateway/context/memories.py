"""A room in which people talk, as the context remembers it."""

from __future__ import annotations

from dataclasses import replace

from channels.message import Author, InboundMessage
from tests.kit.chats import GroupChat
from tests.kit.plain_channels import MESSAGE

CHAT = replace(MESSAGE, addressed=False, why="said to the group")


def says(number: int, who: str, text: str, **more: object) -> InboundMessage:
    """Return a message of a group, a minute after the one before."""
    ids = {"ext_id": f"-100/{number}", "message_id": str(number)}
    day, hour = divmod(number // 60, 24)
    date = f"2026-01-{1 + day:02}T{hour:02}:{number % 60:02}:00.000000Z"
    sender = Author(who, f"Name{who} Last", handle=f"handle{who}")
    said = replace(CHAT, **ids, sender=sender, text=text, date=date)  # type: ignore[arg-type]
    return replace(said, **more)  # type: ignore[arg-type]


async def hear(group: GroupChat, *said: InboundMessage) -> list[str]:
    """Say messages in a group; returns the lanes of all its messages so far."""
    return [entry.meta["lane"] for entry in await group.hear(*said) if "inbox" in entry.meta]
