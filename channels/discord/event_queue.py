"""What came in, in its order, onto the disk: one queue for all connections, one worker.

An event is taken when it is on the disk; the connection's heartbeat then names it. After a lost
session what was missed is asked for first, and what came since waits behind it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import anyio

from channels.discord.api import ApiRefused, DiscordApi
from channels.discord.guild_cache import GuildCache, GuildChannel
from channels.discord.inbound import DiscordSelf, changed, parse, unreadable
from channels.discord.shard import Place, Shard
from channels.errors import ChannelDown, ChannelUnfit, SendDelayed
from channels.host import FullHost
from channels.message import InboundMessage

MOST_AT_ONCE: Final = 100
MOST_WAITING: Final = 10_000
"""So many events wait for the disk; beyond, what they said is asked for when it is back."""

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 30.0
ARRIVAL_SECONDS: Final = 5.0
"""So long after a new session its servers are waited for."""

IDENTIFY_EVERY: Final = 5.0
"""Discord lets a bot begin one session in so many seconds."""

AGAIN: Final = "AGAIN"
AGAIN_AFTER: Final = 60.0
LONGEST_AGAIN: Final = 1800.0
NOWHERE: Final = (-1, 0)
"""An event of our own, and the place of it: what could not be read is asked for again."""

MOST_TRIES: Final = 3
ASK_AFTER: Final = 60.0
"""A channel that cannot be asked for is taken for an ordinary one, so many seconds."""

ALONE: Final = frozenset((AGAIN, "READY", "RESUMED", "GUILD_CREATE"))
LAST: Final = frozenset(("GUILD_DELETE", "CHANNEL_DELETE", "THREAD_DELETE"))
"""Events that wait until all before them is on the disk, and those for which what follows waits."""

MOST_SESSIONS: Final = 50
SESSION_EVERY: Final = 90.0
"""And a thousand a day, or it makes the token invalid. So after some at once they thin out."""


@dataclass(frozen=True, slots=True)
class _Heard:
    shard: Shard
    at: Place
    name: str
    data: dict[str, Any]


class EventQueue:
    """The ears of one bot.

    `me` tells who the bot is; `catch_up` takes what was missed; `used` answers a slash command;
    `own` is told of what the bot itself has written; `identified` has when sessions were begun.
    """

    def __init__(
        self,
        host: FullHost,
        api: DiscordApi,
        places: GuildCache,
        me: Callable[[], DiscordSelf],
        catch_up: Callable[[], Awaitable[None]],
        used: Callable[[dict[str, Any]], Awaitable[None]],
        own: Callable[[dict[str, Any]], None],
        identified: deque[float],
    ) -> None:
        self.host = host
        self._api = api
        self._places = places
        self._me = me
        self._catch_up = catch_up
        self._used = used
        self._own = own
        self._queue: asyncio.Queue[_Heard] = asyncio.Queue()
        self._listed: set[str] = set()
        self._late: set[str] = set()
        self._added: set[str] = set()
        self._identified = identified
        self._unknown: dict[str, tuple[int, float]] = {}
        self._agains = 0
        self._again = False
        self._identifying = anyio.Lock()
        self.shards: list[Shard] = []

    # -- the connections

    def heard(self, shard: Shard, at: Place, name: str, data: dict[str, Any]) -> None:
        """Take an event of a connection."""
        self.host.heartbeat()
        try:
            self._notice(shard, name, data)
        except (LookupError, TypeError, ValueError, AttributeError):
            self.host.log_exception("discord.event_unreadable")
        if name == "INTERACTION_CREATE":  # Discord waits three seconds for its answer
            self.host.start_soon("slash command", lambda: self._used(data))
        if self._queue.qsize() >= MOST_WAITING:
            self._forget_waiting()
            name, data = "READY", {}
        self._queue.put_nowait(_Heard(shard, at, name, data))

    def answered(self) -> None:
        """Learn that a connection answers."""
        self.host.heartbeat()

    def lost(self, shard: Shard, why: str) -> None:
        """Learn that a connection is lost: from now on something may be missing."""
        del shard
        self.host.gap_opened()
        self.host.down(why)

    def server_of(self, shard: Shard) -> tuple[str, str] | None:
        """Return a server that a connection tells of, and who the bot is."""
        count = len(self.shards)
        for number in self._places.servers:
            if count and (int(number) >> 22) % count == (shard.shard_id or 0):
                return number, self._me().id
        return None

    def is_deaf(self, server: str) -> None:
        """Begin the connection anew over which a server should have told of something."""
        for shard in self.shards:
            if (int(server) >> 22) % len(self.shards) == (shard.shard_id or 0):
                shard.end()

    def listens(self, server: str) -> bool:
        """Tell whether the connection is up over which a server tells of things."""
        return any(
            shard.live
            for shard in self.shards
            if (int(server) >> 22) % len(self.shards) == (shard.shard_id or 0)
        )

    def again(self) -> None:
        """Catch up once more in a while: something could not be read now."""
        if self._again:
            return
        self._again = True
        self._agains += 1
        wait = min(AGAIN_AFTER * 2.0 ** min(self._agains - 1, 10), LONGEST_AGAIN)

        async def later() -> None:
            await self.host.clock.sleep(wait)
            self._again = False
            if self.shards:
                self._queue.put_nowait(_Heard(self.shards[0], NOWHERE, AGAIN, {}))

        self.host.start_soon("catching up again", later)

    async def may_identify(self) -> None:
        """Wait until Discord takes another session."""
        async with self._identifying:
            clock, begun = self.host.clock, self._identified
            most = MOST_SESSIONS + 2 * len(self.shards)
            while len(begun) > most:
                begun.popleft()
            opens = begun[-1] + IDENTIFY_EVERY if begun else 0.0
            if len(begun) == most:
                opens = max(opens, begun[0] + most * SESSION_EVERY)
            if opens > clock.monotonic():
                await clock.sleep(opens - clock.monotonic())
            begun.append(clock.monotonic())

    def _forget_waiting(self) -> None:
        """Keep no more of what waits for the disk: the histories have it, to be read later."""
        self.host.gap_opened()
        while not self._queue.empty():
            self._queue.get_nowait()

    def _notice(self, shard: Shard, name: str, data: dict[str, Any]) -> None:
        """Learn at once what a server is made of: who speaks next may need it."""
        if name == "READY":
            listed = {str(one["id"]) for one in data.get("guilds") or ()}
            self._listed |= listed
            for number in self._places.expected - listed:  # it was left meanwhile
                if (int(number) >> 22) % len(self.shards) == (shard.shard_id or 0):
                    self._places.came(number)
            self._places.expect(listed)
        elif name == "MESSAGE_CREATE":
            self._places.blamed.discard(str(data["channel_id"]))
            self._places.said(str(data["channel_id"]), int(data["id"]))
            if str(data["author"]["id"]) == self._me().id:
                self._own(data)
        elif name == "GUILD_DELETE" and data.get("unavailable") is True:
            self._places.expect({str(data["id"])})
            self.host.gap_opened()
        elif name == "GUILD_CREATE" and str(data["id"]) not in self._listed:
            self._listed.add(str(data["id"]))
            self._added.add(str(data["id"]))
        if name in ("READY", "RESUMED") and all(shard.live for shard in self.shards):
            self.host.ready()
        if name not in LAST:
            self._places.take(name, data)

    # -- the worker

    async def run(self) -> None:
        """Put onto the disk what comes in, for ever."""
        while True:
            batch = [await self._queue.get()]
            while len(batch) < MOST_AT_ONCE and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            await self._insist(batch)

    async def _insist(self, batch: list[_Heard]) -> None:
        """Take events; as long as that cannot be, they wait, and what comes behind them."""
        wait = FIRST_WAIT
        while True:
            try:
                await self._take(batch)
            except (ChannelDown, SendDelayed) as cause:
                self.host.down(str(cause))
                asked = cause.retry_after if isinstance(cause, SendDelayed) else 0.0
                await self.host.clock.sleep(max(wait, asked))
                wait = min(2 * wait, LONGEST_WAIT)
                continue
            except ChannelUnfit:
                raise
            except Exception:
                if len(batch) > 1:
                    for one in batch:
                        await self._insist([one])
                else:
                    await self._drop(batch[0])
            if wait > FIRST_WAIT and all(shard.live for shard in self.shards):
                if self._hears_all():
                    self.host.gap_closed()  # what was refused was given again
                self.host.ready()
            return

    async def _drop(self, heard: _Heard) -> None:
        """Go on without an event that cannot be taken: what comes behind it shall not wait."""
        self.host.log_exception("discord.event_dropped")
        if heard.name in ALONE:
            self.again()
        elif heard.name in LAST:
            self._taken(heard)
        await heard.shard.took(heard.at)

    async def _take(self, batch: list[_Heard]) -> None:
        """Take events in their order; those that are taken leave the batch."""
        while batch:
            count, messages = 0, []
            for heard in batch:
                if heard.name in ALONE and count:
                    break
                count += 1
                messages += await self._read(heard)
                if heard.name in ALONE | LAST:
                    break
            if messages:
                await self.host.accept(messages)
                self._places.heard |= {message.chat_id for message in messages}
            self._taken(batch[count - 1])
            done, batch[:count] = batch[:count], []
            for shard, at in {heard.shard: heard.at for heard in done}.items():
                await shard.took(at)

    async def _read(self, heard: _Heard) -> list[InboundMessage]:
        name, data = heard.name, heard.data
        if name == "READY":
            await self._begin()
        elif name == AGAIN:
            await self._catch_up_again()
        elif name == "RESUMED":
            if self._hears_all():
                self.host.gap_closed()
        elif name.startswith(("GUILD_", "CHANNEL_", "THREAD_")):
            return await self._changed(name, data)
        elif name.startswith("MESSAGE_"):
            return await self._message(name, data)
        return []

    async def _begin(self) -> None:
        """Take what was missed before a new session: it may be anything."""
        self.host.gap_opened()
        await self._arrived()
        await self._catch_up_again()

    async def _catch_up_again(self) -> None:
        """Take what was missed, of those servers that are there."""
        self.host.gap_opened()
        tried, came = self._agains, self._late - self._places.expected
        await self._catch_up()
        self._late -= came
        if self._agains == tried and not self._again:
            self._agains = 0
        if not self._hears_all():
            self.host.gap_opened()

    def _hears_all(self) -> bool:
        """Tell whether all connections are up, and no server is away."""
        return not self._places.expected and all(shard.live for shard in self.shards)

    async def _arrived(self) -> None:
        """Wait until the servers have told of their channels, or do not."""
        complete = self._places.complete
        if complete.is_set():
            return
        async with anyio.create_task_group() as group:

            async def in_vain() -> None:
                await self.host.clock.sleep(ARRIVAL_SECONDS)
                group.cancel_scope.cancel()

            group.start_soon(in_vain)
            await complete.wait()
            group.cancel_scope.cancel()
        self._late |= self._places.expected

    async def _message(self, name: str, data: dict[str, Any]) -> list[InboundMessage]:
        if name == "MESSAGE_DELETE_BULK":
            gone = [{**data, "id": number} for number in data.get("ids") or ()]
            return [found for one in gone for found in await self._message("MESSAGE_DELETE", one)]
        try:
            await self._learn(data)
            found = parse(name, data, self._me(), self._places)
        except (ChannelDown, SendDelayed):
            raise
        except Exception as cause:
            self.host.log_exception("discord.event_unreadable")
            found = unreadable(name, data, f"{type(cause).__name__}: {cause}")
        return [found] if found is not None else []

    async def _learn(self, data: dict[str, Any]) -> None:
        """Ask for a server's channel that is not known: it may be a thread."""
        number = str(int(data["channel_id"]))
        if number in self._places.rooms:
            return
        server = str(data.get("guild_id") or "")
        known: dict[str, Any] = {"id": number, "guild_id": server, "type": 0 if server else 1}
        tries, after = self._unknown.get(number, (0, 0.0))
        now = self.host.clock.monotonic()
        if tries >= MOST_TRIES and now < after:
            return
        if server:
            try:
                known |= await self._api.ask(f"/channels/{number}")
            except ApiRefused:
                """It is not to be seen: then it is a channel like any other."""
            except ChannelDown:
                self._unknown[number] = (tries + 1, now + ASK_AFTER)
                if tries + 1 < MOST_TRIES:
                    raise
                self.host.log_exception("discord.channel_unknown")
                return
        self._unknown.pop(number, None)
        self._places.learn({**known, "last_message_id": data.get("id")})

    async def _changed(self, name: str, data: dict[str, Any]) -> list[InboundMessage]:
        """Tell the chats that a server or a channel came or went."""
        number = str(data.get("id"))
        if name == "GUILD_CREATE":
            if number in self._late and number not in self._places.expected:
                await self._catch_up_again()  # it was away while the others were caught up with
            return self._came(number, data)
        if name not in LAST or name == "THREAD_DELETE" or data.get("unavailable") is True:
            return []
        return self._went(name, number)

    def _taken(self, heard: _Heard) -> None:
        """Learn that what there is to tell of a server or a channel is on the disk."""
        name, number = heard.name, str(heard.data.get("id"))
        if name == "GUILD_CREATE" and self._greets(number) is not None:
            self._added.discard(number)
        if name == "GUILD_DELETE" and heard.data.get("unavailable") is True:
            self._late.add(number)
        elif name == "GUILD_DELETE":
            self._listed.discard(number)
            if number in self._late:  # what was kept open for it may be closed
                self._late.discard(number)
                self.again()
        if name in LAST:
            self._places.take(name, heard.data)

    def _came(self, number: str, data: dict[str, Any]) -> list[InboundMessage]:
        """Say hello where Discord greets those who come, if the bot was just added."""
        room = self._greets(number)
        if number not in self._added or room is None:
            return []
        stamp = str(data.get("joined_at") or "")
        return [changed(room, "added", "The bot was added to the server.", stamp, self._places)]

    def _greets(self, number: str) -> GuildChannel | None:
        """Return where a server greets those who come."""
        server = self._places.servers.get(number)
        return self._places.rooms.get(server.greeting) if server is not None else None

    def _went(self, name: str, number: str) -> list[InboundMessage]:
        """Tell the chats that are on tapes that they are gone."""
        heard = self._places.heard
        rooms = [one for one in self._places.rooms.values() if number in (one.server, one.id)]
        text = "The channel was deleted."
        if name == "GUILD_DELETE":
            text = "The bot was removed from the server."
        return [
            changed(room, "removed", text, number, self._places)
            for room in rooms
            if room.id in heard
        ]
