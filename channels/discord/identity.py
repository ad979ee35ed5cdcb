"""Who wrote a message, as its payload says, and the names of what its text refers to by id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from discord.utils import snowflake_time

from channels.discord.guild_cache import GuildCache, Raw
from channels.message import Author

DISCORD: Final = Author("", "Discord")
TOKEN: Final = re.compile(r"<(?:(@!?|@&|#)(\d{1,20})|a?:(\w+):\d{1,20})>")
"""A mention of a person, a role or a channel, or an emoji of a server."""


@dataclass(frozen=True, slots=True)
class DiscordSelf:
    """The bot's identity on Discord, what people call it, and the rules by which it answers."""

    id: str
    name: str = ""
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()


def author_of(raw: Raw) -> Author:
    """Return the author of a message; a forwarded message's is not known."""
    user = raw.get("author")
    if not user:
        return Author("", "")
    nick = (raw.get("member") or {}).get("nick")
    hook = bool(raw.get("webhook_id"))
    is_bot = bool(user.get("bot")) or hook
    name = str(nick or name_of(user))
    return Author(str(int(user["id"])), name, is_bot, acts_as="other" if hook else "person")


def name_of(user: Raw) -> str:
    return str(user.get("global_name") or user.get("username") or user["id"])


def is_own(raw: Raw, sender: Author, me: DiscordSelf) -> bool:
    is_own_hook = bool(raw.get("webhook_id")) and raw.get("application_id") == me.id
    return sender.id == me.id or is_own_hook


def utc_of(stamp: Any) -> str:
    """Return one of Discord's timestamps in UTC, or "" for none."""
    return datetime.fromisoformat(str(stamp)).astimezone(UTC).isoformat() if stamp else ""


def date_of(raw: Raw) -> str:
    return utc_of(raw.get("timestamp")) or snowflake_time(int(raw["id"])).isoformat()


def readable(text: str, raw: Raw, me: DiscordSelf, cache: GuildCache) -> str:
    """Return a text of a message with names in place of ids."""
    if "<" not in text:
        return text
    names = {str(user["id"]): name_of(user) for user in raw.get("mentions") or ()}
    names[me.id] = me.name or (me.names[0] if me.names else me.id)
    listed = dict(_listed_channels(raw))
    guild = cache.guilds.get(str(raw.get("guild_id") or ""))
    roles = guild.roles if guild is not None else {}
    place = str(raw.get("channel_id"))

    def named(found: re.Match[str]) -> str:
        kind, number, emoji = found.groups()
        if emoji:
            return f":{emoji}:"
        if kind == "#":
            name = _channel_name(number, place, cache) or listed.get(number, "")
            return f"#{name}" if name else found[0]
        name = roles.get(number, "") if kind == "@&" else names.get(number, "")
        return f"@{name}" if name else found[0]

    return TOKEN.sub(named, text)


def _channel_name(number: str, place: str, cache: GuildCache) -> str:
    """Return a channel's name; that of a private thread is known inside it only."""
    channel = cache.channels.get(number)
    if channel is None or (channel.is_private_thread and number != place):
        return ""
    return channel.name


def _listed_channels(raw: Raw) -> Iterator[tuple[str, str]]:
    """Yield the public channels of another server that a message from there names."""
    for one in raw.get("mention_channels") or ():
        yield str(one.get("id")), str(one.get("name") or "")
