"""The role of the person who asks, for which the platform is asked when it matters.

A platform's own administrators of a chat are admins there. What a platform answered is kept for
some minutes; a platform that does not answer makes nobody an admin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from agent.tool import Role
from channels.errors import ChannelError, SendRefused
from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.ledger.access import AccessRule

KNOWN_SECONDS: Final = 300.0  # how long an answer of a platform is used
FAILED_SECONDS: Final = 20.0  # how long a platform that did not answer is left alone
ASK_SECONDS: Final = 2.0  # maximum seconds to wait for a platform's answer
MAX_KNOWN: Final = 5_000

Standing = tuple[str, str, str, str]
"""A person (the last one) in what the platform administers as one; see `Roles.standing`."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """Whether somebody administers something.

    until     the monotonic time up to which this is used
    said      what the platform answered last, which may be longer ago
    answered  whether the platform answered; if not, somebody administers nothing for now
    rests     the monotonic time before which the platform is not asked ahead of the end
    """

    administers: bool
    until: float
    said: bool
    answered: bool = True
    rests: float = 0.0


@dataclass(slots=True)
class Roles:
    """Knows the roles of the people who ask."""

    _services: Services
    _access: Access
    _known: dict[Standing, _Answer] = field(default_factory=dict)

    async def of(self, message: InboundMessage, *, fresh: bool = False) -> Role:
        """Return the role of a message's author; `fresh` asks the platform now, if at all."""
        decision = self._access.decide(message)
        settled = decision.role >= Role.ADMIN or message.chat_kind == "private"
        person = message.sender.acts_as == "person" and not message.sender.is_bot
        if settled or not person or not (decision.allowed or fresh):
            return decision.role  # a bot that manages a chat may repeat what anybody says elsewhere
        if self._access.rule_of(message.channel, message.account, message.sender.id) == "none":
            return decision.role
        return Role.ADMIN if await self.administers(message, fresh=fresh) else decision.role

    def owners(self, message: InboundMessage) -> list[AccessRule]:
        """Return the owners of the account that a message came to."""
        return self._access.owners(message.channel, message.account)

    async def administers(self, message: InboundMessage, *, fresh: bool = False) -> bool:
        """Return whether the platform says that a message's author administers its chat."""
        if self.standing(message) is None:
            return False
        known = None if fresh else self.known(message)
        return await self._ask(message) if known is None else known

    def standing(self, message: InboundMessage) -> Standing | None:
        """Return what the platform is asked about; None if it does not say who administers.

        Chats that one server administers together, such as those of Discord, have it in common.
        """
        channel = self._services.router.channels.get(message.channel)
        if channel is None or "admins" not in channel.capabilities or not message.sender.id:
            return None
        place = channel.administered_as(message)
        return message.channel, message.account, place, message.sender.id

    def known(self, message: InboundMessage, ahead: float = 0.0) -> bool | None:
        """Return whether a message's author administers its chat, None if that has to be asked.

        What was true counts as unknown for the last `ahead` seconds in which it is used, unless
        the platform has just failed to say so again.
        """
        standing = self.standing(message)
        if standing is None:
            return False
        found = self._known.get(standing)
        if found is None:
            return None
        now = self._services.clock.monotonic()
        early = ahead if found.administers and found.rests <= now else 0
        return found.administers if found.until - now > early else None

    def is_unknown(self, message: InboundMessage) -> bool:
        """Return whether no answer of the platform about a message's author is in use."""
        standing = self.standing(message)
        if standing is None:
            return False
        found, now = self._known.get(standing), self._services.clock.monotonic()
        return found is None or not found.answered or found.until <= now

    def said(self, message: InboundMessage) -> bool:
        """Return what the platform last answered about a message's author, also long ago."""
        standing = self.standing(message)
        found = self._known.get(standing) if standing is not None else None
        return found is not None and found.said

    async def _ask(self, message: InboundMessage) -> bool:
        standing, channel = self.standing(message), self._services.router.channels[message.channel]
        assert standing is not None
        now, kept = self._services.clock.monotonic(), self._known.get(standing)
        said = kept is not None and kept.said
        found = _Answer(False, now + FAILED_SECONDS, said, answered=False)
        with anyio.move_on_after(ASK_SECONDS):
            try:
                answer = await channel.administers(message)
                found, kept = _Answer(answer, now + KNOWN_SECONDS, answer), None
            except ChannelError as cause:
                # A refusal is an answer, such as where the bot was removed from the chat.
                found = replace(found, answered=isinstance(cause, SendRefused))
                get_log().info("access.admins_not_known", channel=message.channel, why=str(cause))
            except Exception as cause:
                get_log().error("access.admins_failed", channel=message.channel, exc_info=cause)
        if len(self._known) >= MAX_KNOWN:
            self._known = {key: one for key, one in self._known.items() if now < one.until}
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        if kept is not None and kept.until > now:  # the platform's last answer still counts
            self._known[standing] = replace(kept, rests=found.until)
        else:
            self._known[standing] = found
        return found.administers
