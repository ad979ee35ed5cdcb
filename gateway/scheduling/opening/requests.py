"""Ask an owner in private whether a chat may be opened, with buttons.

Each chat is asked for once, and MAX_A_DAY chats a day; the others stand in a list.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from agent.tool import Role
from channels.base import Channel
from channels.errors import ChannelError
from channels.message import Button, InboundMessage, OutboundMessage
from gateway.access.access import Access
from gateway.delivery.outbox import commit_with_sends
from gateway.delivery.sender import OutboxSender
from gateway.errors import CommandRefused
from gateway.hooks.messages import session_of
from gateway.logs import get_log
from gateway.scheduling.opening.openings import Openings
from gateway.scheduling.opening.place import Place, refusal, shown
from gateway.scheduling.presses import NOT_YOURS, CardHandler, Settled
from gateway.services import Services
from gateway.storage.ledger.access import AccessRequest, AccessRule
from gateway.storage.ledger.cards import Card, new_card_id
from tape.errors import UnitFailed
from tape.unit_of_work import Unit

PURPOSE: Final = "access"
MAX_A_DAY: Final = 5
UNREACHED_SECONDS: Final = 600.0  # how long an owner without a private chat is left alone
OPEN_FOR: Final = timedelta(days=30)
CHAT, SERVER, NO = "chat", "server", "no"
OTHERS_WAIT: Final = (
    "More chats want to be opened today. I won't write to you about each: `,open` lists them."
)


@dataclass(slots=True)
class AccessRequests(CardHandler):
    """Asks the owners of an account about its closed chats, and does what they answer."""

    _services: Services
    _access: Access
    openings: Openings
    _sender: OutboxSender
    _unreached: dict[str, float] = field(default_factory=dict)

    def sentence(self, message: InboundMessage, *, asked: bool) -> str:
        """Return how a closed chat can be opened."""
        channel = self._services.router.channels.get(message.channel)
        how = channel.command_hint("open") if channel is not None else ",open"
        owned = bool(self._access.owners(message.channel, message.account))
        return refusal(Place.of(message), message, owned=owned, asked=asked, how=how)

    def _server_word(self, place: Place) -> str:
        return self._services.router.channels.get(place.channel, Channel).server_word

    async def ask(self, message: InboundMessage) -> bool:
        """Ask the owners whether to open the chat of a message; return whether they were asked."""
        owners = self._access.owners(message.channel, message.account)
        if message.chat_kind != "group" or not owners or self._access.chat_rule(message) == "none":
            return False
        if all(owner.private_chat for owner in owners):
            return await self._ask(message, owners)

        async def later() -> None:
            await self._ask(message, owners)

        # Their platform has to be asked where to write to them: no other message waits for that.
        self._services.spawn("access", later)
        return False

    async def _ask(self, message: InboundMessage, owners: list[AccessRule]) -> bool:
        place, table = Place.of(message), self._services.ledger.access
        known = await table.requested(place.account_id, place.id)
        if known is not None and known.state != "former":
            return known.state == "sent"
        day = self._services.clock.now().date().isoformat()
        count = await table.requests_on(place.account_id, day)
        who = f"{message.channel}:{message.sender.id}"
        names = (place.account_id, place.id, place.title, place.server_id, who)
        request = AccessRequest(*names, "sent" if count < MAX_A_DAY else "listed", day)
        card, word = self._card(place, message), self._server_word(place)
        sends: list[OutboundMessage] = []
        buttons: tuple[Button, ...]
        for owner in owners:
            text, buttons = OTHERS_WAIT, ()
            idem = f"n-access-list:{place.account_id}:{owner.id}:{day}"
            if request.state == "sent":
                text, buttons = _question(place, message), _buttons(card, place, word)
                idem = f"n-access:{card.card_id}:{owner.id}"
            send = await self._to_owner(owner, place, text, idem, buttons)
            sends += [send] if send is not None else []
        return await self._commit(request, card, sends)

    async def _commit(
        self, request: AccessRequest, card: Card, sends: list[OutboundMessage]
    ) -> bool:
        if not sends:  # nobody can be written to now: the next question in the chat tries again
            return False
        unit = Unit()
        self._services.ledger.access.request(unit, request)
        if request.state == "sent":
            self._services.ledger.cards.issue(unit, card)
        try:
            session = card.session_id or session_of(sends[0])
            rows = await commit_with_sends(self._services, unit, sends, session, None)
        except UnitFailed:  # another message of the chat was faster
            return True
        self._sender.enqueue(rows)
        return request.state == "sent"

    def _card(self, place: Place, message: InboundMessage) -> Card:
        names = ("channel", "account", "id", "chat_id", "title", "server_id")
        return Card(
            card_id=new_card_id(),
            purpose=PURPOSE,
            channel=message.channel,
            person="",  # any owner, see `settle`
            session_id="",
            data={name: getattr(place, name) for name in names},
            expires_at=self._services.clock.now() + OPEN_FOR,
        )

    async def _to_owner(
        self, owner: AccessRule, place: Place, text: str, idem: str, buttons: tuple[Button, ...]
    ) -> OutboundMessage | None:
        chat = owner.private_chat or await self._private_chat(owner, place)
        if not chat:
            return None
        address = (place.channel, chat, text, idem, place.account)
        return OutboundMessage(*address, kind="notice", buttons=buttons)

    async def _private_chat(self, owner: AccessRule, place: Place) -> str:
        """Ask the platform for an owner's private chat, and keep it; return "" if there is none."""
        channel = self._services.router.channels.get(place.channel)
        now = self._services.clock.monotonic()
        if channel is None or now < self._unreached.get(owner.id, now):
            return ""
        try:
            chat = await channel.private_chat(owner.id, place.account)
        except ChannelError as cause:
            self._unreached[owner.id] = now + UNREACHED_SECONDS
            get_log().warning("access.owner_not_reached", owner=owner.id, why=str(cause))
            return ""
        await self.openings.apply(replace(owner, private_chat=chat))
        return chat

    async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:
        place = Place(**card.data)
        decision = self._access.decide(by)
        if by.chat_kind != "private" or decision.role < Role.OWNER or by.account != place.account:
            raise CommandRefused(NOT_YOURS)
        if choice not in (CHAT, NO) and not (choice == SERVER and place.server_id):
            raise CommandRefused("Use one of the buttons.")
        what = shown(place.title, place.id)
        unit, who = Unit(), f"{by.channel}:{by.sender.id}"
        if choice == NO:
            rule = self.openings.rule(place, "none", who)
            text = f"I won't answer in {what}."
        else:
            rule = self.openings.rule(place, "member", who, server=choice == SERVER)
            whole = f"the whole {self._server_word(place)} of " if choice == SERVER else ""
            text = f"I've opened {whole}{what}."
        after = self.openings.add(unit, rule, None if choice == NO else place)
        return Settled(text, unit=unit, after=after)


def _question(place: Place, message: InboundMessage) -> str:
    who = shown(message.sender.name, message.sender.id) if message.sender.id else "Somebody"
    did = "added me to" if message.kind == "change" else "asked me something in"
    return f"{who} {did} {shown(place.title, place.id)}, which is closed. May I answer there?"


def _buttons(card: Card, place: Place, word: str) -> tuple[Button, ...]:
    one = card.button("This channel" if place.server_id else "This chat", CHAT)
    server = (card.button(f"This whole {word}", SERVER),) if place.server_id else ()
    return (one, *server, card.button("No", NO))
