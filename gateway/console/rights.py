"""Find the visitor of each request, and the chat that it is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from agent.tool import Role
from channels.room.session import PageSession
from gateway.access.administrators import RightsUnknown
from gateway.access.console_door import ConsoleGuest
from gateway.access.console_links import TapeLink
from gateway.console.chats import ConsoleChat, session_of_key
from gateway.console.parts import ConsoleParts
from gateway.console.reads import ConsoleBusy
from gateway.console.visitor import LinkReader, Visitor, role_of
from gateway.storage.ledger.rows import run_alone
from tape.entry import utc_iso

MAX_RECORDED: Final = 1_000
"""Maximum openings of private chats to remember."""

READS_BEFORE_READERS: Final = 8
"""Reads of the console that wait, beyond which readers with links are asked to come back later."""

COOKIE: Final = "tapeway_console"
READER_COOKIE: Final = "tapeway_reader"
LOG_IN: Final = (
    "Log in first: send `/console` to the agent in a private chat, or sign in with the access"
    " token."
)
NOT_FOR_YOU: Final = "The console is for owners and admins."
NO_CHAT: Final = "There is no such chat, or you may not see it."
LINK_UNKNOWN: Final = (
    "The platform does not say just now whether the person who made your link may show this chat."
)
NOT_YOURS: Final = "Only the owner of this instance may do this."


@dataclass(frozen=True, slots=True)
class Rights:
    """Decides, for each request and from what is known now, who somebody is."""

    _parts: ConsoleParts
    _recorded: dict[tuple[str, str, str], None] = field(default_factory=dict)

    async def visitor(self, request: Request) -> Visitor:
        """Return who sent a request; raises HTTPException 401 or 403, and RightsUnknown."""
        session: PageSession = request.state.session
        if session.owner:
            return self._visitor(f"web:{session.person}", Role.OWNER, None)
        guest = await self._parts.door.find(request.cookies.get(COOKIE, ""))
        found = await self.visitor_of(guest) if guest is not None else None
        if found is not None:
            return found
        if guest is not None or session.person:
            raise HTTPException(403, NOT_FOR_YOU)
        raise HTTPException(401, LOG_IN)

    async def visitor_of(self, guest: ConsoleGuest) -> Visitor | None:
        """Return a person of a platform with the role that they have now, or None without one.

        Raises RightsUnknown if they may be an administrator, and their platform does not say so.
        """
        visitor = self._guest(guest)
        if not visitor.is_named and not await visitor.administers_any():
            return None
        return visitor

    async def admits(self, guest: ConsoleGuest) -> bool:
        """Return whether somebody of a platform may enter; raises TapeError and GatewayError."""
        return await self.visitor_of(guest) is not None

    async def owner(self, request: Request) -> Visitor:
        """Return who sent a request, if they own the instance; raises HTTPException."""
        visitor = await self.visitor(request)
        if not visitor.is_instance_owner:
            raise HTTPException(403, NOT_YOURS)
        return visitor

    async def chat(self, request: Request) -> tuple[Visitor, ConsoleChat]:
        """Return who sent a request, and the chat whose key is its `{chat}`.

        Opening somebody else's private chat is recorded, once an hour. Raises HTTPException: 404
        alike for what does not exist and for what one may not see.
        """
        visitor = await self.visitor(request)
        return visitor, await self.opened(visitor, session_of_key(request.path_params["chat"]))

    async def reading(self, request: Request) -> tuple[LinkReader | None, ConsoleChat]:
        """Return the chat whose key is `{chat}` for a visitor, or for a reader with a link to it.

        Raises what `chat` does. Here alone, a reader's cookie opens anything.
        """
        try:
            _visitor, chat = await self.chat(request)
        except (HTTPException, RightsUnknown):
            reader = await self.reader(request)
            if reader is None:
                raise
            return reader, reader.chat
        return None, chat

    async def reader(self, request: Request) -> LinkReader | None:
        """Return who reads the chat whose key is `{chat}` by a link, or None.

        Raises what `admitted` does.
        """
        link = await self._parts.links.find(request.cookies.get(READER_COOKIE, ""))
        if link is None or link.session_id != session_of_key(request.path_params["chat"]):
            return None
        return await self.admitted(link)

    async def admitted(self, link: TapeLink) -> LinkReader | None:
        """Return what `reader_of` does, to somebody with a link; raises ConsoleBusy, too."""
        if self._parts.reads.waiting >= READS_BEFORE_READERS:
            raise ConsoleBusy
        return await self.reader_of(link)

    async def reader_of(self, link: TapeLink) -> LinkReader | None:
        """Return what a link shows, if the person who made it may show it now, or None.

        Raises RightsUnknown if their platform does not say so.
        """
        maker = self._guest(link.maker)
        if link.by_holder:
            maker = self._visitor(f"web:{link.maker.person}", Role.OWNER, None)
        try:
            chat = await maker.chat(link.session_id)
        except RightsUnknown as cause:
            raise RightsUnknown(LINK_UNKNOWN) from cause
        if chat is None or not await maker.may_share(chat):
            return None
        return LinkReader(link, chat)

    def _guest(self, guest: ConsoleGuest) -> Visitor:
        """Return a person of a platform; without a role of their own, they may see nothing."""
        role = role_of(self._parts.access, guest, guest.account)
        return self._visitor(f"{guest.channel}:{guest.person}", max(role, Role.ADMIN), guest)

    async def opened(self, visitor: Visitor, session_id: str) -> ConsoleChat:
        """Return a chat that a visitor opens, as `chat` does; raises HTTPException 404."""
        chat = await visitor.chat(session_id)
        if chat is None:
            raise HTTPException(404, NO_CHAT)
        if chat.is_private and not await visitor.takes_part(chat):
            await self._record(visitor, chat)
        return chat

    async def _record(self, visitor: Visitor, chat: ConsoleChat) -> None:
        now = utc_iso(self._parts.services.clock.now())
        opening = visitor.person, chat.session_id, now[:13]
        if opening in self._recorded:
            return
        await run_alone(
            self._parts.services.store,
            "ledger.record_opening",
            person=visitor.person,
            session_id=chat.session_id,
            hour=now[:13],
            opened_at=now,
        )
        while len(self._recorded) >= MAX_RECORDED:
            del self._recorded[next(iter(self._recorded))]
        self._recorded[opening] = None

    def _visitor(self, person: str, role: Role, guest: ConsoleGuest | None) -> Visitor:
        access, known, named = self._parts.access, "", True
        if guest is not None:
            known = access.named(guest.channel, guest.account, guest.person)
            named = role_of(access, guest, guest.account) >= Role.ADMIN
        about = (access, self._parts.reads, self._parts.administrators)
        return Visitor(person, known, role, guest, named, *about)
