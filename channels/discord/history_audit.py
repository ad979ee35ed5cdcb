"""Whether what people say comes in: now and then a channel's history is compared with it.

A gateway may answer everything and leave out a server's messages all the same. What stands in the
history and does not come within some seconds was missed: the connection is begun anew, and what
was missed is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from channels.discord.api import DiscordApi
from channels.discord.guild_cache import GuildCache, GuildChannel
from channels.errors import ChannelError
from channels.pacing import Clock

EVERY: Final = 60.0
GRACE: Final = 10.0
"""So long a message may be on its way, seconds."""


class HistoryAudit:
    """Looks at the channel that was heard last, and at each of the others in turn."""

    def __init__(
        self,
        api: DiscordApi,
        places: GuildCache,
        clock: Clock,
        is_deaf: Callable[[str], None],
        listens: Callable[[str], bool],
    ) -> None:
        self._api = api
        self._places = places
        self._clock = clock
        self._is_deaf = is_deaf
        self._listens = listens
        self._turn = 0

    async def run(self) -> None:
        """Look, for ever."""
        while True:
            await self._clock.sleep(EVERY)
            for room in self._next():
                if not self._listens(room.server):  # that much is known
                    continue
                if await self._missed(room) and self._listens(room.server):
                    # Once a channel, until an event comes from there: that it is told of is not
                    # sure where it can only be read.
                    self._places.blamed.add(room.id)
                    self._is_deaf(room.server)
                    break

    def _next(self) -> Iterator[GuildChannel]:
        """Yield the channels to look at this time."""
        rooms = [
            room
            for room in self._places.written()
            if room.server and room.id not in self._places.blamed and not room.is_thread
        ]
        if not rooms:
            return
        latest = max(rooms, key=lambda room: room.last)
        self._turn = (self._turn + 1) % len(rooms)
        yield latest
        if rooms[self._turn] is not latest:
            yield rooms[self._turn]

    async def _missed(self, room: GuildChannel) -> bool:
        """Tell whether a channel has a message that did not come."""
        query = {"after": str(room.last), "limit": "1"}
        try:
            found = await self._api.ask(f"/channels/{room.id}/messages", query)
        except ChannelError:  # not to be read, or not now
            return False
        if not found:
            return False
        await self._clock.sleep(GRACE)
        known = self._places.rooms.get(room.id)
        return known is not None and known.last < int(found[0]["id"])
