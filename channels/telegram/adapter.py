"""The Telegram channel: stores each update on disk before acknowledging it to Telegram."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, ClassVar, Final

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from telegram.error import TelegramError

from channels.base import Channel
from channels.capabilities import ALL_FEATURES, Capability, Feature
from channels.draft import DraftReference
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    MediaRefused,
    SendAmbiguous,
    SendRefused,
)
from channels.host import ChannelEvent
from channels.markdown.split import split
from channels.message import InboundMessage, Media, MessageLink, OutboundMessage, Receipt
from channels.pacing import Budget
from channels.telegram.address import address_of
from channels.telegram.addressing import COMMANDS, TelegramSelf
from channels.telegram.api import BotApi, MethodUnknown, NotAsSent, read_json
from channels.telegram.bodies import RichChats
from channels.telegram.chat_changes import PRESS
from channels.telegram.format import LIMIT, size
from channels.telegram.inbound import ALLOWED_UPDATES, parse, unreadable
from channels.telegram.outbound import TelegramSender
from channels.telegram.permalink import write_link
from channels.telegram.polling import NO_ANSWER, Poller
from channels.telegram.rich_writer import rich_size
from channels.telegram.settings import TelegramSettings
from channels.telegram.text_files import with_file_words
from channels.telegram.troubles import EPHEMERAL_LATE, PRIVACY_MODE, TOKEN_REFUSED, WEBHOOK_REFUSED
from channels.traits import Traits

RESEND_NOTE_UNITS: Final = 64
"""UTF-16 units kept free in each piece for a note that the message may be a repeat."""

HOLD_SECONDS: Final = 8.0
"""Seconds after which a message that one person sees is answered with a sentence for now.

