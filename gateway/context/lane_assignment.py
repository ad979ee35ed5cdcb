"""Which conversation of its chat a message belongs to: told by the platform, or by the linker.

Membership is written down with the message and never changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from channels.message import InboundMessage
from gateway.context.room_memory import RoomMemories, RoomMemory, link_meta, said_of
from gateway.logs import get_log
from gateway.pipeline.turn import BurstKey
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.linking import LaneLink, Utterance
from tape.linking.utterance import THREAD, starts


@dataclass(slots=True)
class BatchIndex:
    """What is known of a batch that is being taken in.

    messages  the lanes of its messages and whether they ask, by account, chat and message
    bursts    the lanes of questions that will be debounced
    """

    messages: dict[tuple[str, str, str], tuple[str | None, bool]] = field(default_factory=dict)
    bursts: dict[BurstKey, str] = field(default_factory=dict)

    def add(self, row: InboxRow, lane: str | None, *, asks: bool) -> None:
        """Remember a message of the batch, or a part of one."""
        said = row.message
        self.messages[row.account_id, said.chat_id, said.message_id] = (lane, asks)


class Pending(Protocol):
    """The questions that are not answered yet."""

    def lane_of(self, burst: BurstKey) -> str | None:
        """Return the lane of a burst that is being debounced."""
        ...

    def is_busy(self, session_id: str, lane: str) -> bool:
        """Return whether a question of a lane is debounced, waits or is being answered."""
        ...

    def will_collect(self, message: InboundMessage) -> bool:
        """Return whether a question will be debounced with its author's next messages."""
        ...


@dataclass(frozen=True, slots=True)
class LaneAssignment:
    """Where a message belongs.

    lane     the conversation; None where the chat has one
    link     what its entry's meta tells of it
    replied  whether the message that it replies to is on the tape
    """

    lane: str | None
    replied: bool
    link: dict[str, Any] | None = None
    handle: str = ""
    _heard: tuple[RoomMemory, Utterance, LaneLink] | None = None

    def hear(self) -> None:
        """Let the room remember the message: it is going on the tape."""
        if self._heard is not None:
            room, said, link = self._heard
            room.hear(said, link, handle=self.handle)

    def stands_at(self, entry_id: int) -> None:
        """Tell the room which entry of the tape the message is."""
        if self._heard is not None:
            room, said, _link = self._heard
            if said.key in room.room.by_key:
                room.entries[said.key] = entry_id


class LaneAssigner:
    """Names the lanes of messages."""

    def __init__(self, services: Services, rooms: RoomMemories, pending: Pending) -> None:
        self._services = services
        self._rooms = rooms
        self._pending = pending

    async def place(
        self, row: InboxRow, session_id: str, tape: str, known: BatchIndex
    ) -> LaneAssignment:
        """Find the conversation of a message.

        A message without thread or reply that is collected with others takes their lane.
        """
        said = row.message
        replied, replied_lane = await self._replied(row, known)
        mode = self._services.settings.context.mode
        if mode == "anchor" or (mode == "auto" and said.chat_kind == "private"):
            return LaneAssignment(None, replied)
        room = await self._rooms.of(tape)
        people = room.people(said)
        heard = said_of(said, row.id, people)
        link = await self._given(row, session_id, known, replied_lane)
        if link is None:
            link = _linked(room, heard, replied_lane)
            if said.addressed and self._is_anothers(room, heard, link, row, session_id, known):
                link = starts(heard, "asked while another's question is answered")
        told = link_meta(link, people, said.chat_id)
        return LaneAssignment(link.lane, replied, told, said.sender.handle, (room, heard, link))

    def collect(
        self, known: BatchIndex, session_id: str, said: InboundMessage, lane: str | None
    ) -> None:
        """Let what an author says next in a batch go with a question that will be collected."""
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
        """Tell whether a question would wait for the answer to somebody else's.

        That it belongs to their conversation is a guess then, and not worth the wait: the words of
        that conversation are shown to it all the same.
        """
        lane = room.room.lanes.get(link.lane)
        if lane is None or said.author in lane.authors:
            return False
        chat = (row.account_id, row.message.chat_id)
        asked_now = any(
            key[:2] == chat and asked == (link.lane, True) for key, asked in known.messages.items()
        )
        return asked_now or self._pending.is_busy(session_id, link.lane)

    async def _replied(self, row: InboxRow, known: BatchIndex) -> tuple[bool, str | None]:
        said = row.message
        if not said.reply_to:
            return False, None
        key = (row.account_id, said.chat_id, said.reply_to)
        if key in known.messages:
            return True, known.messages[key][0]
        return await self._services.ledger.inbox.lane_of(*key)

    async def _given(
        self, row: InboxRow, session_id: str, known: BatchIndex, replied_lane: str | None
    ) -> LaneLink | None:
        """Return the link that needs no linker; None: it does."""
        said = row.message
        if said.thread_id:
            lane = await self._lane_of_thread(row, said.thread_id, known)
            return LaneLink(lane, _key(said, said.reply_to), "thread")
        if said.reply_to:
            lane = replied_lane or f"reply:{said.reply_to}"
            return LaneLink(lane, _key(said, said.reply_to), "reply")
        burst = (session_id, said.thread_id, said.sender.id)
        pending = known.bursts.get(burst) or self._pending.lane_of(burst)
        return LaneLink(pending, None, "said at once with others") if pending else None

    async def _lane_of_thread(self, row: InboxRow, thread_id: str, known: BatchIndex) -> str:
        """Name a thread; one that an answer opened goes on with the conversation answered."""
        own = f"{THREAD}{thread_id}"
        channel = self._services.router.channel(row.message.channel)
        if channel is None or not channel.traits.answers_open_threads:
            return own
        key = (row.account_id, row.message.chat_id, thread_id)
        if key in known.messages:
            lane, asked = known.messages[key]
            return lane if lane and asked else own
        return await self._services.ledger.inbox.lane_of_question(*key) or own


def _linked(room: RoomMemory, said: Utterance, replied_lane: str | None) -> LaneLink:
    """Ask the linker; a fault in it costs a message no more than a conversation of its own."""
    try:
        return room.link(said, replied_lane)
    except Exception as cause:
        get_log().error("linker.failed", message=said.key, exc_info=cause)
        return starts(said, "the linker failed")


def _key(said: InboundMessage, message_id: str | None) -> str | None:
    return f"{said.chat_id}/{message_id}" if message_id else None
