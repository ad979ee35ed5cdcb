"""Backfill: reads the history of each channel and thread since the chat's cursor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import anyio
from discord.utils import time_snowflake

from channels.discord.api import ApiRefused, Code, DiscordApi
from channels.discord.guild_cache import TEXT_KINDS, GuildCache, GuildChannel, Raw
from channels.discord.inbound import unreadable
from channels.discord.troubles import CONNECTION
from channels.errors import ChannelDown, SendDelayed
from channels.host import Cursors, FullHost
from channels.message import InboundMessage

PAGE: Final = 100
MAX_LOOKUPS_AT_ONCE: Final = 10
MAX_PRIVATE_CHATS: Final = 300
"""Maximum private chats to look up, latest first, since Discord does not list them."""

CLOSED: Final = frozenset((Code.MISSING_ACCESS, Code.UNKNOWN_CHANNEL))
"""Refusals that are not logged: most servers have channels that are hidden from the bot."""

RETRY_SECONDS: Final = (1.0, 3.0)
"""Seconds between the attempts to read a chat; after the last attempt it is read later."""

MAX_FAILURES: Final = 3
"""If this many chats are unreadable and none was readable, Discord counts as unreachable."""


@dataclass(eq=False)
class Backfill:
    """Reads the history of a bot's chats.

    read   parses a raw message or its edit; see `inbound.parse`
    later  schedules another catch-up for a chat that could not be read now
    """

    _api: DiscordApi
    _cache: GuildCache
    _host: FullHost
    _read: Callable[[str, Raw], InboundMessage | None]
    _later: Callable[[], None]
    _answered: bool = field(default=False, init=False)
    _failures: int = field(default=0, init=False)

    async def missed(self, cursors: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        async for channel, since in self._channels(cursors):
            async for page in self._pages(channel, time_snowflake(since)):
                yield page

    async def _channels(self, cursors: Cursors) -> AsyncIterator[tuple[GuildChannel, datetime]]:
        done: set[str] = set()
        away = self._cache.expected
        for guild in away:  # the guild may have channels that are not known yet
            self._host.gap_skipped(f"server/{guild}")
        for channel in self._cache.text_channels():
            since = cursors.of(channel.chat)
            if channel.is_private_thread and ("", channel.id) not in cursors.chats:
                since = cursors.of(channel.parent)  # nothing of it was recorded as its own chat
            if channel.guild and since is not None:
                done.add(channel.id)
                if channel.guild in away:
                    self._host.gap_skipped(channel.chat)
                elif channel.latest > time_snowflake(since):
                    yield channel, since
        private = []
        for (_account, chat), since in cursors.chats.items():
            for channel_id in await self._host.threads(chat, since):
                if channel_id in done:
                    continue
                if (found := await self._look_up(channel_id, chat)) is not None:
                    done.add(channel_id)
                    yield found, since
            if chat not in done and chat.isdigit():
                private.append((since, self._cache.channel(chat).latest, int(chat)))
        private.sort(reverse=True)
        for _since, _latest, left_out in private[MAX_PRIVATE_CHATS:]:
            self._host.gap_skipped(str(left_out))
        chosen = [(since, str(one)) for since, _latest, one in private[:MAX_PRIVATE_CHATS]]
        for channel, since in await self._look_up_all(chosen):
            if channel.latest == 0 or channel.latest > time_snowflake(since):
                yield channel, since

    async def _look_up_all(
        self, chats: Sequence[tuple[datetime, str]]
    ) -> list[tuple[GuildChannel, datetime]]:
        found: list[tuple[GuildChannel, datetime]] = []
        errors: list[Exception] = []
        at_once = anyio.CapacityLimiter(MAX_LOOKUPS_AT_ONCE)

        async def look(since: datetime, chat: str) -> None:
            async with at_once:
                try:
                    channel = None if errors else await self._look_up(chat, chat)
                except Exception as error:  # raised below, outside of the group
                    errors.append(error)
                    return
            if channel is not None:
                found.append((channel, since))

        async with anyio.create_task_group() as group:
            for since, chat in chats:
                group.start_soon(look, since, chat)
        if errors:
            raise errors[0]
        return found

    async def _look_up(self, channel_id: str, chat: str) -> GuildChannel | None:
        """Look up a channel that no guild listed: a private one or an archived thread."""
        raw = await self._ask(chat, f"/channels/{channel_id}", {})
        if not isinstance(raw, Mapping):
            if self._cache.expected:  # the guild that it belongs to may be unavailable
                self._host.gap_skipped(chat)
            return None
        try:
            channel = self._cache.add_channel(raw)
        except (LookupError, TypeError, ValueError):
            self._host.log_exception("discord.channel_unreadable")
            self._host.gap_skipped(chat)
            return None
        return channel if channel.kind in TEXT_KINDS else None

    async def _pages(
        self, channel: GuildChannel, after: int
    ) -> AsyncIterator[Sequence[InboundMessage]]:
        while True:
            query = {"after": str(after), "limit": str(PAGE)}
            raw = await self._ask(channel.chat, f"/channels/{channel.id}/messages", query)
            if not isinstance(raw, list):
                self._host.gap_skipped(channel.chat)
                return
            if not raw:
                return
            page = sorted(raw, key=_number)  # Discord lists the newest message first
            before, after = after, max(after, _number(page[-1]))
            self._cache.saw_message(channel.id, after)
            yield [message for one in page for message in self._messages(channel, one)]
            if len(page) < PAGE or after == before:  # else the same page would be repeated
                return

    def _messages(self, channel: GuildChannel, raw: Any) -> Iterator[InboundMessage]:
        """Yield a message and its edit, since the edit's event was sent during the gap."""
        guild = {"guild_id": channel.guild} if channel.guild else {}
        try:
            one = {**guild, **raw}
            names = ["MESSAGE_CREATE", *(["MESSAGE_UPDATE"] if one.get("edited_timestamp") else [])]
            found = [self._read(name, one) for name in names]
        except Exception as cause:
            self._host.log_exception("discord.message_unreadable")
            found = [unreadable("MESSAGE_CREATE", raw, f"{type(cause).__name__}: {cause}")]
        yield from (message for message in found if message is not None)

    async def _ask(self, chat: str, path: str, query: Mapping[str, str]) -> Any:
        """Request a path, waiting out rate limits; None if it is unreadable now or forever."""
        waits = iter(RETRY_SECONDS)
        while True:
            try:
                found = await self._api.ask(path, query)
            except SendDelayed as later:
                await self._host.clock.sleep(later.retry_after)
            except (ApiRefused, ChannelDown) as error:
                if isinstance(error, ApiRefused) and error.row.send != "wait":
                    self._answered = True
                    if error.code not in CLOSED:
                        self._host.log_exception("discord.channel_not_read")
                    return None
                if (wait := next(waits, None)) is None:
                    await self._leave_for_later(chat)
                    return None
                await self._host.clock.sleep(wait)
            else:
                self._answered = True
                return found

    async def _leave_for_later(self, chat: str) -> None:
        """Postpone a chat that is unreadable now; raise ChannelDown if all chats seem to be."""
        if not self._answered:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                detail = "no history can be read"
                raise ChannelDown(trouble=CONNECTION.unreachable, detail=detail)
            try:
                await self._api.ask("/users/@me")
            except SendDelayed:
                """Discord answered, so it is reachable."""
        self._host.log_exception("discord.channel_not_read")
        self._host.gap_skipped(chat)
        self._later()


def _number(raw: Any) -> int:
    text = str(raw.get("id")) if isinstance(raw, Mapping) else ""
    return int(text) if text.isascii() and text.isdecimal() else 0
