"""The Discord channel: events in, messages out."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import anyio
from discord.flags import Intents
from discord.permissions import Permissions
from discord.utils import oauth_url

from channels.base import Capability, Channel, Feature, Traits
from channels.discord.api import MISSING_ACCESS, UNKNOWN_BOT, ApiRefused, DiscordApi
from channels.discord.backfill import Backfill
from channels.discord.event_queue import EventQueue
from channels.discord.format import LIMIT, size
from channels.discord.guild_cache import GuildCache
from channels.discord.history_audit import HistoryAudit
from channels.discord.inbound import DiscordSelf, parse
from channels.discord.outbound import NO_PREVIEW, NOBODY, DiscordSender
from channels.discord.settings import DiscordSettings
from channels.discord.shard import Shard
from channels.discord.slash_commands import NOTE, ONLY_THEM, note_of, registered, used
from channels.draft import DraftReference
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    MediaRefused,
    SendRefused,
)
from channels.host import Cursors
from channels.markdown.split import split
from channels.message import InboundMessage, Media, OutboundMessage, Receipt
from channels.pacing import Budget

NEEDED: Final = Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
)
HEARD: Final = Intents(
    guilds=True, guild_messages=True, dm_messages=True, message_content=True
).value
NOT_NOW: Final = "I cannot take this just now. Please try again in a minute."
MOST_NOTES: Final = 20
MOST_SIGNS: Final = 15
"""So many typing signs in a second: they count against the bot like anything else."""

SECOND_WRITER: Final = (
    "Somebody else writes with this bot's token: a second gateway (another machine, an old"
    " container, a test). Every question is then answered twice. Stop it, or take a new token from"
    " discord.com/developers/applications (Bot, Reset Token), which shuts it out."
)


class DiscordChannel(Channel):
    """One bot."""

    name: ClassVar[str] = "discord"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"edit", "typing", "media", "idempotent_send", "lookup", "backfill"}
    )
    features: ClassVar[frozenset[Feature]] = frozenset(
        {
            "groups",
            "private",
            "threads",
            "names",
            "rules",
            "bursts",
            "bots",
            "strangers",
            "edits",
            "deletions",
            "pings",
            "remote",
        }
    )

    def __init__(self, settings: DiscordSettings) -> None:
        super().__init__()
        self.settings = settings
        self.traits = Traits(
            edit_interval=1.1,
            first_text=0.7,
            max_draft_chars=1_900,
            typing_signs=True,
            stalled_after=70.0,
            idempotent_for=120.0,
            # Five in five seconds, as far as is known; a little less, since clocks differ.
            chat=Budget(1.05, 5, 5.3),
            bot=Budget(0.0, settings.per_second, 1.05),
        )
        self._api = DiscordApi(settings)
        self._places = GuildCache()
        self._sender = DiscordSender(self._api, lambda: self._me.id, self._note_refused)
        self._me = DiscordSelf("")
        self._application = ""
        self._noted: set[str] = set()
        self._hearing: EventQueue | None = None
        self._identified: deque[float] = deque()
        self._typed: deque[float] = deque(maxlen=MOST_SIGNS)
        self._running: anyio.CancelScope | None = None
        self._stopped = False

    async def run(self) -> None:
        """Find out who the bot is, then listen until stopped."""
        if self._stopped:
            return
        await self._api.open(self.host.clock)
        with anyio.CancelScope() as self._running:
            await self._introduce()
            self.host.start_soon("slash commands", self._register)
            await self._listen()

    async def stop(self) -> None:
        """End `run`."""
        self._stopped = True
        if self._running is not None:
            self._running.cancel()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._api.close()

    @property
    def invitation(self) -> str:
        """How to add the bot to a server, with what it needs there."""
        if not self._application:
            return ""
        scopes = ("bot", "applications.commands")
        link = oauth_url(self._application, permissions=NEEDED, scopes=scopes)
        return f"Add {self._me.name} to a server: {link}"

    def split(self, text: str) -> list[str]:
        """Cut an answer into pieces of at most 2000 characters."""
        return split(text, LIMIT, size)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or edit its draft into it."""
        return await self._sender.deliver(message)

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        """Search the channel for a message that may have been sent."""
        return await self._sender.find(message)

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str | None:
        """Show partial text: a message that grows."""
        return await self._sender.show(message, place, text)

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        """Show the sign; where many are asked for at once, some are left out."""
        del on
        now = self.host.clock.monotonic()
        if len(self._typed) == MOST_SIGNS and now - self._typed[0] < 1.0:
            return
        self._typed.append(now)
        await self._sender.type(message.thread_id or message.chat_id)

    async def remove_draft(self, message: InboundMessage, place: DraftReference) -> None:
        """Take partial text away."""
        if place.platform_id:
            await self._sender.delete(message.thread_id or message.chat_id, place.platform_id)

    async def fetch(self, media: Media, most: int) -> bytes:
        """Fetch an attachment; its address, which is good for a day, is renewed if need be."""
        if media.size > most:
            raise MediaRefused(f"it is larger than the {most // 1_000_000} MB that I take")
        try:
            try:
                return await self._api.download(media.file, most)
            except ApiRefused:
                return await self._api.download(await self._renewed(media.file), most)
        except SendRefused as refused:
            raise MediaRefused(f"Discord does not give it out ({refused})") from refused

    def missed(self, marks: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        """Yield what was said in every channel and thread after its mark."""
        self._places.heard |= {chat for _account, chat in marks.chats}
        backfill = Backfill(
            self._api,
            self._places,
            self.host,
            lambda name, raw: parse(name, raw, self._me, self._places),
            self._later,
        )
        return backfill.missed(marks)

    def _later(self) -> None:
        """Catch up another time with what cannot be read now."""
        if self._hearing is not None:
            self._hearing.again()

    async def _introduce(self) -> None:
        """Ask who the bot is."""
        try:
            found = await self._api.ask("/users/@me")
        except ApiRefused as refused:
            raise ChannelDown(f"Discord does not say who the bot is: {refused}") from refused
        if not isinstance(found, Mapping) or "id" not in found:
            raise ChannelDown("Discord does not say who the bot is")
        number = str(found["id"])
        self._me = DiscordSelf(
            number,
            str(found.get("global_name") or found.get("username") or ""),
            tuple(self.host.names),
            self.settings.rules(),
        )
        self._places.me = number
        try:
            application = await self._api.ask("/oauth2/applications/@me")
            self._application = str(application["id"])
        except (SendRefused, TypeError, KeyError):
            self._application = number  # they are the same, unless the bot is very old

    async def _register(self) -> None:
        """Tell Discord the slash commands."""
        try:
            path = f"/applications/{self._application}/commands"
            await self._api.call("PUT", path, registered())
        except ChannelUnfit:
            """The connection ends of the same."""
        except ChannelError:  # nobody is deaf for want of a menu
            self.host.log_exception("discord.commands_not_set")

    async def _listen(self) -> None:
        """Hear all connections until Discord refuses the token; ChannelUnfit."""
        hearing = self._hearing = EventQueue(
            self.host,
            self._api,
            self._places,
            lambda: self._me,
            self.catch_up,
            self._used,
            self._wrote,
            self._identified,
        )
        settings, count = self.settings, self.settings.shards
        hearing.shards = [
            Shard(
                number,
                count,
                settings.key(),
                HEARD,
                settings.gateway_url,
                self._api,
                self.host.clock,
                hearing,
            )
            for number in range(count or 1)
        ]
        ended: list[ChannelError] = []
        async with anyio.create_task_group() as group:

            async def until_unfit(shard: Shard) -> None:
                try:
                    await shard.run()
                except ChannelUnfit as unfit:
                    ended.append(unfit)
                    group.cancel_scope.cancel()

            for shard in hearing.shards:
                group.start_soon(until_unfit, shard)
            group.start_soon(hearing.run)
            patrol = HistoryAudit(
                self._api, self._places, self.host.clock, hearing.is_deaf, hearing.listens
            )
            group.start_soon(patrol.run)
            await self._api.refused.wait()
            ended.append(ChannelUnfit(UNKNOWN_BOT))
            group.cancel_scope.cancel()
        if ended:
            raise ended[0]

    async def _used(self, raw: dict[str, Any]) -> None:
        """Take the use of a slash command, and note it in its chat."""
        message = used(raw, self._places)
        if message is None:
            return
        self._sender.noting(message.message_id)
        note_id: str | None = None
        try:
            content, flags = note_of(raw), NO_PREVIEW
            try:
                await self.host.accept([message])
            except ChannelDown:
                content, flags = NOT_NOW, ONLY_THEM
            note = {"content": content, "allowed_mentions": NOBODY, "flags": flags}
            answer = await self._api.call(
                "POST",
                f"/interactions/{message.message_id}/{raw['token']}/callback",
                {"type": NOTE, "data": note},
                query={"with_response": "true"},
                as_bot=False,
            )
            note_id = str(answer["resource"]["message"]["id"])
        except (ChannelError, TypeError, KeyError):
            self.host.log_exception("discord.command_not_noted")
        finally:
            self._sender.noted(message.message_id, note_id)

    def _wrote(self, own: Mapping[str, Any]) -> None:
        """Hear of a message of the bot's: Discord lets two gateways have the same token."""
        if not self._sender.is_ours(own):
            self.host.warn(SECOND_WRITER)

    async def _renewed(self, url: str) -> str:
        """Ask for a fresh address of an attachment."""
        body = {"attachment_urls": [url]}
        try:
            found = await self._api.call("POST", "/attachments/refresh-urls", body)
            return str(found["refreshed_urls"][0]["refreshed"])
        except (TypeError, KeyError, IndexError) as cause:
            raise MediaRefused("Discord does not say where it is") from cause

    def _note_refused(self, room_id: str, refused: ApiRefused) -> None:
        """Tell the operator which permission is missing where."""
        if room_id in self._noted or len(self._noted) >= MOST_NOTES:
            return
        self._noted.add(room_id)
        room = self._places.room(room_id, "?")
        permission = "Send Messages in Threads" if room.is_thread else "Send Messages"
        if refused.code == MISSING_ACCESS:
            permission = "View Channel"
        title = self._places.title(room) or f"channel {room_id}"
        self.host.warn(
            f"In {title} the bot may not write. In Discord, open the channel's settings,"
            f" Permissions, and give the bot's role {permission} and Read Message History."
        )
