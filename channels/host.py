"""What a channel needs of the gateway: a few calls, and the events of a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from channels.draft import DraftJournal
from channels.message import InboundMessage, ShownMessage
from channels.pacing import Clock


class ChannelEvent(Protocol):
    """What a channel needs of an agent's event."""

    @property
    def kind(self) -> str:
        """What happened: accepted, text, reset, final, error, ..."""
        ...

    @property
    def data(self) -> Mapping[str, Any]:
        """What belongs to it."""
        ...


@dataclass(frozen=True, slots=True)
class Cursors:
    """Up to which moment everything that was said is known to have been accepted.

    Of a chat that was never heard of it is what is known of its account: who speaks there for the
    first time is answered, too. The marks already lie a while before what was accepted last, so
    that nothing is missed by clocks; what is read twice is known by its key.
    """

    accounts: Mapping[str, datetime] = field(default_factory=dict)
    chats: Mapping[tuple[str, str], datetime] = field(default_factory=dict)

    def of(self, chat_id: str, account: str = "") -> datetime | None:
        """Return the moment after which a chat's messages may be missing; None: nothing is."""
        known = self.accounts.get(account, self.chats.get(("", "")))
        return self.chats.get((account, chat_id), known)


class ChannelHost(DraftJournal, Protocol):
    """What the gateway gives a channel.

    names  what the agent is called in the chats, its name first
    hint   what the person who set this up should do next, where there is something
    holds  whether a send of which nobody knows whether it arrived is kept back
    """

    clock: Clock
    agent_name: str
    names: Sequence[str]
    hint: str | None
    holds_unknown_outcomes: bool

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        """Take messages and return the `ext_id` of those that were new.

        When this returns they are on the disk, and the platform may be told.
        """
        ...

    async def cursors(self) -> Cursors:
        """Return up to where everything is known to have been accepted; needs `backfill`."""
        ...

    def gap_opened(self) -> None:
        """Say that from now on something may be missing: the connection was lost.

        A channel that is started is behind, and so is one whose messages were refused (`accept`
        raised): it has to give them again, or to catch up.
        """
        ...

    def gap_skipped(self, chat_id: str, account: str = "") -> None:
        """Say that the gap of a chat cannot be read: its mark stays until the next catching up.

        Without a chat: of none of the account's chats.
        """
        ...

    def gap_closed(self, marks: Cursors | None = None) -> None:
        """Say that nothing is missing since these marks were given out.

        Without marks: the platform goes on where the connection was lost, so that nothing is
        missing that was not before.
        """
        ...

    async def threads(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        """Return the threads of a chat in which something was said after a moment."""
        ...

    def ready(self) -> None:
        """Say that the channel is connected."""
        ...

    def down(self, why: str) -> None:
        """Say that the connection is lost, and that the channel tries again by itself."""
        ...

    def heartbeat(self) -> None:
        """Say that something came in, or would have: the platform answered the question for it."""
        ...

    def warn(self, text: str) -> None:
        """Tell whoever runs the gateway what is not as it should be, and the remedy."""
        ...

    def log_exception(self, event: str) -> None:
        """Log an exception that is being handled, under the name of what happened."""
        ...

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        """Return what was said in a chat, oldest first."""
        ...

    def start_soon(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run work beside the channel; an error in it is logged and takes nothing down."""
        ...
