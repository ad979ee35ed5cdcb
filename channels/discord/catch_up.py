"""Decides when to read the history: after a new session, a guild's late arrival, or a failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from channels.backoff import Backoff
from channels.connection_state import ConnectionState
from channels.discord.event_queue import EventQueue
from channels.discord.guild_cache import GuildCache
from channels.host import ChannelHost, Cursors

ARRIVAL_SECONDS: Final = 5.0
"""Maximum seconds to wait until the guilds of a new session have arrived."""

FIRST_RETRY_SECONDS: Final = 60.0
MAX_RETRY_SECONDS: Final = 1800.0


class HistoryReader(Protocol):  # the part of `Channel` that is used here
    async def read_missed(self) -> Cursors: ...


@dataclass(eq=False)
class CatchUp:
    _host: ChannelHost
    _cache: GuildCache
    _state: ConnectionState
    _queue: EventQueue
    _history: HistoryReader

    def __post_init__(self) -> None:
        self._late: set[str] = set()
        self._backoff = Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        self._is_scheduled = False

    async def after_new_session(self) -> None:
        """Wait for the guilds of a new session, then read what was missed before it."""
        self._state.open_gap()
        await self._wait_for_guilds()
        await self.run()

    async def after_arrival(self, guild: str) -> None:
        """Read a guild's history if the guild was unavailable during the last catch-up."""
        if guild in self._late and guild not in self._cache.expected:
            await self.run()

    def after_resume(self) -> None:
        """Close the gap, since Discord has replayed what was missed."""
        if not self._cache.expected:
            self._state.resumed()

    async def run(self) -> None:
        self._state.open_gap()
        # A guild that arrives during a read needs another read.
        failures, came = self._backoff.tries, self._late - self._cache.expected
        gap = self._state.catch_up_begun()
        cursors = await self._history.read_missed()
        self._late -= came
        if self._backoff.tries == failures and not self._is_scheduled:
            self._backoff.reset()
        self._state.catch_up_finished(gap, cursors)
        if self._cache.expected or not self._state.is_connected:  # no events come from these guilds
            self._state.open_gap()

    def retry_later(self) -> None:
        """Schedule another catch-up, since something could not be read now."""
        if self._is_scheduled:
            return
        self._is_scheduled = True
        wait = self._backoff.next()

        async def later() -> None:
            await self._host.clock.sleep(wait)
            self._is_scheduled = False
            self._queue.put_catch_up()

        self._host.start_soon("catching up again", later)

    def guild_away(self, guild: str) -> None:
        """Note that a guild is unavailable; its history is read when it comes back."""
        self._late.add(guild)

    def guild_left(self, guild: str) -> None:
        """Note that the bot left a guild, so that its part of the gap can be closed."""
        if guild in self._late:
            self._late.discard(guild)
            self.retry_later()

    async def _wait_for_guilds(self) -> None:
        complete = self._cache.complete
        if complete.is_set():
            return
        async with anyio.create_task_group() as group:

            async def give_up() -> None:
                await self._host.clock.sleep(ARRIVAL_SECONDS)
                group.cancel_scope.cancel()

            group.start_soon(give_up)
            await complete.wait()
            group.cancel_scope.cancel()
        self._late |= self._cache.expected
