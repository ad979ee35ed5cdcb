"""Slash commands: what is registered with Discord, and what their use says.

Discord wants an answer within three seconds, and shows nobody else what was asked. So the command
is noted in the chat at once, as a message, and the answer is an ordinary reply to that note: it
needs no token of Discord's, which dies after a quarter of an hour and with the process.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any, Final

from discord.utils import snowflake_time

from channels.discord.guild_cache import GuildCache
from channels.discord.inbound import name_of, where
from channels.message import Author, InboundMessage

Raw = Mapping[str, Any]

USED: Final = 2
"""The type of an interaction that is the use of a command."""

NOTE: Final = 4
"""The type of an answer that is a message."""

ONLY_THEM: Final = 1 << 6
"""The flag of a message that only the person sees who used the command."""

LONGEST_NOTE: Final = 1_900
ASK: Final = "question"
_STRING, _YES_OR_NO = 3, 5

SLASH: Final[list[dict[str, Any]]] = [
    {
        "name": "ask",
        "description": "ask me something",
        "options": [
            {"name": ASK, "description": "your question", "type": _STRING, "required": True}
        ],
    },
    {
        "name": "stop",
        "description": "end the answer that I am writing for you",
        "options": [
            {"name": "all", "description": "every answer in this channel", "type": _YES_OR_NO}
        ],
    },
    {
        "name": "reset",
        "description": "begin afresh: what was said before is out of my sight",
    },
    {"name": "status", "description": "what I remember of this channel"},
    {"name": "help", "description": "what I can do here"},
]
"""What is registered: in servers and in private messages, for everybody; access is decided here."""

LINES: Final = {"stop": ",stop", "reset": ",reset", "status": ",tape.info", "help": ",help"}


def registered() -> list[dict[str, Any]]:
    """Return the commands as Discord registers them."""
    return [{"type": 1, "contexts": [0, 1], "integration_types": [0], **one} for one in SLASH]


def used(raw: Raw, places: GuildCache) -> InboundMessage | None:
    """Read the use of a command; None for any other interaction."""
    if int(raw.get("type") or 0) != USED:
        return None
    number, channel = str(int(raw["id"])), str(int(raw["channel_id"]))
    server = str(raw.get("guild_id") or "")
    if channel not in places.rooms and raw.get("channel"):
        places.learn({"guild_id": server, **raw["channel"]})
    member = raw.get("member") or {}
    user = raw.get("user") or member["user"]
    given = {one["name"]: one.get("value") for one in raw["data"].get("options") or ()}
    return InboundMessage(
        **where(places.room(channel, server), places),
        ext_id=f"{channel}/{number}",
        message_id=number,
        sender=Author(
            str(int(user["id"])), str(member.get("nick") or name_of(user)), bool(user.get("bot"))
        ),
        text=_line(str(raw["data"]["name"]), given),
        date=snowflake_time(int(number)).astimezone(UTC).isoformat(),
        addressed=True,
        why="command",
    )


def note_of(raw: Raw) -> str:
    """Return what is noted in the chat: the command as it was used."""
    given = raw["data"].get("options") or ()
    values = " ".join(str(one.get("value", "")) for one in given)
    return f"**/{raw['data']['name']}** {values}".strip()[:LONGEST_NOTE]


def _line(name: str, given: Mapping[str, Any]) -> str:
    if name == "ask":
        return str(given.get(ASK) or "")
    line = LINES.get(name, f",{name}")
    return f"{line} all" if given.get("all") is True else line
