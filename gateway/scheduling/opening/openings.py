"""Open and close chats while the gateway runs: for `,open`, for a card, and for the terminal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, cast

from agent.tool import Role
from channels.message import InboundMessage, OutboundMessage
from gateway.access.access import Access
from gateway.access.roles import Roles
from gateway.delivery.outbox import commit_with_sends, outbound_event
from gateway.delivery.sender import OutboxSender
from gateway.errors import CommandRefused
from gateway.hooks.messages import session_of
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.scheduling.opening.place import Place, greeting, shown
from gateway.services import Services
from gateway.sharing.shared import CHANGED
from gateway.storage.ledger.access import MARKER, AccessRequest, AccessRule, RuleRole
from gateway.wording import counted
from tape.entry import utc_iso
from tape.unit_of_work import Unit

AfterCommit = Callable[[], Awaitable[None]]

MAX_LISTED: Final = 20
SERVER: Final = "server"
FORMER: Final = "former"


@dataclass(slots=True)
class Openings:
    """Changes the rules of access; a change holds for the next message."""

    _services: Services
    access: Access
    roles: Roles
    _sender: OutboxSender

    def rule(self, place: Place, role: RuleRole, by: str, *, server: bool = False) -> AccessRule:
        """Return the rule that opens or closes a chat, or the server that it belongs to."""
        return AccessRule(
            account_id=place.account_id,
            id=place.server_id if server else place.id,
            role=role,
            name="" if server else place.title,
            server_id=place.server_id,
            granted_by=by,
            granted_at=utc_iso(self._services.clock.now()),
        )

    def add(self, unit: Unit, rule: AccessRule, greet: Place | None) -> AfterCommit:
        """Add a rule to a unit, with the greeting of a chat; return what to do after its commit."""
        services = self._services
        services.ledger.access.grant(unit, rule)
        sends = [self._greeting(greet)] if greet is not None else []
        for send in sends:
            tape = services.tapes.session_tape(self._session_of(send)).name
            unit.append(tape, [outbound_event(send)], key=send.idem)
            services.ledger.outbox.send_later(unit, send, self._session_of(send), None)

        async def after() -> None:
            self.access.put(rule)
            if services.shared is not None:
                services.shared.bus.send(CHANGED)
            get_log().info("access.changed", account=rule.account_id, id=rule.id, role=rule.role)
            for send in sends:  # its row is written, and returned again
                if send.channel not in services.router.channels:
                    continue  # a command of the terminal runs alone: the next gateway sends it
                session_id = self._session_of(send)
                rows = await commit_with_sends(services, Unit(), [send], session_id, None)
                self._sender.enqueue(rows)

        return after

    def _greeting(self, place: Place) -> OutboundMessage:
        moment = utc_iso(self._services.clock.now())
        key = f"n-opened:{place.account_id}:{place.id}:{moment}"
        address, text = (place.channel, place.chat_id), self.greeting(place.channel)
        return OutboundMessage(*address, text, key, place.account, kind="notice", date=moment)

    def greeting(self, channel: str) -> str:
        """Return what a chat of a channel is greeted with."""
        found = self._services.router.channels.get(channel)
        return greeting(found, self._services.settings.agent.name)

    def _session_of(self, send: OutboundMessage) -> str:
        session_id = session_of(send)
        return self._services.aliases.get(session_id, session_id)

    async def apply(self, rule: AccessRule, greet: Place | None = None) -> None:
        """Set a rule, and greet the chat that it opens."""
        unit = Unit()
        after = self.add(unit, rule, greet)
        await self._services.commit(unit, waiting="access")
        await after()

    async def command(self, question: Question, words: tuple[str, ...]) -> str:
        """Run `,open`; return the reply, or "" if the chat gets its daily sentence instead."""
        message = question.message
        if message.chat_kind == "private":
            return await self._from_afar(message, " ".join(words))
        if words not in ((), (SERVER,)):
            raise CommandRefused("Use `,open`, or `,open server` for the whole server.")
        allowed = self.access.decide(message).allowed
        if not (allowed or self._is_trusted(message)):
            return ""
        role = await self.roles.of(message, fresh=True)
        if role < Role.ADMIN and allowed:
            raise CommandRefused("Only my owner and admins may open chats.")
        if role < Role.ADMIN:
            return ""
        place, server = Place.of(message), words == (SERVER,)
        if server and not place.server_id:
            raise CommandRefused("This chat belongs to no server. Use `,open`.")
        if role < Role.OWNER:
            self._check_admin(message, server=server)
        by = f"{message.channel}:{message.sender.id}"
        if server or self.access.chat_rule(message) != "member":
            await self.apply(self.rule(place, "member", by, server=server))
        return self.greeting(message.channel)

    def _check_admin(self, message: InboundMessage, *, server: bool) -> None:
        if self.access.chat_rule(message) == "none":
            raise CommandRefused("My owner has closed this chat, so only my owner can open it.")
        if server:
            raise CommandRefused("Only my owner may open a whole server.")

    def _is_trusted(self, message: InboundMessage) -> bool:
        """Return whether the author of a message in a closed chat may open it, as an admin.

        Anybody administers the groups that they make. So a platform's administrator may only open
        chats of a server where the owner has opened one; the others' owner is asked.
        """
        own = self.access.own_role(message) or Role.STRANGER
        return own >= Role.ADMIN or self.access.has_open_chat(message)

    async def _from_afar(self, message: InboundMessage, wanted: str) -> str:
        if self.access.decide(message).role < Role.OWNER:
            raise CommandRefused("Only my owner may open chats from here.")
        waiting = await self.waiting(message.channel, message.account)
        by = f"{message.channel}:{message.sender.id}"
        if not wanted:
            return _listed(waiting)
        if wanted == FORMER:
            return f"Groups from before the upgrade that I've opened: {await self.open_former(by)}."
        wanted = wanted.removeprefix(f"{message.channel}:")
        places = [Place.requested(one) for one in waiting if one.chat_id == wanted]
        found = await self._services.ledger.access.newest_message(message.channel, wanted)
        if not places and found is not None and found.chat_kind == "group":
            places = [Place.of(found)]
        if not places or places[0].account != message.account:
            raise CommandRefused("I don't know this chat. `,open` lists the chats that wait.")
        await self.apply(self.rule(places[0], "member", by), places[0])
        return f"I've opened {shown(places[0].title, places[0].id)}."

    async def grant(self, message: InboundMessage, words: tuple[str, ...]) -> str:
        """Run `,grant`, by which an owner names an admin in private; return the reply."""
        one, role = (*words, "", "")[:2]
        one = one.removeprefix(f"{message.channel}:")
        if role not in ("admin", "member", "none") or not one.isalnum() or len(words) != 2:
            raise CommandRefused("Use `,grant PERSON-ID admin`, or `member`, or `none`.")
        if self.access.rule_of(message.channel, message.account, one) == "owner":
            raise CommandRefused("An owner's role changes with `tapeway access revoke` only.")
        place = Place(message.channel, message.account, one, one)
        rule = self.rule(place, cast(RuleRole, role), f"{message.channel}:{message.sender.id}")
        await self.apply(rule)
        who, article = shown("", one), "an" if role == "admin" else "a"
        if role == "none":
            return f"{who} has no role of their own any more."
        return f"{who} is now {article} {role}."

    async def waiting(self, channel: str = "", account: str = "") -> list[AccessRequest]:
        """Return the chats that were never opened or closed; of all channels if none is given."""
        found = []
        for request in await self._services.ledger.access.requests():
            place = Place.requested(request)
            if channel and (place.channel, place.account) != (channel, account):
                continue
            known = [
                self.access.rule_of(place.channel, place.account, one)
                for one in (place.id, place.server_id)
                if one
            ]
            if not any(known):
                found.append(request)
        return found

    async def open_former(self, by: str) -> int:
        """Open the groups that worked until the upgrade; return their number."""
        former = [one for one in await self.waiting() if one.state == FORMER]
        for request in former:
            place = Place.requested(request)
            await self.apply(self.rule(place, "member", by), place)
        return len(former)

    async def find_former(self) -> None:
        """Look up, at the first start of this version, the groups that listed people asked in.

        Until then a listed person was answered in any group.
        """
        table, settings = self._services.ledger.access, self._services.settings.access
        if await table.requested(MARKER, MARKER) is not None:
            return
        unit, day = Unit(), self._services.clock.now().date().isoformat()
        groups = await table.former_groups(settings.allowed()) if settings.allowed() else []
        listed = settings.allowed()
        for row in groups if settings.mode == "paired" else ():
            if f"{row['channel']}:{row['chat_id']}" in listed:
                continue
            place = (row["account_id"], row["chat_id"], row["title"], row["server_id"])
            table.request(unit, AccessRequest(*place, "", FORMER, day))
            get_log().warning("access.group_closed", account=place[0], chat=place[1])
        table.request(unit, AccessRequest(MARKER, MARKER, "", "", "", FORMER, day))
        await self._services.store.commit(unit)


def _listed(waiting: list[AccessRequest]) -> str:
    if not waiting:
        return "No chat waits to be opened. `,open CHAT-ID` opens one."
    lines = [
        f"- {shown(one.title, one.chat_id)}: `,open {one.chat_id}`" for one in waiting[-MAX_LISTED:]
    ]
    head = counted(len(waiting), "chat waits to be opened", "chats wait to be opened")
    more = ["", "`,open former` opens those that worked until the upgrade."]
    former = any(one.state == FORMER for one in waiting)
    return "\n".join([f"{head}:", "", *lines, *(more if former else [])])
