"""What was said while nobody listened: each channel's and thread's history since its mark."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import anyio
from discord.utils import time_snowflake

from channels.discord.api import MISSING_ACCESS, UNKNOWN_CHANNEL, ApiRefused, DiscordApi
from channels.discord.inbound import Raw
from channels.discord.places import WRITTEN, Places, Room
from channels.errors import ChannelError, SendDelayed
from channels.host import ChannelHost, Marks
from channels.message import InboundMessage

PAGE: Final = 100
AT_ONCE: Final = 10
MOST_PRIVATE: Final = 300
"""So many private chats are asked for, those first that were heard last: Discord lists none."""

CLOSED: Final = frozenset((MISSING_ACCESS, UNKNOWN_CHANNEL))
"""Reasons that nobody has to hear of: most servers have channels that the bot may not see."""

Read = Callable[[Raw], InboundMessage | None]


class Backfill:
    """Reads the history; `read` makes a message of a raw one."""

    def __init__(self, api: DiscordApi, places: Places, host: ChannelHost, read: Read) -> None:
        self._api = api
        self._places = places
        self._host = host
        self._read = read

    async def missed(self, marks: Marks) -> AsyncIterator[Sequence[InboundMessage]]:
        """Yield what was said after the marks, each channel's oldest first, a page at a time."""
        async for room, since in self._rooms(marks):
            async for page in self._pages(room, time_snowflake(since)):
                yield page

    async def _rooms(self, marks: Marks) -> AsyncIterator[tuple[Room, datetime]]:
        """Yield where something was said, or may have been, and since when."""
        done: set[str] = set()
        for room in self._places.written():
            since = marks.of(room.chat)
            if room.server and since is not None:
                done.add(room.id)
                if room.server in self._places.expected or room.last > time_snowflake(since):
                    yield room, since
        private = []
        for (_account, chat), since in marks.chats.items():
            for number in await self._host.threads(chat, since):
                if number not in done and (found := await self._look_at(number)) is not None:
                    done.add(number)
                    yield found, since
            if chat not in done and chat.isdigit():
                private.append((since, chat))
        for room, since in await self._look_at_all(sorted(private, reverse=True)[:MOST_PRIVATE]):
            if room.last == 0 or room.last > time_snowflake(since):
                yield room, since

    async def _look_at_all(
        self, chats: Sequence[tuple[datetime, str]]
    ) -> list[tuple[Room, datetime]]:
        """Ask for several channels, some of them at once; raises ChannelError."""
        found: list[tuple[Room, datetime]] = []
        errors: list[ChannelError] = []
        at_once = anyio.CapacityLimiter(AT_ONCE)

        async def look(since: datetime, chat: str) -> None:
            async with at_once:
                try:
                    room = None if errors else await self._look_at(chat)
                except ChannelError as error:
                    errors.append(error)
                    return
            if room is not None:
                found.append((room, since))

        async with anyio.create_task_group() as group:
            for since, chat in chats:
                group.start_soon(look, since, chat)
        if errors:
            raise errors[0]
        return found

    async def _look_at(self, number: str) -> Room | None:
        """Ask for a channel that no server told of: a private one, or an archived thread."""
        raw = await self._ask(f"/channels/{number}", {})
        if not isinstance(raw, Mapping):
            return None
        room = self._places.learn(raw)
        return room if room.kind in WRITTEN else None

    async def _pages(self, room: Room, after: int) -> AsyncIterator[Sequence[InboundMessage]]:
        while True:
            query = {"after": str(after), "limit": str(PAGE)}
            raw = await self._ask(f"/channels/{room.id}/messages", query)
            if not isinstance(raw, list):
                self._host.skipped(room.chat)
                return
            if not raw:
                return
            page = sorted(raw, key=lambda one: int(one["id"]))
            after = int(page[-1]["id"])
            self._places.said(room.id, after)
            server = {"guild_id": room.server} if room.server else {}
            messages = [self._read({**server, **one}) for one in page]
            yield [message for message in messages if message is not None]
            if len(page) < PAGE:
                return

    async def _ask(self, path: str, query: Mapping[str, str]) -> Any:
        """Ask, and wait where that is wanted; None for what the bot may not see."""
        while True:
            try:
                return await self._api.ask(path, query)
            except SendDelayed as later:
                await self._host.clock.sleep(later.retry_after)
            except ApiRefused as refused:
                if refused.code not in CLOSED:
                    self._host.report("discord.channel_not_read")
                return None
