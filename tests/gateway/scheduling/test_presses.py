"""Cards: questions with buttons that are answered once, by whom they are for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from channels.message import Author, InboundMessage, OutboundMessage
from gateway.app import Gateway
from gateway.delivery.outbox import commit_with_sends
from gateway.errors import CommandRefused
from gateway.scheduling.presses import ANSWERED, NOT_YOURS, UNKNOWN, Presses, Settled
from gateway.storage.ledger.cards import Card, new_card_id
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import event
from tape.stores.sqlite import tape_schema
from tape.unit_of_work import Unit
from tests.gateway.scheduling.opening.court import GROUP, CourtChannel
from tests.kit.clock import ManualClock
from tests.kit.gateways import PATIENT, gateway_of, names, over, tape_of
from tests.kit.mortal import LastingStore, Moment, MortalStore
from tests.kit.plain_channels import Brings, PlainChannel

SESSION = "plain:-100"


@dataclass
class Probe:
    """Handles the answers to the test's cards: each leaves an event on the tape."""

    gateway: Gateway
    afterwards: list[str] = field(default_factory=list)

    async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:
        if choice not in ("yes", "no"):
            raise CommandRefused("Say yes or no.")
        unit = Unit()
        chosen = event("probe.chosen", {"choice": choice, "by": by.sender.id})
        unit.append(tape_of(self.gateway, SESSION).name, [chosen], key=f"card:{card.card_id}")

        async def after() -> None:
            self.afterwards.append(choice)

        return Settled(f"{by.sender.id} said {choice}.", f"You said {choice}.", unit, after=after)


@dataclass
class Stand:
    """A gateway that asks with cards."""

    gateway: Gateway
    channel: PlainChannel
    probe: Probe
    presses: Presses
    clock: ManualClock

    async def ask(self, person: str = "", purpose: str = "probe", channel: str = "plain") -> Card:
        """Post a card in the group."""
        until = self.clock.now() + timedelta(minutes=10)
        card = Card(new_card_id(), purpose, channel, person, SESSION, {}, until)
        unit, services = Unit(), self.gateway.services
        services.ledger.cards.issue(unit, card)
        buttons = (card.button("Yes", "yes"), card.button("No", "no"))
        send = OutboundMessage("plain", "-100", "Shall I?", card.card_id, buttons=buttons)
        rows = await commit_with_sends(services, unit, [send], SESSION, None)
        self.gateway.parts.sender.enqueue(rows)
        await self.gateway.parts.sender.idle()
        return card

    async def press(self, *presses: InboundMessage) -> None:
        await self.channel.host.accept(presses)
        await self.gateway.idle()

    async def chosen(self) -> list[str]:
        entries = await tape_of(self.gateway, SESSION).read()
        return [e.payload["data"]["choice"] for e in entries if e.name == "probe.chosen"]


def press_of(card: Card, choice: str, person: str = "7", number: int = 1) -> InboundMessage:
    return replace(
        GROUP,
        kind="press",
        press=f"{card.card_id}:{choice}",
        message_id="1",
        ext_id=f"press/{person}/{number}",
        sender=Author(person, f"Person {person}"),
        text="",
    )


@asynccontextmanager
async def stand(
    home: Path, channel: PlainChannel | None = None, store: MortalStore | None = None
) -> AsyncIterator[Stand]:
    """Run a gateway, in the given store or in one of its own."""
    channel, clock = channel or CourtChannel(), ManualClock()
    more: dict[str, Any] = {"ACCESS__MODE": "open", "TAPE__URL": "memory:", "clock": clock}
    more["internals"] = PATIENT if store is None else over(store)
    async with gateway_of(home, None, Brings(channel), **more) as gateway:
        presses = gateway.parts.presses
        probe = Probe(gateway)
        presses.handlers["probe"] = probe
        yield Stand(gateway, channel, probe, presses, clock)


def shown(one: Stand) -> list[tuple[str, str]]:
    assert isinstance(one.channel, CourtChannel)
    return one.channel.shown


async def test_a_press_answers_its_card_once_and_takes_the_buttons_away(tmp_path: Path) -> None:
    async with stand(tmp_path) as one:
        card = await one.ask()
        assert [button.label for button in one.channel.posts[0].buttons] == ["Yes", "No"]
        await one.press(press_of(card, "yes"))
        await one.press(press_of(card, "no", number=2))
        assert shown(one) == [("7", "You said yes."), ("7", ANSWERED)]
        edited = one.channel.posts[1]
        assert (edited.text, edited.buttons, edited.edits) == ("7 said yes.", (), "1")
        assert (await one.chosen(), one.probe.afterwards) == (["yes"], ["yes"])
        wanted = {"status": "", "limit": 10}
        rows = await one.gateway.services.store.select("ledger.list_inbox", wanted)
        assert sorted(row["status"] for row in rows) == ["done", "refused"]


