"""The host: the interface through which a channel uses the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from weakref import WeakValueDictionary

from agent.models.offline import OFFLINE
from agent.tool import Role
from channels.base import Channel
from channels.clock import Clock
from channels.draft import DraftReference
from channels.errors import ChannelDown, InboundRefused
from channels.facts import Facts
from channels.host import ChatReading, Cursors, FullHost
from channels.message import Author, InboundMessage, Media, OutboundMessage, Reactions, ShownMessage
from gateway.background import Work
from gateway.context.history import answer_text, read_history, read_news, read_track, shown_image
from gateway.context.images import files_of
from gateway.context.reactions import react
from gateway.context.titles import give_title, title_of
from gateway.delivery.sender import OutboxSender
from gateway.intake.dates import readable
from gateway.intake.intake import Intake
from gateway.language.language import language_of, speaking, translated
from gateway.logs import get_log
from gateway.pipeline.turn import RunningTurns
from gateway.scheduling.commands import commands_for
from gateway.scheduling.stopper import Stopper
from gateway.services import Services
from gateway.storage.kept_files import kept_of
from gateway.storage.ledger.rows import account_id
from gateway.supervision.figures import figures_of
from gateway.supervision.linked_images import LinkedImages
from gateway.supervision.status import StatusBoard
from tape.entry import load, utc_iso
from tape.errors import SessionLost, StoreUnavailable, TapeError
from tape.handle import Tape

OVERLAP: Final = timedelta(minutes=10)
"""How far a cursor is moved back before a gap is read: the platforms' clocks differ from ours."""

MAX_GAP: Final = timedelta(days=7)  # maximum age of messages that are backfilled
OFFLINE_HINT: Final = (
    "No model is configured, so the offline model answers. Run `tapeway init`, or set"
    " TAPEWAY_AGENT__MODEL (and TAPEWAY_AGENT__BASE_URL, TAPEWAY_AGENT__API_KEY); then restart."
)
MISDATED: Final = (
    "its messages have a `{field}` that is no ISO 8601 date, such as {date}, so they go on without"
    " it; have the plugin's author mend that"
)


@contextmanager
def _down_while_away() -> Iterator[None]:
    """Raise ChannelDown while the database is unavailable, so that the platform redelivers."""
    try:
        yield
    except StoreUnavailable as away:
        raise ChannelDown(f"the database is unavailable: {away}") from away


class BackfillGap:
    """What a channel may have missed while disconnected; no cursor moves while the gap is open.

    If a gap opens while another is being read, only the cursors given out later close the new gap.
    """

    def __init__(self) -> None:
        self.skipped: set[tuple[str, str]] = set()
        self._is_open = True
        self._to_be_read = True
        self._given_out: tuple[Cursors, datetime] | None = None

    def open(self) -> None:
        """Open a gap: the connection was lost, or a message could not be accepted."""
        self._is_open, self._given_out = True, None

    def given_out(self, cursors: Cursors, at: datetime) -> None:
        """Record that the channel begins to read the gap from these cursors."""
        self._to_be_read = True
        self._given_out = (cursors, at)
        self.skipped.clear()

    def close(self, cursors: Cursors | None) -> datetime | None:
        """Close the gap; return the time up to which every chat is complete, or None if unknown."""
        if cursors is None:
            self._is_open = self._is_open and self._to_be_read
            return None
        if self._given_out is None or self._given_out[0] is not cursors:
            return None
        _cursors, at = self._given_out
        self._is_open, self._to_be_read, self._given_out = False, False, None
        return None if self.skipped else at

    def kept_back(self) -> frozenset[tuple[str, str]] | None:
        """Return the chats whose cursors must not move, or None if no cursor may move."""
        return None if self._is_open else frozenset(self.skipped)


