"""Choose each message's lane, from the platform's facts or with the linker.

A lane is recorded with its message and never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from channels.message import InboundMessage
from gateway.context.rooms.memories import RoomMemories
from gateway.context.rooms.memory import RoomMemory
from gateway.context.rooms.reading import answer_key, link_meta
from gateway.logs import get_log
from gateway.pipeline.turn import BurstKey
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow, KnownMessage
from tape.lanes import topic_lane
from tape.linking import LaneLink, Utterance
from tape.linking.recognition import Recognition
from tape.linking.utterance import REPLY, THREAD, starts


@dataclass(slots=True)
class BatchIndex:
    """The messages in a batch during intake.

    messages  maps (account, chat, message) to the lane, and whether the message is a question
    newest    maps (session, lane) to what was said there last
    bursts    maps the burst key of a question that is being debounced to its lane
    changed   the rows of messages that were edited or deleted before they came
    """

    messages: dict[tuple[str, str, str], tuple[str | None, bool]] = field(default_factory=dict)
    newest: dict[tuple[str, str | None], tuple[str, str, str]] = field(default_factory=dict)
    bursts: dict[BurstKey, str] = field(default_factory=dict)  # the lanes of debounced questions
    changed: frozenset[int] = frozenset()

    def add(self, row: InboxRow, lane: str | None, *, asks: bool) -> None:
        """Add a message from the batch, or a part of a message."""
        said = row.message
        self.messages[row.account_id, said.chat_id, said.message_id] = (lane, asks)

    def hear(self, session_id: str, parts: Sequence[InboxRow], lane: str | None) -> None:
        """Note that a message was said last in its lane; one of several parts is known by none."""
        said = parts[0].message
        number = said.message_id if len(parts) == 1 else ""
        self.newest[session_id, lane] = (parts[0].account_id, said.chat_id, number)


class Pending(Protocol):
    """The questions that have not been answered yet."""

    def lane_of(self, burst: BurstKey) -> str | None:
        """Return the lane of a burst that is being debounced."""

    def is_busy(self, session_id: str, lane: str | None) -> bool:
        """Return whether a question in this lane is being debounced, waiting or being answered."""

    def will_collect(self, message: InboundMessage) -> bool:
        """Return whether a question will be debounced with its author's next messages."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """A message as a room memory gets it."""

    rooms: RoomMemories
    tape: str
    room: RoomMemory
    said: Utterance
    link: LaneLink
    judged: Recognition | None


@dataclass(frozen=True, slots=True)
class LaneAssignment:
    """A message's lane, and how it was chosen.

    lane     the conversation, or None if the whole chat is one conversation
    link     the linker's decision, for the entry's meta
    replied  the message that this one replies to, if the ledger has it
    """

    lane: str | None
    replied: KnownMessage | None = None
    link: dict[str, Any] | None = None
    handle: str = ""
    _heard: _Heard | None = None

    def hear(self) -> None:
        """Add the message, which is about to be appended, to the room memory."""
        if (new := self._heard) is not None:
            new.room.hear(new.said, new.link, handle=self.handle, recognition=new.judged)

    def stands_at(self, entry_id: int) -> None:
        """Record the message's entry id in the room memory."""
        if (new := self._heard) is not None:
            new.rooms.stands_at(new.tape, new.room, new.said.key, entry_id)