Telegram takes the answer of a bot that is no administrator for 15 seconds, and edits of it later.
"""

THINKING: Final = "I'm still thinking. This message becomes my answer."
FROM_GROUP: Final = "(To what you asked in the group:)\n\n"

MAX_UPDATE_BYTES: Final = 4_000_000

SECRET_HEADER: Final = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - not a secret


class TelegramChannel(Channel):
    """The channel of one Telegram bot."""

    name: ClassVar[str] = "telegram"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"edit", "typing", "native_stream", "media", "routes", "buttons", "admins", "commands"}
    )
    # Telegram does not report deleted messages to bots.
    features: ClassVar[frozenset[Feature]] = ALL_FEATURES - {"deletions"}

    def __init__(self, settings: TelegramSettings) -> None:
        super().__init__()
        self.settings = settings
        # Intervals are a little longer than Telegram's, since clocks and networks are not exact.
        self.traits = Traits(
            edit_interval=0.7,
            first_text=0.7,
            max_draft_chars=3_800,
            typing_signs=True,
            stalled_after=None if settings.webhook_url else settings.poll_seconds + 35.0,
            join_wait=1.6,  # apps send the parts of a paste up to 1.5 s apart
            chat=Budget(1.05),
            group=Budget(1.05, settings.group_per_minute, 61.0),
            bot=Budget(0.0, settings.per_second, 1.1),
        )
        self._api = BotApi(settings, self.tally, self.way_blocked)
        chats = settings.rich_chats()
        self._sender = TelegramSender(
            self._api, RichChats(chats, lambda: self.host.clock.monotonic())
        )
        self._measure = rich_size if chats else size
        self._me: TelegramSelf | None = None
        self._has_drafts = self._hears_groups = True
        self._awaited: set[str] = set()
        # Not a random one: several processes may take the webhook's requests.
        own = sha256(b"tapeway webhook" + settings.token.get_secret_value().encode()).hexdigest()
        self._secret = settings.webhook_secret.get_secret_value() or own
        self._running: anyio.CancelScope | None = None
        self._stopped = False

    async def introduce(self) -> None:
        if self._stopped:
            return
        # Open until `close`: a failed poll must not cut off sends, whose outcome is then unknown.
        await self._api.open()
        with anyio.CancelScope() as self._running:
            self._me = await self._identify()

    async def run(self) -> None:
        me = self._me
        if self._stopped or me is None:
            return
        with anyio.CancelScope() as self._running:
            await self._register_commands()
            if self.settings.webhook_url:
                await self._listen()
                return

            async def take(updates: Sequence[Any], backlog: bool) -> None:
                found = [self._parse(update, me) for update in updates]
                messages = [one for one in found if one is not None]
                if backlog:
                    messages = [replace(one, backlog=True) for one in messages]
                if messages:
                    await self.host.accept(messages)

            await Poller(self._api, self.host, self.settings.poll_seconds, take).run()

    async def stop(self) -> None:
        self._stopped = True
        if self._running is not None:
            self._running.cancel()

    async def close(self) -> None:
        await self._api.close()

    @property
    def invitation(self) -> str:
        if self._me is None or not self._me.username:
            return ""
        link = f"https://t.me/{self._me.username}"
        return f"Talk to @{self._me.username}: {link}  Add it to a group: {link}?startgroup"

    @property
    def hears_groups(self) -> bool:
        return self._hears_groups

    @property
    def bot_id(self) -> str:
        return str(self._me.id) if self._me is not None else ""

    def pairing_hint(self, code: str) -> str:
        name = self._me.username if self._me is not None else ""
        if not name:
            return f"Send `/start {code}` to the bot in a private chat."
        return f"Open https://t.me/{name}?start={code} and press Start."

    def command_hint(self, name: str, place: InboundMessage | None = None) -> str:
        username = self._me.username if self._me is not None else ""
        if place is not None and (place.chat_kind == "private" or self._hears_groups):
            username = ""  # there, it needs no name
        word, blank, rest = name.partition(" ")
        if not word.isidentifier():  # the app would mark it as a command only up to the dot
            return f"@{username} ,{name}" if username else f",{name}"
        return f"/{word}@{username}{blank}{rest}" if username else f"/{name}"

    async def private_chat(self, person_id: str, account: str = "") -> str:
        if not person_id.isdecimal():  # a chat that writes in its own name, or a channel
            return await super().private_chat(person_id, account)
        return person_id

    async def administers(self, message: InboundMessage) -> bool:
        if message.chat_kind == "private" or message.sender.acts_as != "person":
            return message.chat_kind == "group" and message.sender.acts_as == "chat"
        chat = address_of(message.chat_id).chat
        found = await self._api.call("getChatAdministrators", chat_id=chat)
        leading = found if isinstance(found, list) else ()
        return message.sender.id in {str(one.get("user", {}).get("id")) for one in leading}

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        await self._sender.answer_press(press.ext_id.removeprefix(PRESS), text)

    def budget_of(self, chat_id: str) -> Budget:
        return self.traits.group if chat_id.startswith("-") else self.traits.chat

    def streams(self, message: InboundMessage) -> bool:
        # A draft is not a message, but a held-back answer needs a message to be edited into.
        holds = self.host.holds_unknown_outcomes
        return self._has_drafts and message.chat_kind == "private" and not holds

    def link_to(self, place: MessageLink) -> str:
        return write_link(place.message_id, place.chat_id)

    def split(self, text: str) -> list[str]:
        return split(text, LIMIT - RESEND_NOTE_UNITS, self._measure)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        try:
            return await self._sender.deliver(message)
        except SendRefused as refused:
            person = address_of(message.chat_id).receiver
            if person is None:
                raise
            self.host.warn(EPHEMERAL_LATE.sentence())
            return await self._deliver_privately(message, str(person), refused)

    async def _deliver_privately(
        self, message: OutboundMessage, person: str, refused: SendRefused
    ) -> list[Receipt]:
        """Send what the group no longer takes to the one person who was to see it there."""
        text = f"{FROM_GROUP}{message.text}"
        told = replace(message, chat_id=person, text=text, thread_id=None, reply_to=None)
        try:
            await self._sender.deliver(replace(told, edits=None))
        except SendRefused:  # nobody may be written to who has not begun it
            raise SendRefused(f"{refused}. {EPHEMERAL_LATE.remedy}") from None
        return [Receipt("")]  # it is no message of the group's

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        await super().on_event(event, message)
        if event.kind in ("final", "error", "abandoned"):
            self._awaited.discard(message.ext_id)
        elif event.kind == "accepted" and address_of(message.chat_id).receiver is not None:
            self._awaited.add(message.ext_id)
            self.host.start_soon("placeholder", lambda: self._hold_place(message))

    async def _hold_place(self, message: InboundMessage) -> None:
        """Send a sentence in time that becomes the answer; Telegram sets no limit to edits."""
        await self.host.clock.sleep(HOLD_SECONDS)
        if message.ext_id in self._awaited and (editor := self.draft_editor(message)) is not None:
            editor.hold(THINKING)

    async def show(
        self, message: InboundMessage, reference: DraftReference, text: str
    ) -> str | None:
        chat, thread = message.chat_id, message.thread_id
        if self.streams(message) and reference.platform_id is None:
            try:
                await self._sender.draft(chat, thread, reference.idem, text)
            except MethodUnknown:
                self._has_drafts = False  # an older server: post and edit from now on
            return None
        return await self._sender.show(
            chat, thread, message.message_id, reference.platform_id, text
        )

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        del on
        await self._sender.type(message.chat_id, message.thread_id)

    async def remove_draft(self, message: InboundMessage, reference: DraftReference) -> None:
        if reference.platform_id:
            await self._sender.delete(message.chat_id, reference.platform_id)

    async def fetch(self, media: Media, most: int) -> bytes:
        if media.size > most:
            raise MediaRefused(f"it is larger than {most // 1_000_000} MB")
        try:
            found = await self._api.call("getFile", file_id=media.file)
            return await self._api.download(str(found["file_path"]), most)
        except SendRefused as refused:
            raise MediaRefused(f"Telegram refused the download ({refused})") from refused
        except (TypeError, KeyError) as cause:
            raise MediaRefused("Telegram did not return the file's path") from cause

    async def complete(self, message: InboundMessage) -> InboundMessage:
        return await with_file_words(message, self.fetch)

    def routes(self) -> list[Route]:
        return [Route("/webhooks/telegram", self._webhook, methods=["POST"])]

    async def _identify(self) -> TelegramSelf:
        self._api.check_token()
        try:
            found = await self._api.call("getMe")
        except NotAsSent as refused:  # Telegram's answer to a malformed token
            raise ChannelUnfit(trouble=TOKEN_REFUSED) from refused
        except SendAmbiguous as lost:
            raise ChannelDown(NO_ANSWER) from lost
        if not isinstance(found, Mapping) or "id" not in found:
            raise ChannelDown("the server's answer to getMe has no id")
        self._hears_groups = found.get("can_read_all_group_messages") is not False
        if not self._hears_groups:
            self.host.warn(PRIVACY_MODE.sentence())
        return TelegramSelf(
            int(found["id"]),
            str(found.get("username") or ""),
            tuple(self.host.names),
            self.settings.rules(),
        )

    async def _register_commands(self) -> None:
        commands = [{"command": name, "description": what} for name, what in COMMANDS.items()]
        try:
            await self._api.call("setMyCommands", commands=commands)
        except ChannelUnfit:
            raise
        except ChannelError:  # the bot also works without a command menu
            self.host.log_exception("telegram.commands_not_set")

    async def _listen(self) -> None:
        url = self.settings.webhook_url
        try:
            await self._api.call(
                "setWebhook",
                url=url,
                secret_token=self._secret,
                allowed_updates=list(ALLOWED_UPDATES),
                max_connections=1,  # several connections would deliver updates out of order
                drop_pending_updates=False,
            )
        except NotAsSent as refused:
            raise ChannelUnfit(trouble=WEBHOOK_REFUSED, detail=str(refused)) from refused
        self.host.ready()
        await anyio.sleep_forever()  # the updates come in through the webhook route

    async def _webhook(self, request: Request) -> Response:
        given = request.headers.get(SECRET_HEADER, "")
        if not hmac.compare_digest(given.encode(), self._secret.encode()):
            return PlainTextResponse("Forbidden.\n", status_code=403)
        if self._me is None:
            return PlainTextResponse("Starting.\n", status_code=503)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_UPDATE_BYTES:
                return PlainTextResponse("Too large.\n", status_code=413)
        try:
            found = self._parse(read_json(bytes(body)), self._me)
        except TelegramError:
            found = unreadable(bytes(body).decode("utf-8", "replace"), "not a JSON object")
        try:
            if found is not None:
                await self.host.accept([found])
        except Exception:
            self.host.log_exception("telegram.webhook_failed")
            return PlainTextResponse("Try again later.\n", status_code=503)
        return PlainTextResponse("")

    def _parse(self, update: Any, me: TelegramSelf) -> InboundMessage | None:
        try:
            return parse(update, me)
        except Exception as cause:
            self.host.log_exception("telegram.update_unreadable")
            return unreadable(update, f"{type(cause).__name__}: {cause}")
