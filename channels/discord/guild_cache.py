"""Caches what is known about each guild: its channels and threads, the bot's own role, and names.

Gateway events fill the cache, so that a message needs no request; ids are snowflakes as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from channels.clock import SystemClock
from channels.facts import Facts, OwnFacts

Raw = Mapping[str, Any]

DM: Final = 1
GROUP_DM: Final = 3
PRIVATE_THREAD: Final = 12
THREADS: Final = frozenset({10, 11, PRIVATE_THREAD})
TEXT_KINDS: Final = frozenset({0, 2, 5, 13}) | THREADS | {DM, GROUP_DM}
"""Types of channels that hold messages, including voice channels, which have a text chat."""


@dataclass(slots=True)
class GuildChannel:
    """A channel or a thread.

    guild   the guild's id, or empty for a private channel
    parent  the channel or category above it
    owner   the id of who made the thread, if it is one
    latest  the id of its newest known message, or 0
    """

    id: str
    kind: int = 0
    name: str = ""
    guild: str = ""
    parent: str = ""
    owner: str = ""
    latest: int = 0

    @property
    def is_thread(self) -> bool:
        return self.kind in THREADS and bool(self.parent)

    @property
    def is_private(self) -> bool:
        return self.kind == DM

    @property
    def is_private_thread(self) -> bool:
        return self.kind == PRIVATE_THREAD

    @property
    def chat(self) -> str:
        """The id of the chat: for a thread that everybody of its parent reads, the parent's id."""
        return self.parent if self.is_thread and not self.is_private_thread else self.id


@dataclass(slots=True)
class Guild:
    """A server; `owner` is the id of the person it belongs to, `added_by` is who added the bot."""

    id: str
    name: str = ""
    welcome_channel: str = ""
    owner: str = ""
    added_by: Raw = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    own_roles: set[str] = field(default_factory=set)


