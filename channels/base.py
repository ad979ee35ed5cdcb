"""The contract of a channel.

A channel implements `run`, `stop` and `deliver`, and declares what else it can do as capabilities:

    edit             a draft is edited into the answer; otherwise only the answer is sent
    typing           typing shows once a message is accepted; otherwise it never does
    native_stream    partial text costs nothing and needs no edits (see `streams`)
    media            files of a message can be fetched; otherwise they are only named
    idempotent_send  a second send with the same `idem` returns the first receipt, for
                     `Traits.idempotent_for` seconds; otherwise an unknown outcome is checked or
                     handled as the settings say
    lookup           a sent message can be found by its `idem`
    backfill         the messages of an outage can be read; otherwise the platform redelivers them
    routes           the channel serves HTTP routes of its own
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, get_args

from channels.draft import DraftEditor, DraftReference, Pace
from channels.errors import ChannelDown, DraftGone, SendDelayed
from channels.host import ChannelEvent, Cursors, FullHost
from channels.message import InboundMessage, Media, OutboundMessage, Receipt
from channels.pacing import UNLIMITED, Budget, Pacing, Priority
from channels.typing_indicator import TypingIndicator

Capability = Literal[
    "edit", "typing", "native_stream", "media", "idempotent_send", "lookup", "backfill", "routes"
]
Feature = Literal[
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
    "exclusive",
]
"""Features of a platform; the conformance suite tests a channel for them.

