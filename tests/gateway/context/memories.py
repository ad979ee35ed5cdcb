"""A room in which people talk, as the context remembers it."""

from __future__ import annotations

from dataclasses import replace

from channels.message import Author, InboundMessage
from gateway.app import Gateway
from tests.kit.gateways import settled
from tests.kit.plain_channels import MESSAGE, PlainChannel

CHAT = replace(MESSAGE, addressed=False, why="said to the group")


SESSION = "plain:-100"


def says(number: int, who: str, text: str, **more: object) -> InboundMessage:
    """Return a message of a group, a minute after the one before."""
    ids = {"ext_id": f"-100/{number}", "message_id": str(number)}
    date = f"2026-01-01T{number // 60:02}:{number % 60:02}:00.000000Z"
    sender = Author(who, f"Name{who} Last", handle=f"handle{who}")
    said = replace(CHAT, **ids, sender=sender, text=text, date=date)  # type: ignore[arg-type]
    return replace(said, **more)  # type: ignore[arg-type]


async def hear(gateway: Gateway, channel: PlainChannel, *said: InboundMessage) -> list[str]:
    """Let a group say something; returns the lanes of all that it said so far."""
    await channel.host.accept(list(said))
    entries = await settled(gateway, SESSION)
    return [entry.meta["lane"] for entry in entries if "inbox" in entry.meta]


def room_of(gateway: Gateway) -> str:
    return gateway.services.tapes.session_tape(SESSION).name
