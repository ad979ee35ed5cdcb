"""Handles events: updates the cache as soon as one arrives, and parses its messages in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from channels.connection_state import ConnectionState
from channels.discord.api import ApiRefused, DiscordApi
from channels.discord.catch_up import CatchUp
from channels.discord.event_queue import BARRIERS, CATCH_UP, REMOVALS, EventQueue
from channels.discord.guild_cache import GuildCache, GuildChannel
from channels.discord.identity import DiscordSelf, name_of
from channels.discord.inbound import chat_change, parse, unreadable
from channels.discord.shard import GatewayEvent, Shard
from channels.errors import ChannelDown, SendDelayed
from channels.host import ChannelHost
from channels.message import Author, InboundMessage

MAX_LOOKUPS: Final = 3
LOOKUP_RETRY_SECONDS: Final = 60.0
"""How long a channel that cannot be looked up is treated as an ordinary channel, in seconds."""

ADDER_SECONDS: Final = 1.0
"""Seconds to wait for the event that says who added the bot."""


class Bot(Protocol):  # the part of `DiscordChannel` that is used here
    @property
    def me(self) -> DiscordSelf: ...
    async def interact(self, data: dict[str, Any]) -> None: ...
    def saw_own_message(self, data: dict[str, Any]) -> None: ...


@dataclass(eq=False)
class EventHandler:
    _bot: Bot
    _host: ChannelHost
    _api: DiscordApi
    _cache: GuildCache
    _state: ConnectionState
    _queue: EventQueue
    _catch_up: CatchUp
    _listed: set[str] = field(default_factory=set, init=False)
    _added: set[str] = field(default_factory=set, init=False)
    _failed_lookups: dict[str, tuple[int, float]] = field(default_factory=dict, init=False)

    def received(self, event: GatewayEvent) -> None:
        try:
            self._update_cache(event)
        except (LookupError, TypeError, ValueError, AttributeError):
            self._host.log_exception("discord.event_unreadable")
        if event.name == "INTERACTION_CREATE":  # Discord waits only three seconds for an answer
            self._host.start_soon("interaction", lambda: self._bot.interact(event.data))
        self._queue.put(event)

    def probe_target(self, shard: Shard) -> tuple[str, str] | None:
        """Return a guild of this connection and the bot's id, or None if it has no guild."""
        for guild in self._cache.guilds:
            if shard.has_guild(guild):
                return guild, self._bot.me.id
        return None

    def _update_cache(self, event: GatewayEvent) -> None:
        """Update the cache at once: the next message may need what the event says."""
        name, data = event.name, event.data
        if name == "READY":
            self._session_started(event)
        elif name == "MESSAGE_CREATE":
            self._cache.suspects.discard(str(data["channel_id"]))
            self._cache.saw_message(str(data["channel_id"]), int(data["id"]))
            if str(data["author"]["id"]) == self._bot.me.id:
                self._bot.saw_own_message(data)
        elif name == "GUILD_DELETE" and data.get("unavailable") is True:
            self._cache.expect({str(data["id"])})
            self._state.open_gap()
        elif name == "GUILD_CREATE" and str(data["id"]) not in self._listed:
            self._listed.add(str(data["id"]))
            self._added.add(str(data["id"]))
        if name not in REMOVALS:  # messages sent before a removal still need the removed channels
            self._cache.apply(name, data)

    def _session_started(self, event: GatewayEvent) -> None:
        listed = {str(one["id"]) for one in event.data.get("guilds") or ()}
        self._listed |= listed
        for guild in self._cache.expected - listed:  # the bot has left the guild since
            if event.shard is not None and event.shard.has_guild(guild):
                self._cache.arrived(guild)
        self._cache.expect(listed)

    async def read(self, event: GatewayEvent) -> list[InboundMessage]:
        """Return the messages of an event, after reading the history if the event requires it."""
        name, data = event.name, event.data
        if name == "READY":
            await self._catch_up.after_new_session()
        elif name == CATCH_UP:
            await self._catch_up.run()
        elif name == "RESUMED":
            self._catch_up.after_resume()
        elif name == "GUILD_CREATE":
            await self._catch_up.after_arrival(str(data.get("id")))
            return await self._added_to(str(data.get("id")), data)
        elif name in REMOVALS:
            return [] if data.get("unavailable") is True else self._removed_from(event)
        elif name.startswith("MESSAGE_"):
            return await self._message(name, data)
        return []

    def recorded(self, event: GatewayEvent) -> None:
        """Apply the rest of an event once its messages are on disk."""
        name, guild = event.name, str(event.data.get("id"))
        if name == "GUILD_CREATE" and self._welcome_channel(guild) is not None:
            self._added.discard(guild)
        elif name == "GUILD_DELETE" and event.data.get("unavailable") is True:
            self._catch_up.guild_away(guild)
        elif name == "GUILD_DELETE":
            self._listed.discard(guild)
            self._catch_up.guild_left(guild)
        if name in REMOVALS:
            self._cache.apply(name, event.data)

    def dropped(self, event: GatewayEvent) -> None:
        """Skip an event; the history that it asked for is read later."""
        if event.name in BARRIERS:
            self._catch_up.retry_later()
        elif event.name in REMOVALS:
            self.recorded(event)

    async def _message(self, name: str, data: dict[str, Any]) -> list[InboundMessage]:
        if name == "MESSAGE_DELETE_BULK":
            deleted = [{**data, "id": message_id} for message_id in data.get("ids") or ()]
            return [
                found for one in deleted for found in await self._message("MESSAGE_DELETE", one)
            ]
        try:
            await self._look_up_channel(data)
            found = parse(name, data, self._bot.me, self._cache)
        except (ChannelDown, SendDelayed):
            raise
        except Exception as cause:
            self._host.log_exception("discord.event_unreadable")
            found = unreadable(name, data, f"{type(cause).__name__}: {cause}")
        return [found] if found is not None else []

    async def _look_up_channel(self, data: dict[str, Any]) -> None:
        """Look up an unknown channel of a guild, since it may be a thread."""
        channel_id = str(int(data["channel_id"]))
        if channel_id in self._cache.channels:
            return
        guild = str(data.get("guild_id") or "")
        raw: dict[str, Any] = {"id": channel_id, "guild_id": guild, "type": 0 if guild else 1}
        failures, until = self._failed_lookups.get(channel_id, (0, 0.0))
        now = self._host.clock.monotonic()
        # Without this, one unreachable channel would hold up all later events.
        if failures >= MAX_LOOKUPS and now < until:
            return
        if guild:
            try:
                raw |= await self._api.ask(f"/channels/{channel_id}")
            except ApiRefused:
                """The bot may not see the channel: it is treated as an ordinary one."""
            except ChannelDown:
                self._failed_lookups[channel_id] = (failures + 1, now + LOOKUP_RETRY_SECONDS)
                if failures + 1 < MAX_LOOKUPS:
                    raise
                self._host.log_exception("discord.channel_unknown")
                return
        self._failed_lookups.pop(channel_id, None)
        self._cache.add_channel({**raw, "last_message_id": data.get("id")})

    async def _added_to(self, guild: str, data: dict[str, Any]) -> list[InboundMessage]:
        channel = self._welcome_channel(guild)
        if guild not in self._added or channel is None:
            return []
        stamp = str(data.get("joined_at") or "")
        text = "The bot was added to the server."
        by = await self._who_added(guild)
        return [chat_change(channel, "added", text, stamp, self._cache, by)]

    async def _who_added(self, guild: str) -> Author:
        """Return who added the bot, or an author without an id if Discord does not say so soon."""
        known = self._cache.guilds[guild]
        if not known.added_by:  # the event that says so follows that of the server
            await self._host.clock.sleep(ADDER_SECONDS)
        if known.added_by.get("id"):
            return Author(str(known.added_by["id"]), name_of(known.added_by))
        return Author("", f"unknown (the server's owner has the id {known.owner or 'unknown'})")

    def _welcome_channel(self, guild: str) -> GuildChannel | None:
        known = self._cache.guilds.get(guild)
        return self._cache.channels.get(known.welcome_channel) if known is not None else None

    def _removed_from(self, event: GatewayEvent) -> list[InboundMessage]:
        removed = str(event.data.get("id"))
        text = "The channel was deleted."  # a thread counts if it is a chat of its own
        if event.name == "GUILD_DELETE":
            text = "The bot was removed from the server."
        return [
            chat_change(channel, "removed", text, removed, self._cache)
            for channel in self._cache.channels.values()
            if removed in (channel.guild, channel.id, channel.is_thread and channel.parent)
            and channel.id in self._cache.recorded
        ]
