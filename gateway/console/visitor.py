"""Who looks at the console, and what they may see.

The access token's holder owns the instance. An owner of an account sees what belongs to that
account; an admin sees the chats of the account in which they have written. Who administers chats on
the platform sees those of them in which they have written, as an admin. A reader with a link
sees the tape of one chat, for as long as whoever made the link may show it. Nobody else sees
anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from agent.tool import Role
from channels.message import InboundMessage
from gateway.access.access import ROLES, Access
from gateway.access.administrators import AHEAD_SECONDS, Administrators, RightsUnknown
from gateway.access.console_door import ConsoleGuest
from gateway.access.console_links import TapeLink
from gateway.console.chats import ConsoleChat
from gateway.console.reads import ConsoleReads
from tape.entry import MESSAGE, dump

EVERY_CHAT: Final = ""
TAKES_PART: Final = "ledger.takes_part"
MAX_ADMINISTERED: Final = 200
"""Maximum chats of a person that are looked at for whether they administer them: the newest."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person who looks, for one request; an open stream asks again every few seconds.

    person  the person, as in the settings of access: `channel:id`
    name    what to call them, or ""
    role    OWNER or ADMIN of the account that they came from; OWNER for the instance's owner
    guest   who they are on the platform, or None for the access token's holder
    is_named  whether an owner gave them the role; if not, they administer chats on the platform
    """

    person: str
    name: str
    role: Role
    guest: ConsoleGuest | None
    is_named: bool
    _access: Access
    _reads: ConsoleReads
    _administrators: Administrators
    _seen: list[list[ConsoleChat]] = field(default_factory=list, compare=False)

    @property
    def is_instance_owner(self) -> bool:
        """Whether they hold the access token."""
        return self.guest is None

    async def sees_account(self, channel: str, account: str) -> bool:
        """Return whether they own an account, and so see all that belongs to it."""
        if self.guest is None:
            return True
        if channel != self.guest.channel:
            return False
        role = role_of(self._access, self.guest, account)
        return role == Role.OWNER

    async def sees_chat(self, session_id: str) -> bool:
        """Return whether they may see a chat, as `sees`; without one of that id, only the owner."""
        if self.guest is None:
            return True
        return any([await self.sees(chat) for chat in await self._chats(session_id)])

    async def chats(self) -> list[ConsoleChat]:
        """Return the chats that they may see."""
        if not self._seen:
            self._seen.append(await self._read_chats())
        return self._seen[0]

    async def chat(self, session_id: str) -> ConsoleChat | None:
        """Return a chat that they may see, or None; raises RightsUnknown."""
        found = await self._chats(session_id) if session_id else []
        return found[0] if found and await self.sees(found[0]) else None

    async def scope(self) -> dict[str, Any]:
        """Return the values `every` and `sessions` of a statement about the chats they may see."""
        known = [] if self.guest is None else [one.session_id for one in await self.chats()]
        return {"every": int(self.guest is None), "sessions": dump(known)}

    async def sees(self, chat: ConsoleChat) -> bool:
        """Return whether they may see a chat; raises RightsUnknown if their platform is silent."""
        return self.guest is None or await self._sees(chat, await self._named(chat.session_id))

    async def administers_any(self) -> bool:
        """Return whether they administer a chat of their account in which they have written.

        Raises RightsUnknown if that is not known of one that they may administer, and of no other.
        """
        left = await self._written_in()
        while left:
            await self._administrators.ask([self._asks(one) for one in left], one=True)
            found = [one for one in left if self._administers(one)]
            for chat in found:
                if await self.takes_part(chat):
                    return True
            if not found:
                break
            left = [one for one in left if one not in found]
        for chat in left:
            if self._administrators.is_unknown(self._asks(chat)) and await self.takes_part(chat):
                raise RightsUnknown
        return False

    async def administered(self) -> frozenset[str]:
        """Return the sessions of the chats that they administer, asked for ahead of time.

        Of these, they see those in which they have written: that is not read here, since an open
        page asks every few seconds whether something has changed.
        """
        chats = [] if self.is_named else await self._asked(AHEAD_SECONDS)
        return frozenset(chat.session_id for chat in chats)

    async def takes_part(self, chat: ConsoleChat) -> bool:
        """Return whether they have written in a chat."""
        if self.guest is None or chat.account_id != self.guest.account_id:
            return False
        if chat.newest.chat_kind == "private":
            return chat.newest.sender.id == self.guest.person
        # Who was only quoted or forwarded there has a number, too, but is the author of nothing.
        tape = self._reads.tape(chat.tape)
        return bool(await tape.find(author=self.guest.person, kinds=(MESSAGE,), limit=1))

    async def may_share(self, chat: ConsoleChat) -> bool:
        """Return whether they may show a chat that they see to others, by a link.

        That is for a private chat its person, and for a private thread who is alone there with the
        agent: a person who is quoted there counts as another.
        """
        if not chat.is_private:
            return True
        if self.guest is None or not await self.takes_part(chat):
            return False
        if chat.newest.chat_kind == "private":
            return True
        values = {"person": self.guest.person, "session_id": chat.session_id}
        return not await self._reads.select("ledger.others_in", values)

    async def _read_chats(self) -> list[ConsoleChat]:
        if not self.is_named:
            return await self._those(await self._asked(), self.takes_part)
        found = await self._chats(EVERY_CHAT)
        if self.guest is None:
            return found
        named = await self._named(EVERY_CHAT)
        return await self._those(found, lambda chat: self._sees(chat, named))

    async def _those(
        self, chats: list[ConsoleChat], are: Callable[[ConsoleChat], Awaitable[bool]]
    ) -> list[ConsoleChat]:
        """Return the chats for which something is true; asked at once, that is few reads."""
        found = await asyncio.gather(*map(are, chats))
        return [chat for chat, one in zip(chats, found, strict=True) if one]

    async def _sees(self, chat: ConsoleChat, named: set[str]) -> bool:
        if await self.sees_account(chat.channel, chat.account):
            return True
        if chat.session_id not in named or not await self.takes_part(chat):
            return False
        if self.is_named:
            return True
        asks = self._asks(chat)
        await self._administrators.ask([asks])
        if self._administrators.is_unknown(asks):
            raise RightsUnknown
        return self._administers(chat)

    async def _asked(self, ahead: float = 0.0) -> list[ConsoleChat]:
        """Return the chats that they administer, once their platform was asked about them."""
        chats = await self._written_in()
        await self._administrators.ask([self._asks(chat) for chat in chats], ahead=ahead)
        return [chat for chat in chats if self._administers(chat)]

    async def _written_in(self) -> list[ConsoleChat]:
        """Return the newest chats that they may administer, perhaps also some of others' words."""
        assert self.guest is not None
        of = {"person": self.guest.person, "account_id": self.guest.account_id}
        values = {**of, "limit": MAX_ADMINISTERED}
        rows = await self._reads.select("ledger.console_chats_of", values)
        found = self._reads.known_chats.read(rows)
        return [chat for chat in found if self._administrators.may_count(self._asks(chat))]

    def _administers(self, chat: ConsoleChat) -> bool:
        return self._administrators.administers(self._asks(chat))

    def _asks(self, chat: ConsoleChat) -> InboundMessage:
        assert self.guest is not None
        return chat.asked_by(self.guest.person)

    async def _named(self, session_id: str) -> set[str]:
        assert self.guest is not None
        values = {"person": self.guest.person, "session_id": session_id}
        return {str(row["session_id"]) for row in await self._reads.select(TAKES_PART, values)}

    async def _chats(self, session_id: str) -> list[ConsoleChat]:
        statement = "ledger.console_chat" if session_id else "ledger.console_chats"
        values = {"session_id": session_id} if session_id else {}
        rows = await self._reads.select(statement, values)
        return self._reads.known_chats.read(rows)


@dataclass(frozen=True, slots=True)
class LinkReader:
    """Somebody without an account who reads the tape of one chat by a link, and nothing else."""

    link: TapeLink
    chat: ConsoleChat


def role_of(access: Access, guest: ConsoleGuest, account: str) -> Role:
    """Return a guest's role in an account of their platform.

    What they may do in another account than their own must be said for all accounts: elsewhere,
    the same id may be somebody else.
    """
    own = access.rule_of(guest.channel, account, guest.person)
    if account != guest.account and own != access.rule_of(guest.channel, "", guest.person):
        return Role.STRANGER
    return ROLES.get(own, Role.STRANGER) if own else Role.STRANGER
