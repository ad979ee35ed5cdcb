"""The ordered queue of one bot's events, and the worker that stores them on disk.

Once an event is on disk, the connection's heartbeat acknowledges it. After a lost session, the
history is read first, and newer events wait until that is done.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final, Protocol

from channels.backoff import Backoff
from channels.connection_state import ConnectionState
from channels.discord.guild_cache import GuildCache
from channels.discord.limits import DiscordLimits
from channels.discord.shard import GatewayEvent
from channels.errors import ChannelDown, ChannelUnfit, SendDelayed
from channels.host import ChannelHost
from channels.message import InboundMessage

MAX_BATCH: Final = 100
FIRST_WAIT_SECONDS: Final = 0.5
MAX_WAIT_SECONDS: Final = 30.0

CATCH_UP: Final = "CATCH_UP"  # the name of our own event that asks to read the history again
BARRIERS: Final = frozenset((CATCH_UP, "READY", "RESUMED", "GUILD_CREATE"))
"""Events that are handled alone, once everything before them is on disk."""

REMOVALS: Final = frozenset(("GUILD_DELETE", "CHANNEL_DELETE", "THREAD_DELETE"))
"""Events that end a batch: later events are read once the batch is on disk."""


class EventReader(Protocol):
    async def read(self, event: GatewayEvent) -> list[InboundMessage]: ...
    def recorded(self, event: GatewayEvent) -> None: ...
    def dropped(self, event: GatewayEvent) -> None: ...


class EventQueue:
    def __init__(
        self, host: ChannelHost, cache: GuildCache, state: ConnectionState, limits: DiscordLimits
    ) -> None:
        self._most = limits.queued
        self._host = host
        self._cache = cache
        self._state = state
        self._events: asyncio.Queue[GatewayEvent] = asyncio.Queue()

    def put(self, event: GatewayEvent) -> None:
        """Add an event; if the queue is full, drop all events and read the history instead."""
        if self._events.qsize() >= self._most:
            self._state.open_gap()
            while not self._events.empty():
                self._events.get_nowait()
            # Treated as a new session; its position acknowledges the dropped events.
            event = replace(event, name="READY", data={})
        self._events.put_nowait(event)

    def put_catch_up(self) -> None:
        self._events.put_nowait(GatewayEvent(None, (-1, 0), CATCH_UP, {}))

    async def run(self, reader: EventReader) -> None:
        """Record the queued events until cancelled; raises ChannelUnfit."""
        while True:
            batch = [await self._events.get()]
            while len(batch) < MAX_BATCH and not self._events.empty():
                batch.append(self._events.get_nowait())
            await self._record_all(batch, reader)

    async def _record_all(self, batch: list[GatewayEvent], reader: EventReader) -> None:
        """Record a batch; while the gateway refuses it, all later events wait."""
        backoff = Backoff(FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS)
        while True:
            try:
                await self._record(batch, reader)
            except (ChannelDown, SendDelayed) as cause:
                self._state.refused(str(cause))
                requested = cause.retry_after if isinstance(cause, SendDelayed) else 0.0
                await self._host.clock.sleep(max(backoff.next(), requested))
                continue
            except ChannelUnfit:
                raise
            except Exception:
                # One event may be the cause: try each event on its own.
                if len(batch) > 1:
                    for event in batch:
                        await self._record_all([event], reader)
                else:
                    self._host.log_exception("discord.event_dropped")
                    reader.dropped(batch[0])
                    await _acknowledge(batch)
            self._state.accepted(whole=not self._cache.expected)
            return

    async def _record(self, batch: list[GatewayEvent], reader: EventReader) -> None:
        while batch:
            count, messages = 0, []
            for event in batch:
                if event.name in BARRIERS and count:
                    break
                count += 1
                messages += await reader.read(event)
                if event.name in BARRIERS | REMOVALS:
                    break
            if messages:
                await self._host.accept(messages)
                self._cache.recorded |= {message.chat_id for message in messages}
            reader.recorded(batch[count - 1])
            done, batch[:count] = batch[:count], []
            await _acknowledge(done)


async def _acknowledge(events: list[GatewayEvent]) -> None:
    for shard, position in {event.shard: event.position for event in events}.items():
        if shard is not None:
            await shard.recorded(position)
