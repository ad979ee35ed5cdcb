"""The Telegram channel: updates in, messages out.

An update is on the disk before Telegram is told that it came: the next request's offset, or the
webhook's 200, says so. What cannot be read is kept, skipped, and never comes again.
"""

from __future__ import annotations

import hmac
import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from telegram.error import TelegramError

from channels.base import Capability, Channel, Feature, Traits
from channels.draft import DraftReference
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    MediaRefused,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
)
from channels.markdown.split import split
from channels.message import InboundMessage, Media, OutboundMessage, Receipt
from channels.pacing import Budget
from channels.telegram.api import (
    ANSWER_SECONDS,
    UNKNOWN_BOT,
    BotApi,
    MethodUnknown,
    NotAsSent,
    read_json,
)
from channels.telegram.format import LIMIT, size
from channels.telegram.inbound import ALLOWED_UPDATES, COMMANDS, TelegramSelf, parse, unreadable
from channels.telegram.outbound import TelegramSender
from channels.telegram.settings import TelegramSettings

MOST_AT_ONCE: Final = 100
MARK_ROOM: Final = 64
"""Kept free in each piece, for the words that mark one which may have arrived before."""

NO_ANSWER: Final = "Telegram cannot be reached now: no answer came. Trying again."
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
LONGEST_SILENCE: Final = 55.0
"""So long a request for updates is waited for at most: a dead connection is noticed in a minute."""

LONGEST_UPDATE: Final = 4_000_000
FORGETS_AFTER: Final = 24 * 3600.0
"""After a quiet day Telegram may count its updates anew: then no offset is asked for."""

PAUSE: Final = 0.5
"""The least time between two requests that brought nothing, for servers that do not wait."""

PRIVACY: Final = (
    "Privacy mode is on: in groups this bot sees only commands, mentions and replies to it, so the"
    " groups' memory has gaps. To let it hear everything: send /setprivacy to @BotFather, choose"
    " the bot, then Disable; then remove the bot from each group and add it again."
)
SECRET_HEADER: Final = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - its name


@dataclass(slots=True)
class _Poll:
    """How far the updates were read.

    offset       what the next request confirms; None: nothing
    heard        when an update last came, in the clock's seconds
    wait         how long to wait after the next failure
    catching_up  whether what comes had waited at Telegram
    """

    heard: float
    offset: int | None = None
    connected: bool = False
    wait: float = FIRST_WAIT
    catching_up: bool = True


