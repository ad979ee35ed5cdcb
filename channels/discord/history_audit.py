"""Checks that messages arrive, by comparing a channel's history with the cache from time to time.

Discord's gateway may answer all requests but omit a guild's messages. If a message in the history
does not arrive within seconds, the connection has missed it: we reconnect and read the history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from channels.clock import Clock
from channels.discord.api import DiscordApi
from channels.discord.guild_cache import GuildCache, GuildChannel
from channels.errors import ChannelError

AUDIT_SECONDS: Final = 60.0  # seconds from one audit to the next
GRACE_SECONDS: Final = 10.0  # maximum seconds that the event of a message may take to arrive


class GuildConnection(Protocol):  # the part of `Shard` that is used here
    @property
    def live(self) -> bool: ...
    def restart(self) -> None: ...


@dataclass(eq=False)
class HistoryAudit:
    """Audits the channel that has the latest message, and all the others in turn."""

    _api: DiscordApi
    _cache: GuildCache
    _clock: Clock
    _connection_of: Callable[[str], GuildConnection]
    _turn: int = field(default=0, init=False)

    async def run(self) -> None:
        while True:
            await self._clock.sleep(AUDIT_SECONDS)
            for channel in self._next():
                connection = self._connection_of(channel.guild)
                if not connection.live:  # the connection is being replaced already
                    continue
                if await self._has_missed(channel) and connection.live:
                    # Once per channel, until its next event: a bot may be able to read a channel
                    # without getting its events.
                    self._cache.suspects.add(channel.id)
                    connection.restart()
                    break

    def _next(self) -> Iterator[GuildChannel]:
        channels = [
            channel
            for channel in self._cache.text_channels()
            if channel.guild and channel.id not in self._cache.suspects and not channel.is_thread
        ]
        if not channels:
            return
        latest = max(channels, key=lambda channel: channel.latest)
        self._turn = (self._turn + 1) % len(channels)
        yield latest
        if channels[self._turn] is not latest:
            yield channels[self._turn]

    async def _has_missed(self, channel: GuildChannel) -> bool:
        query = {"after": str(channel.latest), "limit": "1"}
        try:
            found = await self._api.ask(f"/channels/{channel.id}/messages", query)
        except ChannelError:  # the channel cannot be read, forever or for now
            return False
        if not found:
            return False
        await self._clock.sleep(GRACE_SECONDS)
        known = self._cache.channels.get(channel.id)
        return known is not None and known.latest < int(found[0]["id"])