groups, private  chats of several people; chats of one person with the agent
threads          topics or threads within a chat
names            people may call the agent by name, without a mention
rules            a setting chooses which messages the agent answers
bursts           people spread one thought over several messages
bots             other bots write too
strangers        anybody who finds the agent may write to it
edits, deletions the platform reports them
pings            a message can alert people whom it does not answer
remote           a network lies in between; the platform refuses requests or asks to wait
exclusive        a second reader with the same token is reported
"""

ALL_FEATURES: Final[frozenset[Feature]] = frozenset(get_args(Feature))


@dataclass(frozen=True, slots=True)
class Traits:
    """The figures of a platform; durations are in seconds.

    edit_interval    minimum between two updates of partial text
    first_text       how long to wait for the answer before showing partial text
    max_draft_chars  maximum characters shown before the answer is complete; 0: all
    typing_signs     whether typing must be sent again and again, rather than switched on and off
    stalled_after    a connection without a heartbeat for this long is stalled; None: never
    join_wait        how long to wait for the other parts of a split message
    debounce         how long to wait for an author's next message; None: the setting
    answers_open_threads  whether an answer in a group opens a thread at its question
    idempotent_for   how long a second send returns the first receipt; None: always
    chat, group      rate limit of a chat, and of a chat of several people
    bot              rate limit of all chats together
    """

    edit_interval: float = 1.0
    first_text: float = 0.0
    max_draft_chars: int = 0
    typing_signs: bool = False
    stalled_after: float | None = None
    join_wait: float = 0.0
    debounce: float | None = None
    idempotent_for: float | None = None
    answers_open_threads: bool = False
    chat: Budget = UNLIMITED
    group: Budget = UNLIMITED
    bot: Budget = UNLIMITED


_NEEDS: Final[Mapping[Capability, str]] = {
    "edit": "show",
    "native_stream": "show",
    "typing": "show_typing",
    "media": "fetch",
    "lookup": "find",
    "backfill": "missed",
}


class Channel(ABC):
    """The base of every channel; it shows typing and drafts from the events of a turn."""

    name: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    features: ClassVar[frozenset[Feature]] = ALL_FEATURES
    traits: Traits = Traits()

    def __init_subclass__(cls) -> None:
        """Raise TypeError if a declared capability has no method."""
        super().__init_subclass__()
        for capability, method in _NEEDS.items():
            if capability in cls.capabilities and getattr(cls, method) is getattr(Channel, method):
                raise TypeError(f"{cls.__name__} declares {capability} and has no method {method}")

    def __init__(self) -> None:
        self._host: FullHost | None = None
        self._pacing: Pacing | None = None
        self._signs: TypingIndicator | None = None
        self._editors: dict[str, DraftEditor] = {}

    @property
    def host(self) -> FullHost:
        """The gateway; raises ChannelDown before `start`."""
        if self._host is None:
            raise ChannelDown(f"the channel {self.name} was not started")
        return self._host

    @property
    def pacing(self) -> Pacing:
        """The rate limits of this channel's chats; raises ChannelDown before `start`."""
        if self._pacing is None:
            raise ChannelDown(f"the channel {self.name} was not started")
        return self._pacing

    async def start(self, host: FullHost) -> None:
        """Run until `stop`; a channel that raises is restarted, except after ChannelUnfit."""
        self._host = host
        # Both outlive a restart: earlier writes still count, and earlier signs must end.
        if self._pacing is None:
            self._pacing = Pacing(self.budget_of, host.clock, self.traits.bot)
        if self.traits.typing_signs and self._signs is None:
            self._signs = TypingIndicator(
                lambda message: self.show_typing(message, True),
                self._pacing,
                host.clock,
                host.start_soon,
            )
        await self.run()

    @abstractmethod
    async def run(self) -> None:
        """Connect, call `host.ready()`, and work until `stop`."""

    @abstractmethod
    async def stop(self) -> None:
        """End `run`; may be called before it begins, and twice."""

    async def close(self) -> None:
        """Close connections; called once, after `stop` and the last send."""
        return

    async def send(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or edit its draft into it; raises ChannelError."""
        prepared = await self.prepare(message)
        try:
            return await self.transmit(prepared)
        except DraftGone:
            return await self.transmit(await self.prepare(replace(prepared, edits=None)))

    async def prepare(self, message: OutboundMessage) -> OutboundMessage:
        """Wait for a send permit, and return the message with its draft's id; send nothing yet.

        The caller records the send between this and `transmit`.
        """
        draft = await self._close_draft(message.answers)
        if draft is not None and message.part == message.piece == 0 and message.edits is None:
            message = replace(message, edits=draft.platform_id)
        await self.pacing.permit(message.chat_id, Priority.FINAL)
        return message

    async def transmit(self, message: OutboundMessage) -> list[Receipt]:
        """Hand a prepared message to the platform; raises ChannelError."""
        try:
            return await self.deliver(message)
        except SendDelayed as delayed:
            self.pacing.close(message.chat_id, delayed.retry_after)
            raise
        finally:
            self.pacing.wrote(message.chat_id)

    @property
    def invitation(self) -> str:
        """A sentence for the operator on how people find this channel; may be empty."""
        return ""

    def budget_of(self, chat_id: str) -> Budget:
        """Return the rate limit of a chat."""
        del chat_id
        return self.traits.chat

    def streams(self, message: InboundMessage) -> bool:
        """Return whether partial text of the answer to a message costs nothing."""
        del message
        return "native_stream" in self.capabilities

    def split(self, text: str) -> list[str]:
        """Split an answer into pieces that the platform accepts; always the same for a text."""
        return [text]

    async def fetch(self, media: Media, most: int) -> bytes:
        """Return a file of at most `most` bytes, or raise MediaRefused; needs `media`."""
        raise NotImplementedError

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        """Return the receipts of a message that may have been sent, by its `idem`; needs `lookup`.

        A draft is edited into its message. An empty list means that the message was not sent;
        raises ChannelError if the platform cannot answer now.
        """
        raise NotImplementedError

    def missed(self, cursors: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        """Yield the messages of every chat after its cursor, each chat's oldest first.

        Needs `backfill`. A chat that cannot be read is skipped (`host.gap_skipped`); raises
        ChannelError if even the chats cannot be listed now.
        """
        raise NotImplementedError

    async def catch_up(self) -> None:
        """Accept what was missed, and close the gap; call it on each new connection.

        Cursors do not move from `host.gap_opened` until this returns, so that a crash in between
        leaves the gap open. Hold new messages back until then if the platform allows it.
        """
        self.host.gap_closed(await self.read_missed())

    async def read_missed(self) -> Cursors:
        """Accept the messages since the last connection, and return the cursors used."""
        cursors = await self.host.cursors()
        async for messages in self.missed(cursors):
            await self.host.accept([replace(message, backlog=True) for message in messages])
        return cursors

    @abstractmethod
    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Hand a message to the platform; `edits` is the id of the draft to replace."""

    async def show(
        self, message: InboundMessage, reference: DraftReference, text: str
    ) -> str | None:
        """Post or edit partial text, and return its message id if it has one; needs `edit`."""
        raise NotImplementedError

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        """Show or hide typing; needs `typing`. With `Traits.typing_signs`, send one sign."""
        raise NotImplementedError

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        """Handle an event of the turn that answers a message; never waits for the network."""
        if event.kind == "final":
            self._type(message, on=False)
        elif event.kind == "error":
            self._type(message, on=False)
            if event.data.get("silent"):  # otherwise a notice replaces the draft
                self.host.start_soon("draft", lambda: self.drop_draft(message))
        elif event.kind == "text":
            self._editor(message, event.data["delta"])
        elif event.kind == "reset":
            if message.ext_id in self._editors:
                self._editors[message.ext_id].reset()
        elif event.kind in ("accepted", "tool_call"):
            self._type(message, on=True)

    async def drop_draft(self, message: InboundMessage) -> None:
        """Close and remove the draft of a turn that ended without an answer."""
        draft = await self._close_draft(message.ext_id)
        if draft is not None and draft.platform_id is not None:
            await self.remove_draft(message, draft)

    async def remove_draft(self, message: InboundMessage, reference: DraftReference) -> None:
        """Delete a draft from the platform, if that is possible."""
        del message, reference

    def _type(self, message: InboundMessage, *, on: bool) -> None:
        if "typing" not in self.capabilities:
            return
        if self._signs is None:
            self.host.start_soon("typing", lambda: self.show_typing(message, on))
        elif on:
            self._signs.begin(message)
        else:
            self._signs.end(message)

    def _editor(self, message: InboundMessage, delta: str) -> None:
        if not self.capabilities & {"edit", "native_stream"}:
            return
        editor = self._editors.get(message.ext_id)
        if editor is None:
            traits, host = self.traits, self.host
            pace = Pace(
                first_after=traits.first_text,
                interval=traits.edit_interval,
                charged=lambda: not self.streams(message),
                longest=traits.max_draft_chars,
            )
            editor = DraftEditor(message, self.show, host, self.pacing, host.clock, pace)
            self._editors[message.ext_id] = editor
            host.start_soon("draft", editor.run)
        editor.push(delta)

    async def _close_draft(self, ext_id: str | None) -> DraftReference | None:
        editor = self._editors.pop(ext_id, None) if ext_id is not None else None
        return await editor.close() if editor is not None else None
