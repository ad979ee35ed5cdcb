"""The base class of channels, and how a channel describes its platform.

A channel implements `run`, `stop` and `deliver`, and declares what else it can do as capabilities.
Sending needs only `attach`; of several processes of one gateway, only one listens (`run`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from channels.capabilities import ALL_FEATURES, Capability, Feature
from channels.draft import DraftEditor, DraftReference, Pace
from channels.errors import ChannelDown, DraftGone, SendDelayed, SendRefused, TooLarge
from channels.host import ChannelEvent, Cursors, FullHost
from channels.message import InboundMessage, Media, MessageLink, OutboundMessage, Receipt
from channels.pacing import Budget, OwnGates, Pacing, Priority
from channels.parts import in_parts
from channels.tally import Tally
from channels.traits import Traits
from channels.typing_indicator import TypingIndicator

_NEEDS: Final[Mapping[Capability, str]] = {
    "edit": "show",
    "native_stream": "show",
    "typing": "show_typing",
    "media": "fetch",
    "lookup": "find",
    "backfill": "missed",
    "buttons": "answer_press",
    "admins": "administers",
}


class Channel(ABC):
    """The base of every channel; it shows typing and drafts from the events of a turn."""

    name: ClassVar[str]
    joins: ClassVar[str] = "group"  # the platform's word for what an agent is added to
    server_word: ClassVar[str] = "server"  # and for what `InboundMessage.server_id` names
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    features: ClassVar[frozenset[Feature]] = ALL_FEATURES
    runs_everywhere: ClassVar[bool] = False  # whether several processes may run it at once
    traits: Traits = Traits()

    def __init_subclass__(cls) -> None:
        """Raise TypeError if a subclass declares a capability but lacks the method for it."""
        super().__init_subclass__()
        for capability, method in _NEEDS.items():
            if capability in cls.capabilities and getattr(cls, method) is getattr(Channel, method):
                raise TypeError(f"{cls.__name__} declares {capability} and has no method {method}")

    def __init__(self) -> None:
        self._host: FullHost | None = None
        self._pacing: Pacing | None = None
        self.typing_indicator: TypingIndicator | None = None
        self._editors: dict[str, DraftEditor] = {}
        self.tally = Tally()

    @property
    def host(self) -> FullHost:
        """The gateway that this channel runs on; raises ChannelDown before `attach`."""
        if self._host is None:
            raise ChannelDown(f"the channel {self.name} was not started")
        return self._host

    @property
    def pacing(self) -> Pacing:
        """The rate limits of this channel's chats; raises ChannelDown before `attach`."""
        if self._pacing is None:
            raise ChannelDown(f"the channel {self.name} was not started")
        return self._pacing

    async def attach(self, host: FullHost) -> None:
        """Make the channel able to send, also again before each `run`; raises ChannelError."""
        self._host = host
        # Both survive a restart: earlier writes still count, and earlier typing signs must end.
        if self._pacing is None:
            gates = host.gates or OwnGates(host.clock)
            bot = gates.gate(self.name, self.traits.bot)
            self._pacing = Pacing(self.budget_of, host.clock, bot)
        if self.traits.typing_signs and self.typing_indicator is None:
            self.typing_indicator = TypingIndicator(
                lambda message: self.show_typing(message, True),
                self._pacing,
                host.clock,
                host.start_soon,
            )
        await self.introduce()

    async def introduce(self) -> None:
        """Find out by ordinary requests who the agent is on the platform; part of `attach`."""
        return

    def take_over(self, former: Channel) -> None:
        """Go on with the drafts of the channel that this one replaces; call after `attach`."""
        self._editors, former._editors = former._editors, {}
        for editor in self._editors.values():
            editor.move(self.show, self.pacing)
        if former.typing_indicator is not None:
            former.typing_indicator.end_all()

    @abstractmethod
    async def run(self) -> None:
        """Connect to the platform, call `host.ready()`, and handle events until `stop`.

        May be cancelled, and run again after `attach`, as after any error but ChannelUnfit.
        """

    @abstractmethod
    async def stop(self) -> None:
        """End `attach` and `run`; may be called before them, and more than once."""

    async def close(self) -> None:
        """Close all connections; called once, after `stop` and after the last send."""
        return

    async def send(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or edit its draft into the final text; raises ChannelError."""
        prepared = await self.prepare(message)
        try:
            return await self.transmit(prepared)
        except DraftGone:
            return await self.transmit(await self.prepare(replace(prepared, edits=None)))

    async def prepare(self, message: OutboundMessage) -> OutboundMessage:
        """Wait for a send permit, and return the message with its draft's id; send nothing yet.

        The caller records the send before it calls `transmit`.
        """
        draft = await self._close_draft(message.answers)
        if draft is not None and message.part == message.piece == 0 and message.edits is None:
            message = replace(message, edits=draft.platform_id)
        await self.pacing.permit(message.chat_id, Priority.FINAL)
        return message

    async def transmit(self, message: OutboundMessage) -> list[Receipt]:
        """Send a prepared message to the platform; raises ChannelError."""
        if self.pacing.is_late(message.chat_id):  # it took long to record the send
            await self.pacing.renew(message.chat_id, Priority.FINAL)
        try:
            return await self.deliver(message)
        except TooLarge as refused:
            parts = in_parts(message)
            if not parts:
                raise SendRefused(str(refused), explanation=refused.explanation) from refused
        except SendDelayed as delayed:
            self.pacing.close(message.chat_id, delayed.retry_after)
            raise
        finally:
            self.pacing.wrote(message.chat_id)
        return [receipt for part in parts for receipt in await self._transmit_part(part)]

    async def _transmit_part(self, part: OutboundMessage) -> list[Receipt]:
        await self.pacing.permit(part.chat_id, Priority.FINAL)
        return await self.transmit(part)

    def way_blocked(self, why: str) -> None:
        """Show the operator that something answers in the platform's place, until it is ""."""
        if self._host is not None:
            self._host.blocked(why)

    @property
    def invitation(self) -> str:
        """Return a sentence for the operator that says how people reach this channel, or ""."""
        return ""

    @property
    def hears_groups(self) -> bool:
        """Return whether groups' messages that are not for the agent reach it as a member, too."""
        return True

    @property
    def bot_id(self) -> str:
        """Return the platform's id of the bot of the channel's own account, or "" if unknown."""
        return ""

    def pairing_hint(self, code: str) -> str:
        """Return a sentence that says how an owner sends a pairing code here, or ""."""
        del code
        return ""

    def command_hint(self, name: str, place: InboundMessage | None = None) -> str:
        """Return how people write a command where a message was written, or else in a group."""
        del place
        return f",{name}"

    async def private_chat(self, person_id: str, account: str = "") -> str:
        """Return the id of the private chat with a person; raises ChannelError if there is none."""
        raise SendRefused(f"{self.name} has no private chat with {person_id} of {account}")

    async def is_open_thread(self, thread_id: str, account: str = "") -> bool:
        """Return whether everybody of its chat may read a thread that an old tape has.

        Raises ChannelError if the platform cannot answer now. In new messages, only such threads
        are threads of a chat; others are chats of their own (`InboundMessage.parent_id`).
        """
        del thread_id, account
        return True

    async def administers(self, message: InboundMessage) -> bool:
        """Ask the platform whether a message's author administers its chat; needs `admins`.

        Raises ChannelError if the platform cannot answer now.
        """
        raise NotImplementedError

    def administered_as(self, message: InboundMessage) -> str:
        """Return the id of what has the administrators of a message's chat; needs `admins`.

        That is the chat itself, or the server that administers its chats together: then, one
        answer of `administers` is good for all of them.
        """
        return message.chat_id

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        """Show a short text to the person who pressed a button, and nobody else; needs `buttons`.

        This is best effort: after a restart, or some minutes later, the text may not be shown.
        """
        raise NotImplementedError

    def budget_of(self, chat_id: str) -> Budget:
        """Return the rate limit of a chat."""
        del chat_id
        return self.traits.chat

    def streams(self, message: InboundMessage) -> bool:
        """Return whether partial text of the answer to this message costs no edits."""
        del message
        return "native_stream" in self.capabilities

    def split(self, text: str) -> list[str]:
        """Split an answer into pieces that the platform accepts; equal texts give equal pieces."""
        return [text]

    def link_to(self, place: MessageLink) -> str:
        """Return a link to a message, or "" if the platform has none for people to follow."""
        del place
        return ""

    async def fetch(self, media: Media, most: int) -> bytes:
        """Return a file of at most `most` bytes or raise MediaRefused; needs `media`."""
        raise NotImplementedError

    async def complete(self, message: InboundMessage) -> InboundMessage:
        """Return an accepted message with what its delivery lacked, `incomplete` unset.

        What cannot be had is named in it; raises ChannelDown if that is worth another try.
        """
        return replace(message, incomplete=False)

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        """Find a message that may have been sent, and return its receipts; needs `lookup`.

        A draft that is found is edited into the message. If the message was not sent, the list is
        empty. Raises ChannelError if the platform cannot answer now.
        """
        raise NotImplementedError

    def missed(self, cursors: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        """Yield every chat's messages since the chat's cursor, oldest first within each chat.

        Needs `backfill`. A chat that cannot be read is skipped (`host.gap_skipped`). Raises
        ChannelError if not even the list of chats can be read now.
        """
        raise NotImplementedError

    async def catch_up(self) -> None:
        """Accept the missed messages and close the gap; call this on each new connection.

        Cursors do not move between `host.gap_opened` and the return of this call, so the gap stays
        open if the process crashes. If the platform allows it, hold new messages back until then.
        """
        self.host.gap_closed(await self.read_missed())

    async def read_missed(self) -> Cursors:
        """Accept the messages missed since the last connection; return the cursors used."""
        cursors = await self.host.cursors()
        async for messages in self.missed(cursors):
            await self.host.accept([replace(message, backlog=True) for message in messages])
        return cursors

    def taped(self, message: InboundMessage) -> None:
        """Hear that a message is on its tape, in the process that wrote it there."""
        del message

    @abstractmethod
    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message to the platform; `edits` is the id of the draft to replace, if any."""

    async def show(
        self, message: InboundMessage, reference: DraftReference, text: str
    ) -> str | None:
        """Post or edit partial text; return its message id or None; needs `edit`."""
        raise NotImplementedError

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        """Show or hide typing; needs `typing`. With `Traits.typing_signs`, send one typing sign."""
        raise NotImplementedError

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        """Handle an event of the turn that answers a message, without waiting for the network."""
        if event.kind == "final":
            self._type(message, on=False)
        elif event.kind == "error":
            self._type(message, on=False)
            if event.data.get("silent"):  # otherwise a notice will replace the draft
                self.host.start_soon("draft", lambda: self.drop_draft(message))
        elif event.kind == "abandoned":
            self._type(message, on=False)
            self.host.start_soon("draft", lambda: self._leave_draft(message))
        elif event.kind == "text":
            if (editor := self.draft_editor(message)) is not None:
                editor.push(event.data["delta"])
        elif event.kind == "reset":
            if message.ext_id in self._editors:
                self._editors[message.ext_id].reset()
        elif event.kind in ("accepted", "tool_call"):
            self._type(message, on=True)

    async def drop_draft(self, message: InboundMessage) -> None:
        """Close and delete the draft of a turn that ended without an answer."""
        draft = await self._close_draft(message.ext_id)
        if draft is not None and draft.platform_id is not None:
            await self.remove_draft(message, draft)

    async def _leave_draft(self, message: InboundMessage) -> None:
        await self._close_draft(message.ext_id)

    async def remove_draft(self, message: InboundMessage, reference: DraftReference) -> None:
        """Delete a draft from the platform, if the platform allows it."""
        del message, reference

    def _type(self, message: InboundMessage, *, on: bool) -> None:
        if "typing" not in self.capabilities:
            return
        if self.typing_indicator is None:
            self.host.start_soon("typing", lambda: self.show_typing(message, on))
        elif on:
            self.typing_indicator.begin(message)
        else:
            self.typing_indicator.end(message)

    def draft_editor(self, message: InboundMessage) -> DraftEditor | None:
        """Return what shows the partial text of an answer, or None if the channel shows none."""
        if not self.capabilities & {"edit", "native_stream"}:
            return None
        editor = self._editors.get(message.ext_id)
        if editor is None:
            traits, host = self.traits, self.host
            pace = Pace(
                *(traits.first_text, traits.edit_interval, traits.edit_rest),
                charged=lambda: not self.streams(message),
                longest=traits.max_draft_chars,
            )
            about = (host.clock, pace, self.tally)
            editor = DraftEditor(message, self.show, host, self.pacing, *about)
            self._editors[message.ext_id] = editor
            host.start_soon("draft", editor.run)
        return editor

    async def _close_draft(self, ext_id: str | None) -> DraftReference | None:
        editor = self._editors.pop(ext_id, None) if ext_id is not None else None
        return await editor.close() if editor is not None else None
