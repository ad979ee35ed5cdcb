"""The Discord channel: receives events from Discord and sends messages to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final

import anyio

from channels.base import Channel
from channels.capabilities import ALL_FEATURES, Capability, Feature
from channels.connection_state import ConnectionState
from channels.content import MAX_BYTES
from channels.discord.administrators import is_administrator, is_in_thread
from channels.discord.api import ApiRefused, Code, DiscordApi
from channels.discord.backfill import Backfill
from channels.discord.catch_up import CatchUp
from channels.discord.event_handler import EventHandler
from channels.discord.event_queue import EventQueue
from channels.discord.format import pieces
from channels.discord.guild_cache import GuildCache
from channels.discord.history_audit import HistoryAudit
from channels.discord.identify_limit import IdentifyLimit
from channels.discord.identity import DiscordSelf, readable
from channels.discord.inbound import OWN_FILE, heard_in, parse
from channels.discord.interactions import Interactions
from channels.discord.invitation import invite_link
from channels.discord.limits import LIMITS, DiscordLimits
from channels.discord.outbound import DiscordSender
from channels.discord.permalink import write_link
from channels.discord.settings import DiscordSettings
from channels.discord.shard import Shard, shard_of
from channels.discord.slash_commands import COMMAND_LINES, COMMANDS, registration
from channels.discord.text_files import TextFiles
from channels.discord.troubles import SECOND_GATEWAY, TOKEN_REFUSED
from channels.draft import DraftReference
from channels.errors import ChannelDown, ChannelError, ChannelUnfit, MediaRefused, SendRefused
from channels.host import Cursors
from channels.message import InboundMessage, Media, MessageLink, OutboundMessage, Receipt
from channels.pacing import Budget, Gates, OwnGates, Priority, SharedGate, taken
from channels.traits import Traits

MAX_WARNINGS: Final = 20
MAX_TYPING_PER_SECOND: Final = 15
"""Maximum typing signs per second; they count against the bot's rate limit."""