class TelegramChannel(Channel):
    """One bot."""

    name: ClassVar[str] = "telegram"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"edit", "typing", "native_stream", "media", "routes"}
    )
    # A bot is not told that a message was deleted.
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
            "pings",
            "remote",
            "exclusive",
        }
    )

    def __init__(self, settings: TelegramSettings) -> None:
        super().__init__()
        self.settings = settings
        # The interval is a little more than Telegram's second: clocks and networks are not exact.
        group = Budget(1.05, settings.group_per_minute, 61.0)
        self.traits = Traits(
            edit_interval=0.7,
            first_text=0.7,
            max_draft_chars=3_800,
            typing_signs=True,
            stalled_after=None if settings.webhook_url else settings.poll_seconds + 35.0,
            join_wait=0.8,
            chat=Budget(1.05),
            group=group,
            bot=Budget(0.0, settings.per_second, 1.1),
        )
        self._api = BotApi(settings)
        self._sender = TelegramSender(self._api)
        self._me: TelegramSelf | None = None
        self._drafts = True
        self._secret = settings.webhook_secret.get_secret_value() or secrets.token_urlsafe(32)
        self._running: anyio.CancelScope | None = None
        self._stopped = False

    async def run(self) -> None:
        """Find out who the bot is, then take updates until stopped.

        A poll that fails does not end the sends that are under way: nobody could tell whether they
        arrived. So the connections outlive it, until `close`.
        """
        if self._stopped:
            return
        await self._api.open()
        with anyio.CancelScope() as self._running:
            await self._introduce()
            if self.settings.webhook_url:
                await self._listen()
            else:
                await self._poll()

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
        """Where to talk to the bot, and how to add it to a group."""
        if self._me is None or not self._me.username:
            return ""
        link = f"https://t.me/{self._me.username}"
        return f"Talk to @{self._me.username}: {link}  Add it to a group: {link}?startgroup"

    def budget_of(self, chat_id: str) -> Budget:
        """Return what Telegram takes for a chat: a group's id is negative."""
        return self.traits.group if chat_id.startswith("-") else self.traits.chat

    def streams(self, message: InboundMessage) -> bool:
        """Private chats have drafts that are no messages.

        Where an unknown outcome is held back, an answer must have a message to be edited into.
        """
        return (
            self._drafts and message.chat_kind == "private" and not self.host.holds_unknown_outcomes
        )

    def split(self, text: str) -> list[str]:
        """Cut an answer into pieces of at most 4096 UTF-16 units."""
        return split(text, LIMIT - MARK_ROOM, size)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or edit its draft into it."""
        return await self._sender.deliver(message)

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str | None:
        """Show partial text: a draft in private chats, else a message that grows."""
        chat, thread = message.chat_id, message.thread_id
        if self.streams(message) and place.platform_id is None:
            try:
                await self._sender.draft(chat, thread, place.idem, text)
            except MethodUnknown:
                self._drafts = False  # an older server of one's own: from now on send and edit
            return None
        return await self._sender.show(chat, thread, message.message_id, place.platform_id, text)

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        """Show the sign."""
        del on
        await self._sender.type(message.chat_id, message.thread_id)

    async def remove_draft(self, message: InboundMessage, place: DraftReference) -> None:
        """Take partial text away."""
        if place.platform_id:
            await self._sender.delete(message.chat_id, place.platform_id)

    async def fetch(self, media: Media, most: int) -> bytes:
        """Fetch a file by its id."""
        if media.size > most:
            raise MediaRefused(f"it is larger than the {most // 1_000_000} MB that I take")
        try:
            found = await self._api.call("getFile", file_id=media.file)
            return await self._api.download(str(found["file_path"]), most)
        except SendRefused as refused:
            raise MediaRefused(f"Telegram does not give it out ({refused})") from refused
        except (TypeError, KeyError) as cause:
            raise MediaRefused("Telegram does not say where it is") from cause

    def routes(self) -> list[Route]:
        """Return the webhook's route."""
        return [Route("/webhooks/telegram", self._webhook, methods=["POST"])]

    async def _introduce(self) -> None:
        """Ask who the bot is, tell its commands, and say what is not as it should be."""
        try:
            found = await self._api.call("getMe")
        except NotAsSent as refused:  # a token that is none is answered as a method that is none
            raise ChannelUnfit(UNKNOWN_BOT) from refused
        except SendAmbiguous as lost:
            raise ChannelDown(NO_ANSWER) from lost
        if not isinstance(found, Mapping) or "id" not in found:
            raise ChannelDown("the server's getMe does not say who the bot is")
        self._me = TelegramSelf(
            int(found["id"]),
            str(found.get("username") or ""),
            tuple(self.host.names),
            self.settings.rules(),
        )
        if found.get("can_read_all_group_messages") is False:
            self.host.warn(PRIVACY)
        commands = [{"command": name, "description": what} for name, what in COMMANDS.items()]
        try:
            await self._api.call("setMyCommands", commands=commands)
        except ChannelUnfit:
            raise
        except ChannelError:  # asked to wait, too: nobody is deaf for want of a menu
            self.host.log_exception("telegram.commands_not_set")

    async def _poll(self) -> None:
        """Ask for updates for ever; what fails is tried again, with the same offset."""
        try:
            await self._api.call("deleteWebhook", drop_pending_updates=False)
        except NotAsSent:
            """A server without webhooks has none to delete."""
        poll = _Poll(heard=self.host.clock.monotonic())
        while True:
            try:
                await self._ask(poll)
            except (ChannelDown, SendAmbiguous, SendDelayed) as cause:
                poll.connected, poll.catching_up = False, True
                self.host.down(str(cause) if isinstance(cause, ChannelDown) else NO_ANSWER)
                asked = cause.retry_after if isinstance(cause, SendDelayed) else 0.0
                pause = poll.wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
                await self.host.clock.sleep(max(asked, pause))
                poll.wait = min(poll.wait * 2, LONGEST_WAIT)

    async def _ask(self, poll: _Poll) -> None:
        """Ask for updates once, and move the offset when they are on the disk."""
        begun = self.host.clock.monotonic()
        if begun - poll.heard > FORGETS_AFTER:
            poll.offset = None
        # The first request does not wait: it shows that the token and the reader are right.
        waits = poll.connected
        updates = await self._updates(self.settings.poll_seconds if waits else 0, poll.offset)
        self.host.heartbeat()
        idle = not updates
        if updates:
            poll.heard = self.host.clock.monotonic()
            await self._take(updates, backlog=poll.catching_up)
            offset = _next_offset(updates, poll.offset)
            idle = offset == poll.offset  # nothing was confirmed: it would come again at once
            poll.offset = offset
        poll.catching_up = poll.catching_up and len(updates) >= MOST_AT_ONCE
        poll.wait = FIRST_WAIT
        if not poll.connected:
            poll.connected = True
            self.host.ready()
        if idle and (waits or updates) and self.host.clock.monotonic() - begun < PAUSE:
            await self.host.clock.sleep(PAUSE)

    async def _updates(self, seconds: int, offset: int | None) -> Sequence[Any]:
        """Return what has come since the offset, after so many seconds at most."""
        found = await self._api.call(
            "getUpdates",
            seconds=min(seconds + ANSWER_SECONDS, LONGEST_SILENCE),
            offset=offset,
            timeout=seconds,
            limit=MOST_AT_ONCE,
            allowed_updates=list(ALLOWED_UPDATES),
        )
        return found if isinstance(found, list) else ()

    async def _listen(self) -> None:
        """Tell Telegram where to bring updates, and be there."""
        url = self.settings.webhook_url
        try:
            await self._api.call(
                "setWebhook",
                url=url,
                secret_token=self._secret,
                allowed_updates=list(ALLOWED_UPDATES),
                max_connections=1,  # more of them would bring updates out of their order
                drop_pending_updates=False,
            )
        except NotAsSent as refused:
            raise ChannelUnfit(
                f"Telegram does not take the webhook {url} ({refused}): it must be an https address"
                " that the internet reaches; or leave TAPEWAY_TELEGRAM__WEBHOOK_URL empty."
            ) from refused
        self.host.ready()
        await anyio.sleep_forever()

    async def _webhook(self, request: Request) -> Response:
        """Take an update that Telegram brings; 200 says that it is on the disk."""
        given = request.headers.get(SECRET_HEADER, "")
        if not hmac.compare_digest(given.encode(), self._secret.encode()):
            return PlainTextResponse("This is not for you.\n", status_code=403)
        if self._me is None:
            return PlainTextResponse("Not yet.\n", status_code=503)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > LONGEST_UPDATE:
                return PlainTextResponse("Too large.\n", status_code=413)
        try:
            found = self._read(read_json(bytes(body)))
        except TelegramError:
            found = unreadable(bytes(body).decode("utf-8", "replace"), "it is no JSON object")
        try:
            if found is not None:
                await self.host.accept([found])
        except Exception:
            self.host.log_exception("telegram.webhook_failed")
            return PlainTextResponse("Not now.\n", status_code=503)
        return PlainTextResponse("")

    async def _take(self, updates: Sequence[Any], *, backlog: bool = False) -> None:
        """Put updates on the disk, each as far as it can be read."""
        messages = [message for update in updates if (message := self._read(update)) is not None]
        if messages:
            await self.host.accept([replace(one, backlog=backlog) for one in messages])

    def _read(self, update: Any) -> InboundMessage | None:
        assert self._me is not None
        try:
            return parse(update, self._me)
        except Exception as cause:
            self.host.log_exception("telegram.update_unreadable")
            return unreadable(update, f"{type(cause).__name__}: {cause}")


def _next_offset(updates: Sequence[Any], offset: int | None) -> int | None:
    """Return the offset that confirms updates; one without a number cannot be confirmed by it."""
    numbers = [
        update["update_id"]
        for update in updates
        if isinstance(update, Mapping) and isinstance(update.get("update_id"), int)
    ]
    return max(numbers) + 1 if numbers else offset
