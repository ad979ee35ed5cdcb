"""The chats that a person administers on their platform, for the console.

Roles ask about one chat when somebody does something there. The console asks about all chats of a
person at once: a few at a time, those first of which the answer was yes before, and only so many
in a minute, since on some platforms each chat costs a request. What is not known counts as no for
what is shown; whether that is all that somebody may see is said by RightsUnknown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.access.roles import ASK_SECONDS, Roles, Standing
from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.storage.ledger.rows import account_id

AT_ONCE: Final = 4
UNKNOWN: Final = "The platform does not say just now which chats you administer."
AHEAD_SECONDS: Final = 30.0
"""Seconds before an answer ends from which on an open page asks once more."""


class RightsUnknown(GatewayError):
    """A platform has not said whether somebody administers a chat: nothing is shown until it does.

    retry_after  seconds after which it may be known
    """

    retry_after: Final = 5

    def __init__(self, sentence: str = UNKNOWN) -> None:
        super().__init__(sentence)


@dataclass(slots=True)
class _Allowance:
    """How many questions about an account are left, at most `most`, and when that was counted."""

    most: int
    left: float
    counted_at: float

    def take(self, wanted: int, now: float) -> int:
        """Take as many as are left, at most `wanted`; return their number."""
        self.left = min(self.most, self.left + now - self.counted_at)
        self.counted_at = now
        taken = min(wanted, int(self.left))
        self.left -= taken
        return taken


@dataclass(slots=True)
class Administrators:
    """Knows which chats people administer, as far as their platform has said so of late."""

    _access: Access
    _roles: Roles
    _clock: Clock
    _most_asked: int
    _allowances: dict[str, _Allowance] = field(default_factory=dict)
    _turns: dict[tuple[str, str], anyio.Lock] = field(default_factory=dict)

    def may_count(self, message: InboundMessage) -> bool:
        """Return whether the author of a message could enter the console as an administrator.

        Anybody administers the groups that they make. So the chat must have been opened, which
        needs an owner or admin, and nobody may have taken the person's role away.
        """
        channel, account, person = message.channel, message.account, message.sender.id
        return (
            message.chat_kind == "group"
            and self._access.chat_rule(message) == "member"
            and self._access.rule_of(channel, account, person) != "none"
        )

    def administers(self, message: InboundMessage) -> bool:
        """Return whether it is known that a message's author administers its chat."""
        return self.may_count(message) and self._roles.known(message) is True

    def is_unknown(self, message: InboundMessage) -> bool:
        """Return whether a message's author may administer its chat, but nobody has said so.

        That is so before the platform was asked, if it did not answer, and while it may not be
        asked any more.
        """
        return self.may_count(message) and self._roles.is_unknown(message)

    async def ask(
        self, messages: Sequence[InboundMessage], *, one: bool = False, ahead: float = 0.0
    ) -> None:
        """Ask the platform of one person about the chats of some messages of theirs.

        Chats of which enough is known are left out (see `Roles.known` for `ahead`). `one` stops as
        soon as they administer one of them.
        """
        if not self._unknown(messages, ahead):
            return
        async with self._turn_of(messages[0]):
            began = self._clock.monotonic()
            wanted = self._unknown(messages, ahead)
            while wanted and not (one and any(map(self.administers, messages))):
                allowed = self._allow(wanted[:AT_ONCE])
                async with anyio.create_task_group() as group:
                    for message in allowed:
                        group.start_soon(self._ask, message)
                wanted = wanted[len(allowed) :]
                if not allowed or self._clock.monotonic() - began >= ASK_SECONDS:
                    return

    def _unknown(self, messages: Sequence[InboundMessage], ahead: float) -> list[InboundMessage]:
        """Return one message for each question to the platform, the likeliest first."""
        found: dict[Standing | None, InboundMessage] = {}
        for message in messages:
            if self.may_count(message) and self._roles.known(message, ahead) is None:
                found.setdefault(self._roles.standing(message), message)
        return sorted(found.values(), key=self._roles.said, reverse=True)

    def _allow(self, messages: Sequence[InboundMessage]) -> Sequence[InboundMessage]:
        place, now = account_id(messages[0].channel, messages[0].account), self._clock.monotonic()
        allowance = self._allowances.setdefault(
            place, _Allowance(self._most_asked, self._most_asked, now)
        )
        return messages[: allowance.take(len(messages), now)]

    async def _ask(self, message: InboundMessage) -> None:
        await self._roles.administers(message, fresh=True)

    @asynccontextmanager
    async def _turn_of(self, message: InboundMessage) -> AsyncIterator[None]:
        """Wait until no other request of the same person asks: it may ask the same."""
        person = account_id(message.channel, message.account), message.sender.id
        turn = self._turns.setdefault(person, anyio.Lock())
        try:
            async with turn:
                yield
        finally:
            if not turn.locked() and not turn.statistics().tasks_waiting:
                self._turns.pop(person, None)
