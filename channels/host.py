"""The gateway as a channel sees it: three protocols, and `DraftJournal` of `channels.draft`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from channels.clock import Clock
from channels.draft import DraftJournal
from channels.message import InboundMessage, ShownMessage

Spawn = Callable[[str, Callable[[], Awaitable[None]]], None]
"""Starts named work in the background."""


class ChannelEvent(Protocol):
    """An agent's event; `kind` is accepted, text, reset, final, error, ..., `data` its fields."""

    @property
    def kind(self) -> str: ...

    @property
    def data(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Cursors:
    """The moments up to which every message is known to have been accepted.

    A chat without a cursor has its account's, so that its first message is not missed either.
    Cursors lie some minutes back, since clocks differ; messages read twice are recognized by key.
    """

    accounts: Mapping[str, datetime] = field(default_factory=dict)
    chats: Mapping[tuple[str, str], datetime] = field(default_factory=dict)

    def of(self, chat_id: str, account: str = "") -> datetime | None:
        """Return the moment after which a chat may lack messages; None: it lacks none."""
        known = self.accounts.get(account, self.chats.get(("", "")))
        return self.chats.get((account, chat_id), known)


class ChannelHost(Protocol):
    """The host of every channel.

    names                   what the agent is called in chats; its own name comes first
    hint                    what the operator should do next; None: nothing
    holds_unknown_outcomes  whether the gateway holds back a send whose outcome is unknown
    """

    clock: Clock
    agent_name: str
    names: Sequence[str]
    hint: str | None
    holds_unknown_outcomes: bool

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        """Store messages on disk and return the `ext_id` of the new ones; raises ChannelDown."""

    def ready(self) -> None:
        """Report that the channel is connected."""

    def down(self, why: str) -> None:
        """Report that the connection is lost, and that the channel reconnects by itself."""

    def heartbeat(self) -> None:
        """Report proof that messages would arrive: one did, or the platform answered a poll."""

    def warn(self, text: str) -> None:
        """Show the operator a problem and its remedy."""

    def log_exception(self, event: str) -> None:
        """Log the exception being handled, under the name of what happened."""

    def start_soon(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Start work in the background; an error in it is logged and stops nothing else."""


class BackfillHost(Protocol):
    """The host of a channel with the capability `backfill`.

    A started channel has an open gap, and so does one whose messages `accept` refused: it offers
    them again, or reads the history. Cursors do not move while a gap is open.
    """

    async def cursors(self) -> Cursors:
        """Return the moments up to which every message was accepted."""

    def gap_opened(self) -> None:
        """Report that messages may be missing from now on."""

    def gap_skipped(self, chat_id: str, account: str = "") -> None:
        """Report that a chat's gap (empty: every chat's) cannot be read; its cursor stays."""

    def gap_closed(self, cursors: Cursors | None = None) -> None:
        """Report that nothing is missing since these cursors; None: the platform resumed."""

    async def threads(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        """Return the threads of a chat with messages after a moment."""


class HistoryHost(Protocol):
    """The host of a channel that shows a chat's past itself."""

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        """Return the newest messages of a chat, oldest first."""


class FullHost(ChannelHost, BackfillHost, DraftJournal, HistoryHost, Protocol):
    """Everything that the gateway offers; `Channel.start` gets one."""
