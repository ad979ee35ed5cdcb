"""Slash commands: registers them, and turns each use of a command into a message.

Discord wants an answer within three seconds, and shows the command to nobody else. So a note that
quotes the command is posted at once, and the answer is an ordinary reply to this note. The reply
needs no interaction token, which would expire after 15 minutes and be lost in a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any, Final

from discord.utils import snowflake_time

from channels.discord.guild_cache import GuildCache, Raw
from channels.discord.inbound import name_of, where
from channels.message import Author, InboundMessage

COMMAND_USED: Final = 2  # type of an interaction: somebody used a command
NOTE: Final = 4  # type of a response: a message in the chat
EPHEMERAL: Final = 1 << 6  # message flag: only the person who used the command sees the message
MAX_NOTE: Final = 1_900
QUESTION: Final = "question"
_STRING, _BOOLEAN = 3, 5

COMMANDS: Final[list[dict[str, Any]]] = [
    {
        "name": "ask",
        "description": "Ask me something",
        "options": [
            {"name": QUESTION, "description": "Your question", "type": _STRING, "required": True}
        ],
    },
    {
        "name": "stop",
        "description": "Stop the answer I'm writing for you",
        "options": [
            {"name": "all", "description": "Stop every answer in this channel", "type": _BOOLEAN}
        ],
    },
    {"name": "reset", "description": "Start over: I forget the earlier messages here"},
    {"name": "status", "description": "Show what I remember of this channel"},
    {"name": "help", "description": "Show what I can do here"},
]
"""The commands, offered to everybody on servers and in private: access is checked on use."""

COMMAND_LINES: Final = {"stop": ",stop", "reset": ",reset", "status": ",tape.info", "help": ",help"}


def registration() -> list[dict[str, Any]]:
    return [{"type": 1, "contexts": [0, 1], "integration_types": [0], **one} for one in COMMANDS]


def command_message(raw: Raw, cache: GuildCache) -> InboundMessage | None:
    """Return the message that a command stands for, or None for any other interaction."""
    if int(raw.get("type") or 0) != COMMAND_USED:
        return None
    number, channel = str(int(raw["id"])), str(int(raw["channel_id"]))
    guild = str(raw.get("guild_id") or "")
    if channel not in cache.channels and raw.get("channel"):
        cache.add_channel({"guild_id": guild, **raw["channel"]})
    member = raw.get("member") or {}  # `member` exists in guilds; private chats have only `user`
    user = raw.get("user") or member["user"]
    options = {one["name"]: one.get("value") for one in raw["data"].get("options") or ()}
    return InboundMessage(
        **where(cache.channel(channel, guild), cache),
        ext_id=f"{channel}/{number}",
        message_id=number,
        sender=Author(
            str(int(user["id"])), str(member.get("nick") or name_of(user)), bool(user.get("bot"))
        ),
        text=_command_line(str(raw["data"]["name"]), options),
        date=snowflake_time(int(number)).astimezone(UTC).isoformat(),
        addressed=True,
        why="command",
    )


def command_note(raw: Raw) -> str:
    options = raw["data"].get("options") or ()
    values = " ".join(str(one.get("value", "")) for one in options)
    return f"**/{raw['data']['name']}** {values}".strip()[:MAX_NOTE]


def _command_line(name: str, options: Mapping[str, Any]) -> str:
    if name == "ask":
        return str(options.get(QUESTION) or "")
    line = COMMAND_LINES.get(name, f",{name}")
    return f"{line} all" if options.get("all") is True else line
