"""The contract of a channel.

A channel must `start`, `stop` and `send`. What it can do beyond that it declares in
`capabilities`; the core does without what is not declared:

    edit             a draft becomes the answer by an edit; else only the answer is sent
    typing           typing is shown from the moment a message is accepted; else nothing is
    native_stream    partial text costs nothing and needs no edits (`streams` tells where)
    media            what came with a message can be fetched; else it is only named
    idempotent_send  a second send under the same `idem` gives the first receipt, for as long as
                     `Traits.idempotent_for` says; else an ambiguous send is looked up, or follows
                     the setting
    lookup           what was sent can be found again by its `idem`
    backfill         what was said while the channel was away can be asked for; else it is what
                     the platform delivers by itself
    routes           brings HTTP routes of its own
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Final, Literal

from channels.draft import DraftEditor, DraftReference, Pace
from channels.errors import ChannelDown, PlaceGone, SendDelayed
from channels.host import ChannelEvent, ChannelHost, Cursors
from channels.message import InboundMessage, Media, OutboundMessage, Receipt
from channels.pacing import ANY, Budget, Pacing, Priority
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
"""What a platform has, beside what its channel can do: the conformance suite asks for no more.

groups, private  chats of several people; chats of one person with the agent
threads          topics or threads within a chat
names            the agent may be called by a name, without a mention
rules            a setting tells what the agent answers
bursts           people put one thought into several messages
bots             other bots write too
strangers        whoever finds the agent may write to it
edits, deletions the platform tells of them
pings            a message can alert people whom it does not answer
remote           it is reached over a network, refuses what it does not like, and asks to wait
exclusive        who asks for what is said is told of a second one with the same token
"""


@dataclass(frozen=True, slots=True)
class Traits:
    """What a platform is like.

    edit_interval  the least time between two showings of partial text, seconds
    first_text     how long an answer is waited for before partial text is shown, seconds
    longest_draft  so many characters of an answer are shown while it is written; 0: all
    typing_signs   whether typing is a sign that goes out again and again, not a state
    deaf_after     a connection that proved nothing for so long is called deaf, seconds; None: never
    join_wait      how long to wait for the rest of what the platform tears apart, seconds
    debounce       how long to wait for a person's next message, seconds; None takes the setting
    answers_open_threads  whether the answer to a message of a group opens a thread at it
    idempotent_for how long after the first a second send gives its receipt, seconds; None: always
    chat, group    the budget of a chat, and of a chat of several people
    bot            the budget of all chats together
    """

    edit_interval: float = 1.0
    first_text: float = 0.0
    longest_draft: int = 0
    typing_signs: bool = False
    deaf_after: float | None = None
    join_wait: float = 0.0
    debounce: float | None = None
    idempotent_for: float | None = None
    answers_open_threads: bool = False
    chat: Budget = ANY
    group: Budget = ANY
    bot: Budget = ANY


_NEEDS: Final[Mapping[Capability, str]] = MappingProxyType(
    {
        "edit": "show",
        "native_stream": "show",
        "typing": "show_typing",
        "media": "fetch",
        "lookup": "find",
        "backfill": "missed",
    }
)


class Channel(ABC):
    """The base of every channel: turns events into typing and a draft."""

    name: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    features: ClassVar[frozenset[Feature]] = frozenset()
    traits: Traits = Traits()

    def __init_subclass__(cls) -> None:
        """Refuse a channel that declares what it does not do, before anybody waits for it."""
        super().__init_subclass__()
        for capability, method in _NEEDS.items():
            if capability in cls.capabilities and getattr(cls, method) is getattr(Channel, method):
                raise TypeError(f"{cls.__name__} declares {capability} and has no method {method}")

    def __init__(self) -> None:
        self._host: ChannelHost | None = None
        self._pacing: Pacing | None = None
        self._signs: TypingIndicator | None = None
        self._editors: dict[str, DraftEditor] = {}

    @property
    def host(self) -> ChannelHost:
        """The gateway; ChannelDown before the channel was started."""
        if self._host is None:
            raise ChannelDown(f"the channel {self.name} was not started")
        return self._host

    @property
    def pacing(self) -> Pacing:
        """The budget of this channel's chats."""
        if self._pacing is None:
            raise ChannelDown(f"the channel {self.name} was not started")
        return self._pacing

    async def start(self, host: ChannelHost) -> None:
        """Run until `stop`; raises when the connection is lost for good, and is started again.

        ChannelUnfit means that a restart is no use.
        """
        self._host = host
        if self._pacing is None:  # what was written before a reconnect still counts
            self._pacing = Pacing(self.budget_of, host.clock, self.traits.bot)
        if self.traits.typing_signs and self._signs is None:  # those that show must be ended
            self._signs = TypingIndicator(self._sign, self._pacing, host.clock, host.start_soon)
        await self.run()

    @abstractmethod
    async def run(self) -> None:
        """Connect, say `host.ready()`, and work until `stop`."""

    @abstractmethod
    async def stop(self) -> None:
        """End `run`; may be called before it has begun, and twice."""

    async def close(self) -> None:
        """Let go of connections: nothing is sent any more. Called once, after `stop`."""
        return

    async def send(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message (a draft in its place becomes it); raises ChannelError."""
        prepared = await self.prepare(message)
        try:
            return await self.transmit(prepared)
        except PlaceGone:
            return await self.transmit(await self.prepare(replace(prepared, edits=None)))

    async def prepare(self, message: OutboundMessage) -> OutboundMessage:
        """Close the draft of a message and wait for the right to write to its chat.

        Returns the message with the place of its draft. Nothing has been sent yet: whoever writes
        down that a send begins does it between this and `transmit`.
        """
        place = await self._settle(message.answers) if message.answers is not None else None
        first = message.part == 0 and message.piece == 0
        if place is not None and first and message.edits is None:
            message = replace(message, edits=place.platform_id)
        await self.pacing.slot(message.chat_id, Priority.FINAL)
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
        """How people find this channel, for whoever starts the gateway; empty: there is no need."""
        return ""

    def budget_of(self, chat_id: str) -> Budget:
        """Return what the platform takes for a chat."""
        del chat_id
        return self.traits.chat

    def streams(self, message: InboundMessage) -> bool:
        """Tell whether partial text for a message costs nothing."""
        del message
        return "native_stream" in self.capabilities

    def split(self, text: str) -> list[str]:
        """Cut an answer into the pieces that the platform takes: the same for the same text."""
        return [text]

    async def fetch(self, media: Media, most: int) -> bytes:
        """Fetch what came with a message, at most so many bytes; needs `media`.

        Raises MediaRefused, with a sentence for the model and the person, or another ChannelError.
        """
        raise NotImplementedError

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        """Look for a message that may have been sent, by its `idem`; needs `lookup`.

        Where only its draft is found, that is made the message. An empty list: it is not there,
        and may be sent. Raises ChannelError where that cannot be found out now.
        """
        raise NotImplementedError

    def missed(self, marks: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        """Yield what was said in every chat after its mark, each chat's oldest first.

        Needs `backfill`. What cannot be read of one chat holds up no other, and is told
        (`host.gap_skipped`); raises ChannelError where chats cannot even be listed now.
        """
        raise NotImplementedError

    async def catch_up(self) -> None:
        """Take what was said while the channel was away; to be called on each new connection.

        Between a lost connection (`host.gap_opened`) and the end of this the marks stay where they
        are: after a crash in between, the gap is asked for again. What comes in meanwhile by itself
        belongs behind the gap: where the platform allows it, the channel holds it back.
        """
        marks = await self.host.cursors()
        async for messages in self.missed(marks):
            await self.host.accept([replace(message, backlog=True) for message in messages])
        self.host.gap_closed(marks)

    @abstractmethod
    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Hand a message to the platform; `edits` names the draft that it replaces."""

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str | None:
        """Post or edit partial text and return the platform's id of it; needs `edit`.

        None where the platform shows it in a way that is no message.
        """
        raise NotImplementedError

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        """Show, or stop showing, that an answer is on its way; needs `typing`.

        Where typing is a sign (`Traits.typing_signs`), this sends one; it is never switched off.
        """
        raise NotImplementedError

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        """Take an event of the turn that answers a message; never waits for the network."""
        if event.kind == "final":
            self._type(message, on=False)
        elif event.kind == "error":
            self._type(message, on=False)
            if event.data.get("silent"):  # else the notice goes into the draft's place
                self.host.start_soon("draft", lambda: self.drop_draft(message))
        elif event.kind == "text":
            self._editor(message, event.data["delta"])
        elif event.kind == "reset":
            if message.ext_id in self._editors:
                self._editors[message.ext_id].reset()
        elif event.kind in ("accepted", "tool_call"):
            self._type(message, on=True)

    async def drop_draft(self, message: InboundMessage) -> None:
        """Show no more of a draft whose turn ended without an answer of the model's."""
        place = await self._settle(message.ext_id)
        if place is not None and place.platform_id is not None:
            await self.remove_draft(message, place)

    async def remove_draft(self, message: InboundMessage, place: DraftReference) -> None:
        """Take a draft off the platform; where that cannot be, a notice takes its place."""
        del message, place

    async def _sign(self, message: InboundMessage) -> None:
        await self.show_typing(message, True)

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
            traits = self.traits
            pace = Pace(
                first_after=traits.first_text,
                interval=traits.edit_interval,
                charged=lambda: not self.streams(message),
                longest=traits.longest_draft,
            )
            clock = self.host.clock
            editor = DraftEditor(message, self.show, self.host, self.pacing, clock, pace)
            self._editors[message.ext_id] = editor
            self.host.start_soon("draft", editor.run)
        editor.push(delta)

    async def _settle(self, ext_id: str) -> DraftReference | None:
        """Close the draft of a message; returns where it stands."""
        editor = self._editors.pop(ext_id, None)
        return await editor.close() if editor is not None else None
