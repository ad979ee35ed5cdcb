"""What was said while nobody listened: each channel's and thread's history since its mark."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import anyio
from discord.utils import time_snowflake

from channels.discord.api import MISSING_ACCESS, UNKNOWN_CHANNEL, ApiRefused, DiscordApi
from channels.discord.guild_cache import WRITTEN, GuildCache, GuildChannel
from channels.discord.inbound import Raw, unreadable
from channels.errors import ChannelDown, SendDelayed
from channels.host import Cursors, FullHost
from channels.message import InboundMessage

PAGE: Final = 100
AT_ONCE: Final = 10
MOST_PRIVATE: Final = 300
"""So many private chats are asked for, those first that were heard last: Discord lists none."""

CLOSED: Final = frozenset((MISSING_ACCESS, UNKNOWN_CHANNEL))
"""Reasons that nobody has to hear of: most servers have channels that the bot may not see."""

WAITS: Final = (1.0, 3.0)
"""Seconds between the tries to read a chat: after the last it is left for later."""

MOST_IN_VAIN: Final = 3
"""So many chats that cannot be read, and none that can: it is Discord that is away."""

Read = Callable[[str, Raw], InboundMessage | None]


class Backfill:
    """Reads the history; `read` makes a message of a raw one, or its edit of it.

    `later` is told that a chat was left out which may be read another time.
    """

    def __init__(
        self,
        api: DiscordApi,
        places: GuildCache,
        host: FullHost,
        read: Read,
        later: Callable[[], None],
    ) -> None:
        self._api = api
        self._places = places
        self._host = host
        self._read = read
        self._later = later
        self._answered = False
        self._in_vain = 0

    async def missed(self, marks: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        """Yield what was said after the marks, each channel's oldest first, a page at a time."""
        async for room, since in self._rooms(marks):
            async for page in self._pages(room, time_snowflake(since)):
                yield page

    async def _rooms(self, marks: Cursors) -> AsyncIterator[tuple[GuildChannel, datetime]]:
        """Yield where something was said, or may have been, and since when."""
        done: set[str] = set()
        away = self._places.expected
        for server in away:  # it may have chats of which nothing is known
            self._host.gap_skipped(f"server/{server}")
        for room in self._places.written():
            since = marks.of(room.chat)
            if room.server and since is not None:
                done.add(room.id)
                if room.server in away:
                    self._host.gap_skipped(room.chat)
                elif room.last > time_snowflake(since):
                    yield room, since
        private = []
        for (_account, chat), since in marks.chats.items():
            for number in await self._host.threads(chat, since):
                if number in done:
                    continue
                if (found := await self._look_at(number, chat)) is not None:
                    done.add(number)
                    yield found, since
            if chat not in done and chat.isdigit():
                private.append((since, self._places.room(chat).last, int(chat)))
        private.sort(reverse=True)
        for _since, _last, left in private[MOST_PRIVATE:]:
            self._host.gap_skipped(str(left))
        asked = [(since, str(one)) for since, _last, one in private[:MOST_PRIVATE]]
        for room, since in await self._look_at_all(asked):
            if room.last == 0 or room.last > time_snowflake(since):
                yield room, since

    async def _look_at_all(
        self, chats: Sequence[tuple[datetime, str]]
    ) -> list[tuple[GuildChannel, datetime]]:
        """Ask for several channels, some of them at once; raises ChannelError."""
        found: list[tuple[GuildChannel, datetime]] = []
        errors: list[Exception] = []
        at_once = anyio.CapacityLimiter(AT_ONCE)

        async def look(since: datetime, chat: str) -> None:
            async with at_once:
                try:
                    room = None if errors else await self._look_at(chat, chat)
                except Exception as error:  # told below, outside of the group
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

    async def _look_at(self, number: str, chat: str) -> GuildChannel | None:
        """Ask for a channel that no server told of: a private one, or an archived thread."""
        raw = await self._ask(chat, f"/channels/{number}", {})
        if not isinstance(raw, Mapping):
            if self._places.expected:  # it may be one of a server that is away
                self._host.gap_skipped(chat)
            return None
        try:
            room = self._places.learn(raw)
        except (LookupError, TypeError, ValueError):
            self._host.log_exception("discord.channel_unreadable")
            self._host.gap_skipped(chat)
            return None
        return room if room.kind in WRITTEN else None

    async def _pages(
        self, room: GuildChannel, after: int
    ) -> AsyncIterator[Sequence[InboundMessage]]:
        while True:
            query = {"after": str(after), "limit": str(PAGE)}
            raw = await self._ask(room.chat, f"/channels/{room.id}/messages", query)
            if not isinstance(raw, list):
                self._host.gap_skipped(room.chat)
                return
            if not raw:
                return
            page = sorted(raw, key=_number)
            before, after = after, max(after, _number(page[-1]))
            self._places.said(room.id, after)
            yield [message for one in page for message in self._messages(room, one)]
            if len(page) < PAGE or after == before:
                return

    def _messages(self, room: GuildChannel, raw: Any) -> Iterator[InboundMessage]:
        """Yield what is read of a message: itself, and its edit, of which nobody told then."""
        server = {"guild_id": room.server} if room.server else {}
        try:
            one = {**server, **raw}
            names = ["MESSAGE_CREATE", *(["MESSAGE_UPDATE"] if one.get("edited_timestamp") else [])]
            found = [self._read(name, one) for name in names]
        except Exception as cause:
            self._host.log_exception("discord.message_unreadable")
            found = [unreadable("MESSAGE_CREATE", raw, f"{type(cause).__name__}: {cause}")]
        yield from (message for message in found if message is not None)

    async def _ask(self, chat: str, path: str, query: Mapping[str, str]) -> Any:
        """Ask, and wait where that is wanted; None for what cannot be read, not now or not ever.

        Raises ChannelDown where it is not about this chat.
        """
        waits = iter(WAITS)
        while True:
            try:
                found = await self._api.ask(path, query)
            except SendDelayed as later:
                await self._host.clock.sleep(later.retry_after)
            except ApiRefused as refused:
                self._answered = True
                if refused.code not in CLOSED:
                    self._host.log_exception("discord.channel_not_read")
                return None
            except ChannelDown:
                if (wait := next(waits, None)) is None:
                    await self._leave(chat)
                    return None
                await self._host.clock.sleep(wait)
            else:
                self._answered = True
                return found

    async def _leave(self, chat: str) -> None:
        """Leave a chat for later; raises ChannelDown where others cannot be read either."""
        if not self._answered:
            self._in_vain += 1
            if self._in_vain >= MOST_IN_VAIN:
                raise ChannelDown("Discord cannot be reached now: no history can be read")
            try:
                await self._api.ask("/users/@me")
            except SendDelayed:
                """It answers."""
        self._host.log_exception("discord.channel_not_read")
        self._host.gap_skipped(chat)
        self._later()


def _number(raw: Any) -> int:
    """Return a message's number; 0 where it cannot be read."""
    told = str(raw.get("id")) if isinstance(raw, Mapping) else ""
    return int(told) if told.isascii() and told.isdecimal() else 0
