"""Slash commands and buttons: registers the commands, and turns each use into a message.

Discord wants an answer within three seconds, and shows the command to nobody else. So a note that
quotes the command is posted at once, and the answer is an ordinary reply to this note. The reply
needs no interaction token, which would expire after 15 minutes and be lost in a restart.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import UTC
from typing import Any, Final

from discord.utils import snowflake_time

from channels.discord.guild_cache import GuildCache, Raw
from channels.discord.identity import name_of
from channels.discord.inbound import where
from channels.message import Author, InboundMessage

COMMAND_USED: Final = 2  # type of an interaction: somebody used a command
BUTTON_PRESSED: Final = 3  # type of an interaction: somebody pressed a button
EPHEMERAL: Final = 1 << 6  # message flag: only the person who used the command sees the message
MAX_NOTE: Final = 1_900
QUESTION: Final = "question"
PAIR: Final = "pair"
CHECKING: Final = "I'm checking the code."
SERVER, BOT_DM = 0, 1  # contexts in which Discord offers a command
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
    {
        "name": "handoff",
        "description": "Set a checkpoint here",
        "options": [
            {"name": "summary", "description": "What to remember from here on", "type": _STRING}
        ],
    },
    {
        "name": "rewind",
        "description": "Go back to an earlier checkpoint",
        "options": [
            {"name": "to", "description": "Which one; leave out to list them", "type": _STRING}
        ],
    },
    {"name": "forget", "description": "Erase what you wrote here; I ask before I do"},
    {
        "name": "open",
        "description": "Let me answer here (my owner decides)",
        "options": [{"name": "server", "description": "Open the whole server", "type": _BOOLEAN}],
    },
    {
        "name": "console",
        "description": "A link to the console, for owners and admins",
        "contexts": [BOT_DM],
    },
    {
        "name": PAIR,
        "description": "Become my owner with the code from my terminal",
        "contexts": [BOT_DM],
        "options": [{"name": "code", "description": "The code", "type": _STRING, "required": True}],
    },
]
"""The commands, offered to everybody on servers and in private: access is checked on use."""

COMMAND_LINES: Final = {"status": ",tape.info", "forget": ",forget me"}


def registration() -> list[dict[str, Any]]:
    usual = {"type": 1, "contexts": [SERVER, BOT_DM], "integration_types": [0]}
    return [{**usual, **one} for one in COMMANDS]


def command_message(raw: Raw, cache: GuildCache) -> InboundMessage:
    """Return the message that the use of a command stands for."""
    number, channel = str(int(raw["id"])), str(int(raw["channel_id"]))
    options = {one["name"]: one.get("value") for one in raw["data"].get("options") or ()}
    line = _command_line(str(raw["data"]["name"]), options)
    return InboundMessage(
        **_position(raw, cache),
        ext_id=f"{channel}/{number}",
        message_id=number,
        text=line,
        command=line if line.startswith(",") else "",
        addressed=True,
        why="command",
    )


def press_message(raw: Raw, cache: GuildCache) -> InboundMessage | None:
    """Return the message that a pressed button stands for, or None for other interactions."""
    if int(raw.get("type") or 0) != BUTTON_PRESSED:
        return None
    return InboundMessage(
        **_position(raw, cache),
        ext_id=f"press/{int(raw['id'])}",
        message_id=str(int(raw["message"]["id"])),
        text="",
        kind="press",
        press=str(raw["data"]["custom_id"]),
    )


def command_note(raw: Raw) -> tuple[str, int]:
    """Return the note that quotes a command, and its flags: a code may be seen by nobody else."""
    name, options = raw["data"]["name"], raw["data"].get("options") or ()
    if name == PAIR:
        return CHECKING, EPHEMERAL
    values = " ".join(str(one.get("value", "")) for one in options)
    return f"**/{name}** {values}".strip()[:MAX_NOTE], 0


def _position(raw: Raw, cache: GuildCache) -> dict[str, Any]:
    channel, guild = str(int(raw["channel_id"])), str(raw.get("guild_id") or "")
    if channel not in cache.channels and raw.get("channel"):
        cache.add_channel({"guild_id": guild, **raw["channel"]})
    member = raw.get("member") or {}  # `member` exists in guilds; private chats have only `user`
    user = raw.get("user") or member["user"]
    name = str(member.get("nick") or name_of(user))
    return {
        **where(cache.channel(channel, guild), cache),
        "sender": Author(str(int(user["id"])), name, bool(user.get("bot"))),
        "date": snowflake_time(int(raw["id"])).astimezone(UTC).isoformat(),
    }


def _command_line(name: str, options: Mapping[str, Any]) -> str:
    if name == "ask":
        return str(options.get(QUESTION) or "")
    line = COMMAND_LINES.get(name, f",{name}")
    for flag in ("all", "server"):
        if options.get(flag) is True:
            return f"{line} {flag}"
    if name == "handoff" and options.get("summary"):
        return f"{line} summary={shlex.quote(str(options['summary']))}"
    given = [shlex.quote(str(options[key])) for key in ("to", "code") if options.get(key)]
    return " ".join([line, *given])
