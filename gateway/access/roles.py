"""The role of the person who asks, for which the platform is asked when it matters.

A platform's own administrators of a chat are admins there. What a platform answered is kept for
some minutes; a platform that does not answer makes nobody an admin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio

from agent.tool import Role
from channels.errors import ChannelError
from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.ledger.access import AccessRule

KNOWN_SECONDS: Final = 300.0  # how long an answer of a platform is used
FAILED_SECONDS: Final = 20.0  # how long a platform that did not answer is left alone
ASK_SECONDS: Final = 2.0  # maximum seconds to wait for a platform's answer
MAX_KNOWN: Final = 5_000

_Key = tuple[str, str, str, str]


@dataclass(slots=True)
class Roles:
    """Knows the roles of the people who ask."""

    _services: Services
    _access: Access
    _known: dict[_Key, tuple[bool, float]] = field(default_factory=dict)

    async def of(self, message: InboundMessage, *, fresh: bool = False) -> Role:
        """Return the role of a message's author; `fresh` asks the platform now, if at all."""
        decision = self._access.decide(message)
        settled = decision.role >= Role.ADMIN or message.chat_kind == "private"
        person = message.sender.acts_as == "person" and not message.sender.is_bot
        if settled or not person or not (decision.allowed or fresh):
            return decision.role  # a bot that manages a chat may repeat what anybody says elsewhere
        return Role.ADMIN if await self.administers(message, fresh=fresh) else decision.role

    def owners(self, message: InboundMessage) -> list[AccessRule]:
        """Return the owners of the account that a message came to."""
        return self._access.owners(message.channel, message.account)

    async def administers(self, message: InboundMessage, *, fresh: bool = False) -> bool:
        """Return whether the platform says that a message's author administers its chat."""
        channel = self._services.router.channels.get(message.channel)
        if channel is None or "admins" not in channel.capabilities or not message.sender.id:
            return False
        key = (message.channel, message.account, message.chat_id, message.sender.id)
        now = self._services.clock.monotonic()
        found = self._known.get(key)
        if found is not None and not fresh and now < found[1]:
            return found[0]
        answer, lasts = False, FAILED_SECONDS
        with anyio.move_on_after(ASK_SECONDS):
            try:
                answer, lasts = await channel.administers(message), KNOWN_SECONDS
            except ChannelError as cause:
                get_log().info("access.admins_not_known", channel=message.channel, why=str(cause))
            except Exception as cause:
                get_log().error("access.admins_failed", channel=message.channel, exc_info=cause)
        if len(self._known) >= MAX_KNOWN:
            self._known = {one: kept for one, kept in self._known.items() if now < kept[1]}
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[key] = (answer, now + lasts)
        return answer