async def test_of_two_who_press_at_once_the_first_decides(tmp_path: Path) -> None:
    async with stand(tmp_path) as one:
        card = await one.ask()
        await one.press(press_of(card, "no", "8"), press_of(card, "yes", "7"))
        assert shown(one) == [("8", "You said no."), ("7", ANSWERED)]
        assert await one.chosen() == ["no"]


async def test_of_a_press_and_a_command_that_settle_at_once_only_one_has_an_effect(
    tmp_path: Path,
) -> None:
    """Both have read the card before either is committed."""
    async with stand(tmp_path) as one:
        card = await one.ask()
        other = one.presses
        first = press_of(card, "yes", "7")

        class Late(Probe):
            async def settle(self, card: Card, choice: str, by: InboundMessage) -> Settled:
                settled = await super().settle(card, choice, by)
                if by.sender.id == "7":
                    assert await other.choose(press_of(card, "no", "8"), card.card_id, "no")
                return settled

        one.presses.handlers["probe"] = Late(one.gateway)
        await one.press(first)
        assert shown(one) == [("7", ANSWERED)]
        assert await one.chosen() == ["no"]


@pytest.mark.parametrize(
    ("person", "purpose", "channel", "presser", "choice", "says"),
    [
        ("8", "probe", "plain", "7", "yes", NOT_YOURS),
        ("7", "probe", "plain", "7", "yes", "You said yes."),
        ("", "probe", "other", "7", "yes", UNKNOWN),
        ("", "unheard", "plain", "7", "yes", UNKNOWN),
        ("", "probe", "plain", "7", "maybe", "Say yes or no."),
        ("", "probe", "plain", "7", "", "Say yes or no."),
    ],
)
async def test_a_card_is_answered_by_whom_it_is_for_where_it_was_asked(
    tmp_path: Path, person: str, purpose: str, channel: str, presser: str, choice: str, says: str
) -> None:
    async with stand(tmp_path) as one:
        card = await one.ask(person, purpose, channel)
        await one.press(press_of(card, choice, presser))
        assert shown(one) == [(presser, says)]
        assert len(await one.chosen()) == (1 if says.startswith("You said") else 0)


@pytest.mark.parametrize("token", ["", ":", "0000000000:yes", "x" * 500, "' OR 1=1 --:yes"])
async def test_a_token_that_was_never_given_out_answers_nothing(tmp_path: Path, token: str) -> None:
    async with stand(tmp_path) as one:
        card = await one.ask()
        await one.press(replace(press_of(card, "yes"), press=token))
        assert shown(one) == [("7", UNKNOWN)]
        assert await one.chosen() == []


async def test_a_card_expires(tmp_path: Path) -> None:
    async with stand(tmp_path) as one:
        card = await one.ask()
        await one.clock.advance(600)
        await one.press(press_of(card, "yes"))
        assert shown(one) == [("7", UNKNOWN)]


async def test_where_there_are_no_buttons_the_text_has_commands_that_do_the_same(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    async with stand(tmp_path, channel) as one:
        card = await one.ask("7")
        (post,) = channel.posts
        assert f"- Yes: `,choose {card.card_id} yes`" in post.text
        line = f",choose {card.card_id} yes"
        eve, ann = (replace(GROUP, text=line, ext_id=who, sender=Author(who, "")) for who in "87")
        await one.press(eve, ann)
        assert [post.text for post in channel.posts[1:]] == [NOT_YOURS, "You said yes."]
        assert await one.chosen() == ["yes"]


@pytest.mark.parametrize(("moment", "effects"), [("before", 1), ("after", 1)])
async def test_a_press_that_a_kill_interrupts_counts_once(
    tmp_path: Path, moment: Moment, effects: int
) -> None:
    lasting = LastingStore([tape_schema(), ledger_schema()], ManualClock().now)
    first = CourtChannel()
    mortal = MortalStore(lasting)

    def cut() -> None:
        first.cut_off = True

    async with stand(tmp_path, first, mortal) as one:
        card = await one.ask()
        mortal.kill_at(moment, lambda held: "ledger.answer_card" in held, cut)
        await one.channel.host.accept([press_of(card, "yes")])
        await mortal.killed.wait()
    second = CourtChannel()
    async with stand(tmp_path, second, MortalStore(lasting)) as one:
        # A row that was left open is taken in before the test's handler is there: press again.
        await one.gateway.idle()
        await one.press(press_of(card, "yes", number=2))
        assert len(await one.chosen()) == effects
        assert [post.text for post in second.posts] == ["7 said yes."]
        assert names(await tape_of(one.gateway, SESSION).read()).count("probe.chosen") == 1