@dataclass(eq=False)
class GatewayHost(FullHost):
    """The host of a channel from one start of the channel to the next."""

    _services: Services
    _status: StatusBoard
    _intake: Intake
    _sender: OutboxSender
    _turns: RunningTurns
    _stopper: Stopper
    _channel: Channel

    def __post_init__(self) -> None:
        services, agent = self._services, self._services.settings.agent
        self.gap = BackfillGap()
        self._misdated: set[str] = set()
        self.clock: Clock = services.clock
        self.facts: Facts = services.accounts.of(self._channel.name)
        self.gates = services.shared.budgets if services.shared is not None else None
        self.agent_name: str = agent.name
        self.names: Sequence[str] = agent.names_in_chats()
        self.holds_unknown_outcomes: bool = services.settings.delivery.ambiguous == "hold"
        most_pixels = services.settings.media.max_pixels
        self._linked_images = LinkedImages(services.clock, most_pixels)
        # Held while a session's changes by a person are counted, and one more is written.
        self._counting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def hint(self) -> str | None:
        return OFFLINE_HINT if self._services.settings.agent.model == OFFLINE else None

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        kept_back = self.gap.kept_back() if "backfill" in self._channel.capabilities else None
        dated = [self._dated(message) for message in messages]
        try:
            with _down_while_away():
                return await self._intake.accept(dated, kept_back)
        except ChannelDown:
            self.gap.open()
            raise

    def _dated(self, message: InboundMessage) -> InboundMessage:
        fit, broken = readable(message, self._services.clock.now())
        for field, date in broken.items():
            if field not in self._misdated:
                self._misdated.add(field)
                self.warn(MISDATED.format(field=field, date=repr(date)[:80]))
        return fit

    async def cursors(self) -> Cursors:
        now = self._services.clock.now()
        with _down_while_away():
            cursors = await self._services.ledger.cursors.read(self._channel.name, OVERLAP, MAX_GAP)
        self.gap.given_out(cursors, now)
        return cursors

    async def keep_readings(self, readings: Mapping[tuple[str, str], ChatReading]) -> None:
        with _down_while_away():
            await self._services.ledger.cursors.keep_readings(self._channel.name, readings)

    def gap_opened(self) -> None:
        self.gap.open()

    def gap_skipped(self, chat_id: str, account: str = "") -> None:
        self.gap.skipped.add((account, chat_id))

    def gap_closed(self, cursors: Cursors | None = None) -> None:
        complete_until = self.gap.close(cursors)
        if complete_until is not None:  # newer messages have arrived through the connection
            name, table = self._channel.name, self._services.ledger.cursors
            self._services.spawn("marks", lambda: table.advance_all(name, complete_until))

    async def threads(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        account = account_id(self._channel.name, account)
        with _down_while_away():
            return await self._services.ledger.inbox.threads(account, chat_id, since)

    async def answered(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        account = account_id(self._channel.name, account)
        with _down_while_away():
            return await self._services.ledger.inbox.answered(account, chat_id, since)

    def ready(self) -> None:
        self._status.connected(self._channel.name)

    def down(self, why: str) -> None:
        self._status.down(self._channel.name, why)

    def heartbeat(self) -> None:
        self._status.heartbeat(self._channel.name)

    async def confirm_listening(self) -> None:
        if self._services.shared is not None:
            await self._services.shared.pollers.confirm(self._channel.name)

    def warn(self, text: str) -> None:
        self._status.warn(self._channel.name, text)

    def blocked(self, why: str) -> None:
        self._status.blocked(self._channel.name, why)

    def log_exception(self, event: str) -> None:
        get_log().error(event, channel=self._channel.name, exc_info=True)

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        tape = await self._tape_of(channel, chat_id)
        shown = {one.id: one for one in await read_history(tape, self.agent_name, limit)}
        # A card that waits for its answer keeps its buttons when the page is opened again.
        values = {"account_id": channel, "chat_id": chat_id, "now": utc_iso(self.clock.now())}
        for row in await self._services.store.select("ledger.open_card_sends", values):
            card = OutboundMessage.from_payload(load(row["payload"]))
            known = shown.get(card.idem) or ShownMessage(
                card.idem, "notice", "agent", self.agent_name, card.text, card.date, card.reply_to
            )
            shown[card.idem] = replace(known, buttons=card.buttons)
        return list(shown.values())

    async def news(
        self, channel: str, chat_id: str, after: int | None
    ) -> tuple[int, list[ShownMessage]]:
        return await read_news(await self._tape_of(channel, chat_id), self.agent_name, after)

    async def keep_file(self, name: str, data: bytes) -> None:
        try:
            await self._services.files.put(name, data)
        except (OSError, TapeError) as cause:
            raise ChannelDown(f"a file cannot be kept: {cause}") from cause

    async def drop_files(self, message: InboundMessage) -> None:
        try:
            # A post that comes twice may be refused once, and accepted once.
            if names := set(kept_of(message)):
                await self._services.files.drop(names - await self._names_of(message))
        except (OSError, TapeError) as cause:
            get_log().warning("media.not_dropped", why=str(cause))

    async def _names_of(self, message: InboundMessage) -> set[str]:
        """Return the names of the files of what was accepted with a message's key."""
        values = {"account_id": message.channel, "ext_id": message.ext_id}
        names: set[str] = set()
        for row in await self._services.store.select("ledger.told_key", values):
            if row["entry_id"] is None:
                names.update(kept_of(InboundMessage.from_payload(load(row["payload"]))))
                continue
            tape = self._services.tapes.session_tape(row["session_id"])
            entries = await tape.entries([row["entry_id"]])
            names.update(name for one in entries.values() for name in files_of(one))
        return names

    async def kept_file(self, name: str) -> bytes | None:
        return await self._services.files.get(name)

    async def image(self, channel: str, chat_id: str, message_id: str, number: int) -> Media | None:
        values = {"account_id": channel, "chat_id": chat_id, "message_id": message_id, "limit": 1}
        rows = await self._services.store.select("ledger.told_chat_message", values)
        if not rows:
            return None
        if rows[0]["entry_id"] is None:  # it was accepted just now, and the room shows it already
            message = InboundMessage.from_payload(load(rows[0]["payload"]))
            images = [media for media in message.media if media.kind == "image" and media.file]
            return images[number] if number < len(images) else None
        tape = await self._tape_of(channel, chat_id)
        return await shown_image(tape, int(rows[0]["entry_id"]), number)

    async def said(self, channel: str, chat_id: str, answer: str) -> str | None:
        return await answer_text(await self._tape_of(channel, chat_id), answer)

    async def fetch_image(self, url: str, person: str) -> tuple[bytes, str]:
        return await self._linked_images.get(url, person)

    async def rooms(self, channel: str) -> dict[str, str]:
        prefix = f"{channel}:"
        values = {"prefix": prefix, "limit": self._services.bounds.listed_rooms}
        rows = await self._services.store.select("ledger.rooms", values)
        return {str(row["session_id"]).removeprefix(prefix): row["title"] or "" for row in rows}

    async def title(self, channel: str, chat_id: str) -> tuple[str, int]:
        return await title_of(self._services, await self._session_at(channel, chat_id))

    async def give_title(
        self, channel: str, chat_id: str, title: str, person: str
    ) -> tuple[str, int]:
        session_id = await self._session_at(channel, chat_id)
        async with self._counting.setdefault(session_id, asyncio.Lock()):
            return await give_title(self._services, session_id, title, channel, person)

    async def track(self, channel: str, chat_id: str, limit: int) -> dict[str, Any]:
        return await read_track(await self._tape_of(channel, chat_id), limit)

    async def figures(self, channel: str, chat_id: str, answer: str) -> dict[str, Any] | None:
        turn = answer.rpartition(":")[0]
        if not turn:
            return None
        session_id = await self._session_at(channel, chat_id)
        tape = self._services.tapes.session_tape(session_id)
        found = await figures_of(self._services, tape, turn)
        return None if found is None else {**found, "session": session_id}

    async def react(
        self, channel: str, chat_id: str, answer: str, person: str, value: str
    ) -> Reactions | None:
        session_id = await self._session_at(channel, chat_id)
        tape = self._services.tapes.session_tape(session_id)
        async with self._counting.setdefault(session_id, asyncio.Lock()):
            return await react(self._services, tape, answer, person, value)

    def translated(self, text: str, accepted: str) -> str:
        with speaking(language_of(accepted)):
            return translated(text)

    async def commands(self, request: InboundMessage) -> dict[str, str]:
        role = Role.OWNER if request.owner else Role.MEMBER
        return await commands_for(self._services, role, request)

    async def stop_answer(self, request: InboundMessage, answer: str | None) -> bool:
        session_id, shared = await self._session_of(request), self._services.shared
        if shared is None or shared.held.holds(session_id):
            return await self._stopper.stop_answer(request, session_id, answer)
        data = {"request": request.to_payload(), "answer": answer}
        by = f"{request.channel}:{request.sender.id}"
        number = await shared.controls.ask(session_id, "stop", by, data)
        said = await shared.controls.answer(number) or {"stopped": False}
        if said.get("why"):
            raise InboundRefused(said["why"])
        return bool(said.get("stopped"))

    async def _tape_of(self, channel: str, chat_id: str) -> Tape:
        session_id = await self._session_at(channel, chat_id)
        return self._services.tapes.session_tape(session_id)

    async def _session_at(self, channel: str, chat_id: str) -> str:
        # Plugins expect a whole message; this one stands for the chat and has no author.
        message = InboundMessage(
            channel=channel,
            chat_id=chat_id,
            ext_id="",
            message_id="",
            sender=Author("", ""),
            text="",
            date=utc_iso(self.clock.now()),
        )
        return await self._session_of(message)

    async def _session_of(self, message: InboundMessage) -> str:
        pipeline = self._services.pipeline
        try:
            return await pipeline.resolve_session(message)
        except Exception as cause:  # the web page must open even if a plugin fails
            get_log().error("hook.resolve_session_failed", exc_info=cause)
            return pipeline.default_session(message)

    def start_soon(self, name: str, work: Work) -> None:
        self._services.spawn(name, work)

    async def sent_keys(self, chat_id: str, account: str = "") -> list[str]:
        values = {"account_id": account_id(self._channel.name, account), "chat_id": chat_id}
        with _down_while_away():
            rows = await self._services.store.select("ledger.sent_keys", values)
        return [str(row["idem"]) for row in rows]

    async def may_have_begun(self, key: str) -> bool:
        with _down_while_away():
            rows = await self._services.store.select("ledger.begun", {"idem": key})
        # The send that asks is the first attempt itself.
        return not rows or rows[0]["op"] == "place" or rows[0]["attempts"] > 1

    async def last_sent(self) -> tuple[OutboundMessage, str] | None:
        values = {"channel": self._channel.name}
        with _down_while_away():
            rows = await self._services.store.select("ledger.last_sent", values)
        return next(
            (
                (OutboundMessage.from_payload(load(row["payload"])), str(row["platform_id"]))
                for row in rows
            ),
            None,
        )

    async def wait_sent(self, message: InboundMessage) -> None:
        await self._sender.idle((message.channel, message.account, message.chat_id))

    async def open_draft(self, message: InboundMessage) -> DraftReference | None:
        turn = self._turns.by_message(message)
        if turn is None:
            return None
        try:
            return await self._services.ledger.outbox.open_draft(
                message, turn.question.session_id, turn.id, turn.question.lane, turn.said.first_at
            )
        except (StoreUnavailable, SessionLost):
            return None  # the answer comes without partial text, or from another process

    async def locate_draft(self, place: DraftReference) -> None:
        with _down_while_away():
            await self._services.ledger.outbox.locate_draft(place)
