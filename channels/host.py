"""The gateway as a channel sees it: host protocols, and `DraftJournal` from `channels.draft`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from channels.clock import Clock
from channels.draft import DraftJournal
from channels.facts import Facts
from channels.message import InboundMessage, Media, OutboundMessage, Reactions, ShownMessage
from channels.pacing import Gates

Spawn = Callable[[str, Callable[[], Awaitable[None]]], None]  # starts a named background task


class ChannelEvent(Protocol):
    """An event of the agent: `kind` is accepted, text, final, error, ...; `data` has its fields."""

    @property
    def kind(self) -> str: ...

    @property
    def data(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class ChatReading:
    """How far a chat's history was read: all of it, or its threads up to the one named."""

    began: datetime
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Cursors:
    """The times up to which every message is known to have been accepted.

    A chat without a cursor uses its account's cursor, so that its first message is not missed.
    Cursors are set back by `overlap`, since clocks differ; a message read twice has the same key.
    `readings` are those of an earlier process that have not come to their end.
    """

    accounts: Mapping[str, datetime] = field(default_factory=dict)
    chats: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    readings: Mapping[tuple[str, str], ChatReading] = field(default_factory=dict)
    overlap: timedelta = timedelta()

    def of(self, chat_id: str, account: str = "") -> datetime | None:
        """Return the time after which a chat may lack messages, or None if it lacks none."""
        known = self.accounts.get(account, self.chats.get(("", "")))
        return self.chats.get((account, chat_id), known)