class GuildCache:
    """The guilds of one bot.

    recorded  the chats that have messages on a tape
    suspects  the channels where a missed message caused a reconnect, until their next event
    complete  set while every expected guild has arrived
    facts     where the places are for processes without a connection, which hear no events
    """

    def __init__(self) -> None:
        self.channels: dict[str, GuildChannel] = {}
        self.guilds: dict[str, Guild] = {}
        self.recorded: set[str] = set()
        self.suspects: set[str] = set()
        self.bot_id = ""
        self.facts: Facts = OwnFacts(SystemClock())
        self._expected: set[str] = set()
        self.complete = anyio.Event()
        self.complete.set()

    def expect(self, guilds: set[str]) -> None:
        self._expected |= guilds
        if self._expected and self.complete.is_set():
            self.complete = anyio.Event()

    @property
    def expected(self) -> frozenset[str]:
        return frozenset(self._expected)

    def apply(self, name: str, data: Raw) -> None:
        if name == "GUILD_CREATE":
            self._add_guild(data)
        elif name == "GUILD_DELETE":
            self._remove_guild(data)
        elif name in ("GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE"):
            self._add_role(self._guild(str(data["guild_id"])), data["role"])
        elif name in ("CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE"):
            self.add_channel(data)
        elif name in ("CHANNEL_DELETE", "THREAD_DELETE"):
            self._remove_channel(str(data["id"]))
        elif name == "INTEGRATION_CREATE":
            bot = (data.get("application") or {}).get("bot") or {}
            if str(bot.get("id")) == self.bot_id:
                self._guild(str(data["guild_id"])).added_by = data.get("user") or {}
        elif name == "THREAD_LIST_SYNC":
            for thread in data.get("threads", ()):
                self.add_channel({"guild_id": data["guild_id"], **thread})

    def add_channel(self, raw: Raw) -> GuildChannel:
        """Add a channel, given as the API describes it, and return it."""
        channel_id = str(int(raw["id"]))  # raises an error for anything but a snowflake
        known = self.channels.get(channel_id)
        channel = GuildChannel(
            channel_id,
            int(raw.get("type", 0)),
            str(raw.get("name") or ""),
            str(raw.get("guild_id") or (known.guild if known else "")),
            str(raw.get("parent_id") or ""),
            str(raw.get("owner_id") or (known.owner if known else "")),
            max(_snowflake(raw.get("last_message_id")), known.latest if known else 0),
        )
        self.channels[channel_id] = channel
        if self.facts.shared:
            place = [channel.kind, channel.name, channel.guild, channel.parent, channel.owner]
            self.facts.put({f"channel/{channel_id}": place})
        return channel

    def find(self, channel_id: str) -> GuildChannel | None:
        """Return a channel that this process or another one has heard of."""
        known = self.channels.get(channel_id)
        if known is None and (place := self.facts.get(f"channel/{channel_id}")) is not None:
            known = GuildChannel(channel_id, *place)
        return known

    def saw_message(self, channel_id: str, message_id: int) -> None:
        channel = self.channels.get(channel_id)
        if channel is not None:
            channel.latest = max(channel.latest, message_id)

    def channel(self, channel_id: str, guild: str = "") -> GuildChannel:
        """Return a channel; without a guild, an unknown channel counts as private."""
        known = self.find(channel_id)
        return known or GuildChannel(channel_id, 0 if guild else DM, guild=guild)

    def title(self, channel: GuildChannel) -> str:
        if channel.is_private:
            return ""
        chat = self.find(channel.chat) or channel
        known = self.guilds.get(channel.guild)
        guild = known.name if known else self.facts.get(f"guild/{channel.guild}") or ""
        parts = (f"#{chat.name}" if chat.name else "", f"({guild})" if known or guild else "")
        return " ".join(part for part in parts if part)

    def is_own_role(self, role: str, guild: str) -> bool:
        """Return whether a role is the bot's own, which Discord created."""
        known = self.guilds.get(guild)
        return known is not None and role in known.own_roles

    def text_channels(self) -> Iterator[GuildChannel]:
        """Yield the channels and threads that can hold messages, each parent before its threads."""
        found = [one for one in self.channels.values() if one.kind in TEXT_KINDS]
        return iter(sorted(found, key=lambda one: (one.is_thread, int(one.id))))

    def arrived(self, guild_id: str) -> None:
        self._expected.discard(guild_id)
        if not self._expected:
            self.complete.set()

    def _add_guild(self, data: Raw) -> None:
        guild = self._guild(str(int(data["id"])))
        if data.get("unavailable") is True:
            return
        guild.name = str(data.get("name") or "")
        guild.welcome_channel = str(data.get("system_channel_id") or "")
        guild.owner = str(data.get("owner_id") or "")
        if self.facts.shared:
            self.facts.put({f"guild/{guild.id}": guild.name})
        for role in data.get("roles", ()):
            self._add_role(guild, role)
        for raw in (*data.get("channels", ()), *data.get("threads", ())):
            self.add_channel({**raw, "guild_id": guild.id})
        self.arrived(guild.id)

    def _add_role(self, guild: Guild, role: Raw) -> None:
        role_id = str(role["id"])
        guild.roles[role_id] = str(role.get("name") or "")
        if str((role.get("tags") or {}).get("bot_id") or "") == self.bot_id:
            guild.own_roles.add(role_id)

    def _remove_guild(self, data: Raw) -> None:
        if data.get("unavailable") is True:  # an outage: the guild will come back by itself
            return
        guild_id = str(data["id"])
        self.arrived(guild_id)
        self.guilds.pop(guild_id, None)
        for channel in [one for one in self.channels.values() if one.guild == guild_id]:
            self._remove_channel(channel.id)

    def _remove_channel(self, channel_id: str) -> None:
        known = self.channels.values()
        gone = [one.id for one in known if one.is_thread and one.parent == channel_id]
        for one in (*gone, channel_id):
            self.channels.pop(one, None)
        if self.facts.shared:
            self.facts.put(dict.fromkeys(f"channel/{one}" for one in (*gone, channel_id)))

    def _guild(self, guild_id: str) -> Guild:
        return self.guilds.setdefault(guild_id, Guild(guild_id))


def _snowflake(value: Any) -> int:
    return int(value) if value is not None and str(value).isdecimal() else 0