@dataclass(frozen=True, slots=True)
class LaneAssigner:
    """Assigns lanes to messages."""

    _services: Services
    _rooms: RoomMemories
    _pending: Pending

    async def place(
        self,
        row: InboxRow,
        session_id: str,
        tape: str,
        known: BatchIndex,
        given: LaneLink | None = None,
    ) -> LaneAssignment:
        """Choose a message's lane, unless it is `given`.

        Without a thread or reply, a message joins the lane of the messages it is debounced with.
        """
        said = row.message
        replied = await self._replied(row, known)
        replied_lane = replied.lane if replied is not None else None
        mode = self._services.settings.context.mode
        if mode == "auto" and said.chat_kind == "private" and said.thread_id is not None:
            topic = LaneLink(topic_lane(said.thread_id), _key(said, said.reply_to), "thread")
            return LaneAssignment(topic.lane, replied, link_meta(topic, None, said.chat_id))
        if mode == "anchor" or (mode == "auto" and said.chat_kind == "private"):
            return LaneAssignment(None, replied)
        room = await self._rooms.of(tape)
        heard = room.utterance(said, row.id, _answered(said, replied, room))
        guess = room.room.answer_to_others(heard) is not None
        link = given or await self._given(row, session_id, known, replied_lane, guess=guess)
        judged = _to_record(room, heard, is_reply=link is not None and link.why == REPLY)
        if link is None:
            link = _linked(room, heard, replied_lane)
            if room.unread and link.parent is None and room.linker.may_wake(room.room, heard):
                await self._rooms.recall(tape, room)
                link = _linked(room, heard, replied_lane)
            may_wait = link.why == REPLY or not said.addressed
            if not may_wait and self._is_anothers(room, heard, link, row, session_id, known):
                link = starts(heard, "asked while another's question is answered")
        meta, handle = link_meta(link, heard, said.chat_id, judged), said.sender.handle
        new = _Heard(self._rooms, tape, room, heard, link, judged)
        return LaneAssignment(link.lane, replied, meta, handle, new)

    def is_busy(self, session_id: str, lane: str | None) -> bool:
        """Return whether a question in this lane is being debounced, waiting or being answered."""
        return self._pending.is_busy(session_id, lane)

    def collect(
        self, known: BatchIndex, session_id: str, said: InboundMessage, lane: str | None
    ) -> None:
        """Give the author's later messages in this batch the debounced question's lane."""
        if said.addressed and lane is not None and self._pending.will_collect(said):
            known.bursts[session_id, said.thread_id, said.sender.id] = lane

    def _is_anothers(
        self,
        room: RoomMemory,
        said: Utterance,
        link: LaneLink,
        row: InboxRow,
        session_id: str,
        known: BatchIndex,
    ) -> bool:
        """Return whether the question, in this lane, would have to wait for another author's.

        The linker only guesses, and a guess is not worth a wait; in a lane of its own, the question
        still sees the other conversation.
        """
        lane = room.room.lanes.get(link.lane)
        if lane is None or said.author in lane.authors:
            return False
        chat = (row.account_id, row.message.chat_id)
        asked_now = any(
            key[:2] == chat and asked == (link.lane, True) for key, asked in known.messages.items()
        )
        return asked_now or self._pending.is_busy(session_id, link.lane)

    async def _replied(self, row: InboxRow, known: BatchIndex) -> KnownMessage | None:
        said = row.message
        if not said.reply_to:
            return None
        key = (row.account_id, said.chat_id, said.reply_to)
        if key in known.messages:
            return KnownMessage("", known.messages[key][0])
        return await self._services.ledger.inbox.find(*key)

    async def _given(
        self,
        row: InboxRow,
        session_id: str,
        known: BatchIndex,
        replied_lane: str | None,
        *,
        guess: bool,
    ) -> LaneLink | None:
        """Return the link that the platform implies, or None if the linker must decide.

        `guess` says that a reply does not imply one: it is to an answer to somebody else.
        """
        said = row.message
        # A private thread, although a chat of its own, is one conversation, as every thread.
        thread = said.thread_id or (said.chat_id if said.parent_id else None)
        if thread:
            lane = await self._lane_of_thread(row, thread, known)
            return LaneLink(lane, _key(said, said.reply_to), "thread")
        if said.reply_to and not guess:
            lane = replied_lane or f"reply:{said.reply_to}"
            return LaneLink(lane, _key(said, said.reply_to), REPLY)
        burst = (session_id, said.thread_id, said.sender.id)
        pending = known.bursts.get(burst) or self._pending.lane_of(burst)
        return LaneLink(pending, None, "said at once with others") if pending else None

    async def _lane_of_thread(self, row: InboxRow, thread_id: str, known: BatchIndex) -> str:
        """Return a thread's lane; a thread opened on an answer continues the answer's lane."""
        own = f"{THREAD}{thread_id}"
        channel = self._services.router.channels.get(row.message.channel)
        if channel is None or not channel.traits.answers_open_threads:
            return own
        key = (row.account_id, row.message.chat_id, thread_id)
        if key in known.messages:
            lane, asked = known.messages[key]
            return lane if lane and asked else own
        return await self._services.ledger.inbox.lane_of_question(*key) or own


def _answered(said: InboundMessage, replied: KnownMessage | None, room: RoomMemory) -> str:
    """Return the key of the agent's message that is replied to, or "" if it is none."""
    if replied is None or f"{said.chat_id}/{said.reply_to}" in room.room.by_key:
        return ""
    return answer_key(replied.turn_id) if replied.turn_id and not replied.entry_id else ""


def _linked(room: RoomMemory, said: Utterance, replied_lane: str | None) -> LaneLink:
    """Link a message; if the linker fails, start a new lane."""
    try:
        return room.link(said, replied_lane)
    except Exception as cause:
        get_log().error("linker.failed", message=said.key, exc_info=cause)
        return starts(said, "the linker failed")


def _to_record(room: RoomMemory, said: Utterance, *, is_reply: bool) -> Recognition | None:
    """Judge the linker by a reply; if it fails, nothing is known of that reply."""
    try:
        return room.to_record(said, is_reply=is_reply)
    except Exception as cause:
        get_log().error("linker.not_judged", message=said.key, exc_info=cause)
        return None


def _key(said: InboundMessage, message_id: str | None) -> str | None:
    return f"{said.chat_id}/{message_id}" if message_id else None