class ChannelHost(Protocol):
    """The host of every channel.

    names                   what the agent is called in chats; its own name comes first
    holds_unknown_outcomes  whether the gateway holds back a send whose outcome is unknown
    gates                   where the bot's limits are counted; None: this process has its own
    """

    clock: Clock
    agent_name: str
    names: Sequence[str]
    holds_unknown_outcomes: bool
    gates: Gates | None = None

    @property
    def hint(self) -> str | None:
        """What the operator should do next, or None."""

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        """Store messages on disk; return the `ext_id` of each new one; raises ChannelDown."""

    def ready(self) -> None:
        """Report that the channel is connected."""

    def down(self, why: str) -> None:
        """Report that the connection is lost and that the channel is reconnecting by itself."""

    def heartbeat(self) -> None:
        """Report proof of life: a message arrived, or the platform answered a poll."""

    async def confirm_listening(self) -> None:
        """Return once it is certain that no other process of this gateway listens instead.

        Call this when the platform says that somebody else listens; the call may be cancelled.
        """

    def warn(self, text: str) -> None:
        """Show the operator a problem and how to fix it."""

    def blocked(self, why: str) -> None:
        """Show the operator that something answers in the platform's place, until it is ""."""

    def log_exception(self, event: str) -> None:
        """Log the exception that is being handled; `event` says what happened."""

    def start_soon(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run a background task; an error in it is logged and stops nothing else."""


class BackfillHost(Protocol):
    """The host of a channel with the capability `backfill`.

    A channel has a gap on startup, and whenever `accept` refused messages; it then offers them
    again, or reads the chats' history. Cursors do not move while a gap is open.
    """

    async def cursors(self) -> Cursors:
        """Return the times up to which every message was accepted."""

    async def keep_readings(self, readings: Mapping[tuple[str, str], ChatReading]) -> None:
        """Store how far histories were read and accepted, by (account, chat); raises ChannelDown.

        A process that ends before the gap is closed leaves the rest of it to the next one.
        """

    def gap_opened(self) -> None:
        """Report that messages may be missing from now on."""

    def gap_skipped(self, chat_id: str, account: str = "") -> None:
        """Report that a chat's gap (every chat's if empty) cannot be read; its cursor stays."""

    def gap_closed(self, cursors: Cursors | None = None) -> None:
        """Report that nothing is missing since these cursors (None: the platform resumed)."""

    async def threads(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        """Return the ids of a chat's threads that have messages since a given time."""

    async def answered(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        """Return the ids of a chat's messages outside threads that the agent took up since then."""


class AccountHost(Protocol):
    """The host of a channel that sends in one process and listens in another.

    facts   what all processes know of the accounts
    """

    facts: Facts

    async def sent_keys(self, chat_id: str, account: str = "") -> list[str]:
        """Return the keys of the newest messages that any process sends to a chat, or sent."""
        ...

    async def may_have_begun(self, key: str) -> bool:
        """Return whether an earlier process may have sent a message, or begun to show its draft."""
        ...

    async def last_sent(self) -> tuple[OutboundMessage, str] | None:
        """Return the newest message that any process has sent here, and its platform id."""
        ...


class HistoryHost(Protocol):
    """The host of a channel that shows a chat's past messages itself."""

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        """Return a chat's newest messages, oldest first."""

    async def news(
        self, channel: str, chat_id: str, after: int | None
    ) -> tuple[int, list[ShownMessage]]:
        """Return the messages on a chat's tape after an entry, and the id of the newest entry.

        After None, there are none.
        """

    async def keep_file(self, name: str, data: bytes) -> None:
        """Keep a file under a name that is not known elsewhere; raises ChannelDown."""

    async def drop_files(self, message: InboundMessage) -> None:
        """Drop the files of a message that was not accepted, unless an accepted one names them."""

    async def kept_file(self, name: str) -> bytes | None:
        """Return a file that was kept, or None."""

    async def image(self, channel: str, chat_id: str, message_id: str, number: int) -> Media | None:
        """Return an image of a message that a chat still shows, counted from 0, or None."""

    async def said(self, channel: str, chat_id: str, answer: str) -> str | None:
        """Return the text of an answer of a chat, by its id; None if there is none, or no more."""

    async def fetch_image(self, url: str, person: str) -> tuple[bytes, str]:
        """Return the image at a public URL, and its media type by its bytes; raises MediaRefused.

        Only fetch what stands in an answer, and what the person asked for: one at a time for each.
        """

    async def rooms(self, channel: str) -> dict[str, str]:
        """Return the ids of the chats of a channel that have a tape, sorted, as many as fit.

        Each leads to the title that its people gave it, "" without one.
        """

    async def title(self, channel: str, chat_id: str) -> tuple[str, int]:
        """Return a chat's title, "" without one, and a number that grows with each change."""

    async def give_title(
        self, channel: str, chat_id: str, title: str, person: str
    ) -> tuple[str, int]:
        """Give a chat a title, or take it with "", and return what `title` returns from then on.

        Raises InboundRefused for too many changes of one person.
        """

    async def track(self, channel: str, chat_id: str, limit: int) -> dict[str, Any]:
        """Return the lanes of a chat's newest messages, and its splices among them, as JSON."""

    async def figures(self, channel: str, chat_id: str, answer: str) -> dict[str, Any] | None:
        """Return what an answer with an id was made of, as JSON; None if it is no answer.

        Its `session`, by which the console finds the chat, is for owners only.
        """

    async def react(
        self, channel: str, chat_id: str, answer: str, person: str, value: str
    ) -> Reactions | None:
        """Record what a person thinks of an answer: `up`, `down`, or "" to take it back.

        Return what all think of it, or None if it is no answer of the chat; raises InboundRefused.
        """

    def translated(self, text: str, accepted: str) -> str:
        """Return what the gateway wrote in a language that a page accepts, as it is if unknown.

        `accepted` is as in `Accept-Language`. Never give it what people wrote.
        """

    async def commands(self, request: InboundMessage) -> dict[str, str]:
        """Return the commands that a page's person may use, as they are written, and what they do.

        The request says who asks and in which chat; it is not stored.
        """


class StopHost(Protocol):
    """The host of a channel whose people stop answers without a message."""

    async def stop_answer(self, request: InboundMessage, answer: str | None) -> bool:
        """Stop the answer with an id (a message's `idem`), or else the person's newest one.

        The request says who stops and in which chat; it is not stored. Return whether there was an
        answer to stop; raise InboundRefused if only admins may stop it.
        """


class FullHost(
    ChannelHost, BackfillHost, AccountHost, DraftJournal, HistoryHost, StopHost, Protocol
):
    """All the host protocols together; `Channel.attach` gets one."""