class DiscordChannel(Channel):
    name: ClassVar[str] = "discord"
    joins: ClassVar[str] = "server"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            *("edit", "typing", "media", "idempotent_send", "lookup", "backfill", "buttons"),
            *("admins", "commands"),
        }
    )
    features: ClassVar[frozenset[Feature]] = ALL_FEATURES - {"exclusive"}

    def __init__(self, settings: DiscordSettings, limits: DiscordLimits = LIMITS) -> None:
        super().__init__()
        self.settings = settings
        self.traits = Traits(
            edit_interval=1.1,
            first_text=0.7,
            max_draft_chars=1_900,
            typing_signs=True,
            stalled_after=70.0,  # two unanswered probes are allowed
            idempotent_for=120.0,  # Discord remembers nonces for a few minutes
            # Discord allows five in five seconds; we send slightly fewer, since clocks differ.
            chat=Budget(1.05, 5, 5.3),
            bot=Budget(0.0, settings.per_second, 1.05),
        )
        self.me = DiscordSelf("")
        self._api = DiscordApi(settings, self.tally, self.way_blocked)
        self.cache = GuildCache()
        self._interactions = Interactions(self._api, self.cache, lambda: self.host)
        self._sender = DiscordSender(self._api, lambda: self.me.id, self._warn_refused)
        self._sender.answer_path = self._interactions.answer_path
        self._warned: set[str] = set()
        self._limits = limits
        self._catch_up: CatchUp | None = None
        self.identify_limit = IdentifyLimit(limits)
        self._running: anyio.CancelScope | None = None
        self._stopped = False

    @cached_property
    def _gates(self) -> Gates:
        return self.host.gates or OwnGates(self.host.clock)

    @cached_property
    def _typing(self) -> SharedGate:
        return self._gates.gate("discord typing", Budget(0.0, MAX_TYPING_PER_SECOND, 1.0))

    async def introduce(self) -> None:
        if self._stopped:  # before it ran
            return
        await self._api.open(self.host.clock, self._gates, self.pacing.bot)
        self._sender.facts = self.cache.facts = self.host.facts
        with anyio.CancelScope() as self._running:
            await self._identify()

    async def run(self) -> None:
        if self._stopped:
            return
        with anyio.CancelScope() as self._running:
            self.host.start_soon("slash commands", self._register_commands)
            await self._listen()

    async def stop(self) -> None:
        self._stopped = True
        if self._running is not None:
            self._running.cancel()

    async def close(self) -> None:
        await self._api.close()

    @property
    def invitation(self) -> str:
        if not self._interactions.application:
            return ""
        link = invite_link(self._interactions.application)
        return f"Add {self.me.name} to a server: {link}"

    @property
    def bot_id(self) -> str:
        return self.me.id

    def link_to(self, place: MessageLink) -> str:
        channel = self.cache.find(place.thread_id or place.chat_id)
        return write_link(place.message_id, channel.id, channel.guild) if channel else ""

    def split(self, text: str) -> list[str]:
        return pieces(text)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        return await self._sender.deliver(message)

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        return await self._sender.find(message)

    async def show(
        self, message: InboundMessage, reference: DraftReference, text: str
    ) -> str | None:
        return await self._sender.show(message, reference, text)

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        del on
        if await self._typing.allows(Priority.FINAL):
            await taken(self._typing, self.host.clock, Priority.FINAL)
            await self._sender.type(message.thread_id or message.chat_id)

    async def remove_draft(self, message: InboundMessage, reference: DraftReference) -> None:
        if reference.platform_id:
            await self._sender.delete(message.thread_id or message.chat_id, reference.platform_id)

    async def fetch(self, media: Media, most: int) -> bytes:
        """Download an attachment; an address that expired (after a day) is renewed first."""
        if media.size > most:
            raise MediaRefused(f"it is larger than the {most // 1_000_000} MB I accept")
        return await self._download(media.file, partial(self._api.download, most=most))

    async def complete(self, message: InboundMessage) -> InboundMessage:
        """Read the message's text files, and see whether a file without a type is an image."""

        async def start_of(media: Media) -> bytes:
            return await self._download(media.file, partial(self._api.start_of, most=MAX_BYTES + 1))

        files = TextFiles(start_of, str(message.raw.get(OWN_FILE) or ""))
        found = await files.read(message)
        if not files.words:
            return found
        place = {"channel_id": found.thread_id or found.chat_id, "guild_id": found.server_id}
        found = replace(found, text=readable(found.text, place, self.me, self.cache))
        return heard_in(found, files.words, self.me, self.cache)

    def missed(self, cursors: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        self.cache.recorded |= {chat for _account, chat in cursors.chats}
        backfill = Backfill(
            self._api,
            self.cache,
            self.host,
            lambda name, raw: parse(name, raw, self.me, self.cache),
            self._retry_backfill,
        )
        return backfill.missed(cursors)

    def _retry_backfill(self) -> None:
        if self._catch_up is not None:
            self._catch_up.retry_later()

    async def interact(self, data: dict[str, Any]) -> None:
        """Handle the use of a slash command, or the press of a button."""
        await self._interactions.take(data)

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        await self._interactions.answer_press(press, text)

    def pairing_hint(self, code: str) -> str:
        profile = f"https://discord.com/users/{self.me.id}"
        return f"Send `/pair {code}` in a direct message to {self.me.name} ({profile})."

    def command_hint(self, name: str, place: InboundMessage | None = None) -> str:
        del place
        native = next((one for one, line in COMMAND_LINES.items() if line == f",{name}"), name)
        return f"/{native}" if any(one["name"] == native for one in COMMANDS) else f",{name}"

    async def private_chat(self, person_id: str, account: str = "") -> str:
        del account
        found = await self._api.call("POST", "/users/@me/channels", {"recipient_id": person_id})
        try:
            return self.cache.add_channel(found).id
        except (LookupError, TypeError, ValueError) as cause:
            raise SendRefused("Discord does not name the private chat") from cause

    def administered_as(self, message: InboundMessage) -> str:
        return message.chat_id if message.parent_id else message.server_id or message.chat_id

    async def administers(self, message: InboundMessage) -> bool:
        person = message.sender.id
        if not message.server_id or message.sender.acts_as != "person":
            return False
        if message.parent_id and not await is_in_thread(self._api, message.chat_id, person):
            return False
        return await is_administrator(self._api, message.server_id, person)

    async def is_open_thread(self, thread_id: str, account: str = "") -> bool:
        del account
        known = self.cache.channels.get(thread_id)
        try:
            found = known or self.cache.add_channel(await self._api.ask(f"/channels/{thread_id}"))
        except ApiRefused as refused:
            if refused.code == Code.UNKNOWN_CHANNEL:  # it was deleted: no one reads it any more
                return False
            raise
        except (LookupError, TypeError, ValueError) as cause:
            raise ChannelDown("Discord's answer about a thread is unreadable") from cause
        return found.is_thread and not found.is_private_thread

    def saw_own_message(self, data: dict[str, Any]) -> None:
        """Warn if another process posts as the same bot, which Discord allows."""
        if not self._sender.is_ours(data):
            self.host.start_soon("own message", lambda: self._check_own(data))

    async def _check_own(self, data: dict[str, Any]) -> None:
        channel = self.cache.channel(str(data["channel_id"]), str(data.get("guild_id") or ""))
        try:
            keys = await self.host.sent_keys(channel.chat)
        except ChannelDown:
            return
        if not self._sender.is_ours(data, keys):
            self.host.warn(SECOND_GATEWAY.sentence())

    async def _identify(self) -> None:
        self._api.check_token()
        try:
            found = await self._api.ask("/users/@me")
        except ApiRefused as refused:
            raise ChannelDown(f"Discord does not identify the bot: {refused}") from refused
        if not isinstance(found, Mapping) or "id" not in found:
            raise ChannelDown("Discord does not identify the bot")
        bot_id = self.cache.bot_id = str(found["id"])
        self.me = DiscordSelf(
            bot_id,
            str(found.get("global_name") or found.get("username") or ""),
            tuple(self.host.names),
            self.settings.rules(),
        )
        try:
            application = await self._api.ask("/oauth2/applications/@me")
            self._interactions.application = str(application["id"])
        except (SendRefused, TypeError, KeyError):
            self._interactions.application = (
                bot_id  # the two ids are equal, unless the bot is very old
            )

    async def _register_commands(self) -> None:
        try:
            path = f"/applications/{self._interactions.application}/commands"
            await self._api.call("PUT", path, registration())
        except ChannelUnfit:
            """The connection will end for the same reason."""
        except ChannelError:  # the bot also works without the command menu
            self.host.log_exception("discord.commands_not_set")

    async def _listen(self) -> None:
        api, cache, settings, host = self._api, self.cache, self.settings, self.host
        count = settings.shards or 1
        state = ConnectionState(host, host, links=count)
        queue = EventQueue(host, cache, state, self._limits)
        self._catch_up = CatchUp(host, cache, state, queue, self)
        handler = EventHandler(self, host, api, cache, state, queue, self._catch_up)
        limit = self.identify_limit
        shards = [
            Shard(number, settings, api, host.clock, limit, state, handler)
            for number in range(count)
        ]
        audit = HistoryAudit(api, cache, host.clock, lambda guild: shards[shard_of(guild, count)])
        ended: list[ChannelUnfit] = []
        async with anyio.create_task_group() as group:

            async def until_unfit(work: Callable[[], Awaitable[None]]) -> None:
                try:
                    await work()
                except ChannelUnfit as unfit:
                    ended.append(unfit)
                    group.cancel_scope.cancel()

            for shard in shards:
                group.start_soon(until_unfit, shard.run)
            group.start_soon(until_unfit, partial(queue.run, handler))
            group.start_soon(until_unfit, self._rejection)
            group.start_soon(audit.run)
        if ended:
            raise ended[0]

    async def _rejection(self) -> None:
        await self._api.rejected.wait()
        raise ChannelUnfit(trouble=TOKEN_REFUSED)

    async def _download(self, url: str, download: Callable[[str], Awaitable[bytes]]) -> bytes:
        try:
            try:
                return await download(url)
            except ApiRefused:
                return await download(await self._renew(url))
        except SendRefused as refused:
            raise MediaRefused(f"Discord did not deliver it ({refused})") from refused

    async def _renew(self, url: str) -> str:
        body = {"attachment_urls": [url]}
        try:
            found = await self._api.call("POST", "/attachments/refresh-urls", body)
            return str(found["refreshed_urls"][0]["refreshed"])
        except (TypeError, KeyError, IndexError) as cause:
            raise MediaRefused("Discord does not return its address") from cause

    def _warn_refused(self, channel_id: str, refused: ApiRefused) -> None:
        if channel_id in self._warned or len(self._warned) >= MAX_WARNINGS:
            return
        self._warned.add(channel_id)
        channel = self.cache.channel(channel_id, "?")  # an unknown one is not private
        permission = "Send Messages in Threads" if channel.is_thread else "Send Messages"
        if refused.code == Code.MISSING_ACCESS:
            permission = "View Channel"
        title = self.cache.title(channel) or f"channel {channel_id}"
        self.host.warn(
            f"The bot can't post in {title}. In Discord, open the channel's settings, Permissions,"
            f" and give the bot's role {permission} and Read Message History."
        )
